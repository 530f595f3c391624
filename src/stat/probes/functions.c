/* SPDX-License-Identifier: Apache-2.0 */
#include "stat/probes/functions.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/nearest.h"
#include "base/text.h"
#include "elf/demangle.h"
#include "elf/elf_file.h"
#include "elf/elf_symbols.h"
#include "elf/functions.h"
#include "isa/flow.h"

/* A file with functions. */
struct code_file {
	const char *path, *name; /* name: without folders */
	bool is_read;
	struct elf_file file, inner; /* inner: of .gnu_debugdata */
	struct functions functions;  /* all names, not one for each address */
};

struct search {
	struct probe_functions *out;
	VEC_OF(struct code_file) files; /* the program first */
	VEC_OF(const char *) names;	/* of functions, for "did you mean"; ended by NULL */
};

/* What a user asks for. */
struct asked {
	const char *name, *symbol;
	char *module; /* NULL: any */
	bool is_address;
	uint64_t address;
};

/* A function that fits. */
struct candidate_function {
	const struct code_file *file;
	const struct function *symbol; /* NULL: an address was asked for */
	uint64_t address;
};

static const char *keep(struct search *s, const char *text)
{
	return arena_strndup(&s->out->memory, text, strlen(text));
}

static void add_file(struct search *s, const char *path)
{
	const char *slash = strrchr(path, '/');
	struct code_file *f = vec_add(&s->files);

	f->path = keep(s, path);
	f->name = f->path + (slash == NULL ? 0 : slash + 1 - path);
}

/* As execvp() finds it. */
static int find_program(struct search *s, const char *program, struct err *err)
{
	const char *path = getenv("PATH"), *end;
	struct text at = { 0 };
	bool is_found = false;

	if (strchr(program, '/') != NULL) {
		if (access(program, X_OK) < 0)
			return err_set(err, ERR_USAGE, ERR_NOWHERE, "cannot run '%s': %s", program,
				       strerror(errno));
		add_file(s, program);
		return 0;
	}
	for (path = path == NULL ? "/bin:/usr/bin" : path; !is_found; path = end + 1) {
		end = strchrnul(path, ':');
		text_reset(&at);
		text_format(&at, "%.*s/%s", (int)(end - path), path, program);
		text_char(&at, '\0');
		is_found = access(at.bytes, X_OK) == 0;
		if (*end == '\0')
			break;
	}
	if (is_found)
		add_file(s, at.bytes);
	text_release(&at);
	return is_found ? 0
			: err_set(err, ERR_USAGE, ERR_NOWHERE,
				  "cannot run '%s': No such file or directory", program);
}

/* Opens a file and takes all names of functions. */
static int read_file(struct code_file *f, struct err *err)
{
	struct err ignored;

	if (f->is_read)
		return 0;
	f->is_read = true;
	if (elf_file_open(&f->file, f->path, err) < 0)
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--region: '%s' is no ELF file, so it has no functions to probe (of a "
			"script: name its interpreter as the program)",
			f->path);
	elf_symbols_add(&f->functions, &f->file, SHT_SYMTAB);
	elf_symbols_add(&f->functions, &f->file, SHT_DYNSYM);
	if (elf_file_has(&f->file, ".gnu_debugdata") &&
	    elf_symbols_open_debugdata(&f->inner, &f->file, &ignored) == 0)
		elf_symbols_add(&f->functions, &f->inner, SHT_SYMTAB);
	return 0;
}

/*
 * Asks the program's dynamic loader for the libraries it would load ("name => PATH (0x…)"). Nothing of the
 * program runs. A static program has no loader.
 */
static void add_libraries(struct search *s)
{
	struct cursor interpreter = elf_file_bytes(&s->files.items[0].file, ".interp");
	const char *loader = cur_string(&interpreter);
	char line[4096];
	int out[2];
	FILE *lines;
	pid_t pid;

	if (loader == NULL || loader[0] != '/' || pipe(out) < 0)
		return;
	pid = fork();
	if (pid == 0) {
		dup2(out[1], STDOUT_FILENO);
		close(out[0]);
		close(out[1]);
		if (freopen("/dev/null", "w", stderr) != NULL)
			execl(loader, loader, "--list", s->files.items[0].path, (char *)NULL);
		_exit(127);
	}
	close(out[1]);
	lines = fdopen(out[0], "r");
	while (lines != NULL && fgets(line, sizeof(line), lines) != NULL) {
		char *path = strchr(line, '/'), *end = strrchr(line, '(');

		if (path == NULL || end == NULL || end <= path)
			continue;
		while (end > path && (end[-1] == ' ' || end[-1] == '\t'))
			end--;
		*end = '\0';
		add_file(s, path);
	}
	if (lines != NULL)
		fclose(lines);
	if (pid > 0)
		waitpid(pid, NULL, 0);
}

/* "module:name"; "::" is part of C++ and Rust names. */
static struct asked asked_of(const char *text)
{
	struct asked a = { .name = text, .symbol = text };
	const char *colon = strchr(text, ':');
	char *end;

	if (colon != NULL && colon > text && colon[1] != '\0' && colon[1] != ':' &&
	    memchr(text, '(', (size_t)(colon - text)) == NULL) {
		a.module = mem_strndup(text, (size_t)(colon - text));
		a.symbol = colon + 1;
	}
	if (strncmp(a.symbol, "0x", 2) == 0) {
		errno = 0;
		a.address = strtoull(a.symbol, &end, 16);
		a.is_address = errno == 0 && *end == '\0';
	}
	return a;
}

static bool is_module(const struct code_file *f, const char *module)
{
	size_t n = strlen(module);

	if (strchr(module, '/') != NULL)
		return strcmp(f->path, module) == 0;
	return strcmp(f->name, module) == 0 ||
	       (strncmp(f->name, module, n) == 0 && strncmp(f->name + n, ".so", 3) == 0);
}

/* Is it a name of the function: with a version, readable, with parameters? */
static bool is_name_of(const char *symbol, const char *name, struct text *scratch)
{
	size_t n = strlen(name);

	if (strncmp(symbol, name, n) == 0 && (symbol[n] == '\0' || symbol[n] == '@'))
		return true;
	/* Parts that a compiler has put elsewhere have the name of the whole. */
	if (symbol[0] != '_' || strstr(symbol, ".cold") != NULL)
		return false;
	for (int style = DEMANGLE_SHORT; style <= DEMANGLE_PARAMETERS; style++) {
		text_reset(scratch);
		demangle(symbol, (enum demangle_style)style, scratch);
		if (scratch->n == n && memcmp(scratch->bytes, name, n) == 0)
			return true;
	}
	return false;
}

/* Fills `found` with the functions of the file that fit, up to `max`; returns how many there are. */
static size_t find_in_file(struct code_file *f, const struct asked *a,
			   struct candidate_function *found, size_t max, size_t n)
{
	struct text scratch = { 0 };
	uint64_t offset;

	if (a->is_address) {
		if (n < max && elf_file_to_offset(&f->file, a->address, &offset))
			found[n++] = (struct candidate_function){ f, NULL, a->address };
		return n;
	}
	for (size_t i = 0; i < f->functions.list.n; i++) {
		const struct function *function = &f->functions.list.items[i];
		bool is_known = false;

		if (!is_name_of(function->name, a->symbol, &scratch))
			continue;
		for (size_t k = 0; k < n && k < max; k++)
			is_known |= found[k].file == f && found[k].address == function->start;
		if (is_known)
			continue;
		if (n < max)
			found[n] = (struct candidate_function){ f, function, function->start };
		n++;
	}
	text_release(&scratch);
	return n;
}

static const char *function_name_at(const void *context, size_t i)
{
	const struct search *s = context;

	return i < s->names.n ? s->names.items[i] : NULL;
}

/* No function fits: the error names the nearest. */
static int refuse_unknown_function(struct search *s, const struct asked *a, struct err *err)
{
	struct text name = { 0 };
	char meant[256];
	bool has_module = a->module == NULL;

	s->names.n = 0;
	for (size_t i = 0; i < s->files.n; i++) {
		const struct code_file *f = &s->files.items[i];

		if (a->module != NULL && !is_module(f, a->module))
			continue;
		has_module = true;
		/* Of libraries, only if they were asked for: they have thousands. */
		for (size_t k = 0; k < f->functions.list.n && (i == 0 || a->module != NULL); k++) {
			text_reset(&name);
			demangle(f->functions.list.items[k].name, DEMANGLE_SHORT, &name);
			text_char(&name, '\0');
			*vec_add(&s->names) = keep(s, name.bytes);
		}
	}
	text_release(&name);
	if (!has_module)
		return err_set(
			err, ERR_USAGE, ERR_NOWHERE,
			"--region %s: '%s' does not start with a module '%s'; of one that it loads "
			"later, give the path: /PATH/TO/LIB.so:%s",
			a->name, s->files.items[0].name, a->module, a->symbol);
	did_you_mean(a->symbol, function_name_at, s,
		     "; a function that was inlined or removed cannot be probed (build it with "
		     "__attribute__((noinline)), or not stripped)",
		     meant, sizeof(meant));
	return err_set(
		err, ERR_USAGE, ERR_NOWHERE, "--region %s: %s has no such function%s", a->name,
		a->module == NULL ? "the program or a library that it starts with" : a->module,
		meant);
}

static int refuse_several(const struct asked *a, const struct candidate_function *found, size_t n,
			  size_t max, struct err *err)
{
	struct text list = { 0 };

	for (size_t i = 0; i < n && i < max; i++)
		text_format(&list, "\n  --region %s:0x%llx", found[i].file->name,
			    (unsigned long long)found[i].address);
	if (n > max)
		text_format(&list, "\n  and %zu more", n - max);
	text_char(&list, '\0');
	err_set(err, ERR_USAGE, ERR_NOWHERE,
		"--region %s: %zu functions are called so; choose one:%s", a->name, n, list.bytes);
	text_release(&list);
	return -1;
}

static bool is_in_parts(const struct code_part *parts, size_t n, uint64_t address)
{
	for (size_t i = 0; i < n; i++)
		if (address >= parts[i].address && address - parts[i].address < parts[i].size)
			return true;
	return false;
}

void probe_function_find_exits(struct probe_function *f, enum isa isa,
			       const struct code_part *parts, size_t n)
{
	f->n_exits = 0;
	for (size_t i = 0; i < n; i++) {
		const struct code_part *p = &parts[i];
		size_t size;

		for (size_t at = 0; at < p->size; at += size) {
			struct flow flow;

			size = isa_flow_and_size(isa, p->bytes + at, p->size - at, p->address + at,
						 &flow);
			if (size == 0)
				goto unknown;
			if (flow.kind == FLOW_RETURN) {
				if (f->n_exits == PROBE_EXITS_MAX)
					goto unknown;
				f->exits[f->n_exits++] = p->offset + at;
			}
			if (flow.kind != FLOW_JUMP && flow.kind != FLOW_BRANCH)
				continue;
			/* a tail call, or a table of jumps, some of which may be one */
			if (!flow.has_target || !is_in_parts(parts, n, flow.target))
				goto unknown;
			f->loops_to_start |= flow.target == parts[0].address;
		}
	}
	return;
unknown:
	f->n_exits = 0;
}

static enum isa isa_of_file(const struct elf_file *file)
{
	return file->machine == EM_AARCH64  ? ISA_A64
	       : file->machine == EM_X86_64 ? ISA_X86_64
					    : ISA_UNKNOWN;
}

/* The code of a symbol; false if it is not known how much that is. */
static bool part_of(const struct elf_file *file, const struct function *symbol,
		    struct code_part *out)
{
	out->address = symbol->start;
	out->size = (size_t)symbol->size;
	if (symbol->size == 0 || !elf_file_to_offset(file, symbol->start, &out->offset) ||
	    out->offset >= file->bytes.size || symbol->size > file->bytes.size - out->offset)
		return false;
	out->bytes = file->bytes.bytes + out->offset;
	return true;
}

/* Where the function returns. A compiler may have put parts of it elsewhere: "name.cold". */
static void find_exits(const struct candidate_function *found, struct probe_function *f)
{
	enum isa isa = isa_of_file(&found->file->file);
	struct code_part parts[4];
	size_t n = 0, length;

	if (found->symbol == NULL || isa == ISA_UNKNOWN ||
	    !part_of(&found->file->file, found->symbol, &parts[n++]))
		return;
	length = strlen(found->symbol->name);
	for (size_t i = 0; i < found->file->functions.list.n && n < COUNT(parts); i++) {
		const struct function *other = &found->file->functions.list.items[i];

		if (strncmp(other->name, found->symbol->name, length) == 0 &&
		    strncmp(other->name + length, ".cold", 5) == 0 &&
		    !part_of(&found->file->file, other, &parts[n++]))
			return;
	}
	probe_function_find_exits(f, isa, parts, n);
}

static int take_function(struct search *s, const struct asked *a,
			 const struct candidate_function *found, struct err *err)
{
	struct probe_function function = { .name = keep(s, a->name), .path = found->file->path };

	if (elf_symbols_is_indirect(&found->file->file, found->address))
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "--region %s: in %s this is an indirect function (IFUNC), which "
			       "only chooses "
			       "another one for this CPU; give that one's name",
			       a->name, found->file->name);
	if (!elf_file_to_offset(&found->file->file, found->address, &function.offset))
		return err_set(err, ERR_USAGE, ERR_NOWHERE, "--region %s: %s has no code at 0x%llx",
			       a->name, found->file->name, (unsigned long long)found->address);
	for (size_t i = 0; i < s->out->list.n; i++) {
		const struct probe_function *other = &s->out->list.items[i];

		if (other->offset == function.offset && strcmp(other->path, function.path) == 0)
			return err_set(err, ERR_USAGE, ERR_NOWHERE,
				       "--region %s: this is the same function as '%s'", a->name,
				       other->name);
	}
	find_exits(found, &function);
	*vec_add(&s->out->list) = function;
	return 0;
}

/* Has the program, or a library that it starts with, what throws C++ exceptions? */
static bool may_throw(const struct search *s)
{
	const struct functions *own = &s->files.items[0].functions;

	for (size_t i = 1; i < s->files.n; i++)
		if (strncmp(s->files.items[i].name, "libstdc++", 9) == 0 ||
		    strncmp(s->files.items[i].name, "libc++", 6) == 0)
			return true;
	for (size_t i = 0; i < own->list.n; i++)
		if (strcmp(own->list.items[i].name, "__cxa_throw") == 0)
			return true;
	return false;
}

static int find_function(struct search *s, const char *text, struct err *err)
{
	enum { MAX = 8 };
	struct candidate_function found[MAX];
	struct asked a = asked_of(text);
	size_t n = 0;
	int rc = 0;

	if (a.module != NULL && a.module[0] == '/') {
		bool is_new = true;

		for (size_t i = 0; i < s->files.n; i++)
			is_new &= strcmp(s->files.items[i].path, a.module) != 0;
		if (is_new)
			add_file(s, a.module);
	}
	for (size_t i = 0; i < s->files.n && rc == 0; i++) {
		struct code_file *f = &s->files.items[i];

		/* Its own functions come before those of libraries, and libraries compete. */
		if (a.module != NULL ? !is_module(f, a.module)
				     : n > 0 && found[0].file == &s->files.items[0])
			continue;
		rc = read_file(f, err);
		if (rc == 0 && (!a.is_address || a.module != NULL || i == 0))
			n = find_in_file(f, &a, found, MAX, n);
	}
	if (rc == 0)
		rc = n == 0  ? refuse_unknown_function(s, &a, err)
		     : n > 1 ? refuse_several(&a, found, n, MAX, err)
			     : take_function(s, &a, &found[0], err);
	free(a.module);
	return rc;
}

int probe_functions_find(struct probe_functions *out, const char *const *wanted,
			 const char *program, struct err *err)
{
	struct search s = { .out = out };
	int rc = find_program(&s, program, err);

	if (rc == 0)
		rc = read_file(&s.files.items[0], err);
	if (rc == 0)
		add_libraries(&s);
	for (size_t i = 0; rc == 0 && wanted[i] != NULL; i++)
		rc = find_function(&s, wanted[i], err);
	out->may_throw = rc == 0 && may_throw(&s);
	for (size_t i = 0; i < s.files.n; i++) {
		functions_release(&s.files.items[i].functions);
		elf_file_release(&s.files.items[i].inner);
		elf_file_release(&s.files.items[i].file);
	}
	vec_release(&s.files);
	vec_release(&s.names);
	return rc;
}

void probe_functions_release(struct probe_functions *f)
{
	vec_release(&f->list);
	arena_release(&f->memory);
}
