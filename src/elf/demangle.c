/* SPDX-License-Identifier: Apache-2.0 */
#include "elf/demangle.h"

#include <setjmp.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <libiberty/demangle.h>

#include "base/alloc.h"

enum {
	/* libiberty parses by recursion; measured: under 250 bytes of stack a character. */
	MANGLED_MAX = 4096,
	/*
	 * A name of 500 characters can stand for 2^50, by types that refer to earlier types.
	 * No compiler's name comes near this limit.
	 */
	READABLE_MAX = 1 << 14,
};

/* Where libiberty writes to. It has no way to be told "enough" but a jump. */
struct sink {
	struct text *out;
	size_t n_before; /* bytes of `out` that are not ours */
	jmp_buf full;
};

typedef int demangler(const char *, int, demangle_callbackref, void *);

/*
 * How a mangled name begins, and who can read it. The first that succeeds wins.
 * libiberty's own limit on recursion must stay on for Rust, where a type can contain itself.
 * For C++ it would refuse names of more than 1024 characters, and MANGLED_MAX does its work.
 */
static const struct scheme {
	const char *prefix;
	demangler *run;
	int options[2]; /* by style */
} schemes[] = {
	{ "_ZN", rust_demangle_callback, { 0 } }, /* legacy: C++ with a hash at the end */
	{ "_R", rust_demangle_callback, { 0 } },
	{ "_Z",
	  cplus_demangle_v3_callback,
	  { DMGL_NO_RECURSE_LIMIT, DMGL_NO_RECURSE_LIMIT | DMGL_PARAMS | DMGL_ANSI } },
};

static void demangle_take(const char *bytes, size_t size, void *context)
{
	struct sink *sink = context;

	if (size > READABLE_MAX - (sink->out->n - sink->n_before))
		longjmp(sink->full, 1);
	text_add(sink->out, bytes, size);
}

/*
 * libiberty keeps what it works with on the stack, so that the jump leaves nothing behind;
 * but for the buffer of a Rust identifier in Punycode that is just being written. That is a
 * few times the identifier's length, lost once for a name made to do harm.
 */
static bool demangle_run(const struct scheme *scheme, const char *name, enum demangle_style style,
			 struct text *out)
{
	struct sink sink = { .out = out, .n_before = out->n };

	if (setjmp(sink.full) == 0 &&
	    scheme->run(name, scheme->options[style], demangle_take, &sink))
		return true;
	out->n = sink.n_before;
	return false;
}

/* All names of Android's linker begin so, as they must not be those of the program's libraries. */
static const char linker_prefix[] = "__dl_", linker_word[] = "[linker]";

static bool demangle_plain(const char *name, enum demangle_style style, struct text *out)
{
	size_t n_before = out->n;

	if (name[0] != '_' || strnlen(name, MANGLED_MAX) == MANGLED_MAX)
		return false;
	if (strncmp(name, linker_prefix, sizeof(linker_prefix) - 1) == 0) {
		name += sizeof(linker_prefix) - 1;
		text_str(out, linker_word);
	}
	for (size_t i = 0; i < COUNT(schemes); i++) {
		if (strncmp(name, schemes[i].prefix, strlen(schemes[i].prefix)) == 0 &&
		    demangle_run(&schemes[i], name, style, out))
			return true;
	}
	out->n = n_before;
	return false;
}

/* Hostile files have names without end. */
static void add_plain(const char *name, struct text *out)
{
	text_add(out, name, strnlen(name, READABLE_MAX));
}

bool demangle(const char *name, enum demangle_style style, struct text *out)
{
	const char *suffix = strchr(name, '@');
	char *plain = NULL;
	bool is_mangled;

	if (suffix == NULL || suffix == name) {
		is_mangled = demangle_plain(name, style, out);
		if (!is_mangled)
			add_plain(name, out);
		return is_mangled;
	}
	plain = mem_strndup(name, (size_t)(suffix - name));
	is_mangled = demangle_plain(plain, style, out);
	if (!is_mangled)
		add_plain(plain, out);
	if (suffix[1] != '@')
		add_plain(suffix, out);
	free(plain);
	return is_mangled;
}
