/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Finds the files of a module. A wrong file is worse than none: the libc of a laptop must not name
 * the functions of a server. So a file must have the recorded build-id. If none was recorded, files
 * are only taken from --symfs, or on the machine that recorded, and only if they are for the right
 * architecture. A file in the folder of --symfs itself is taken for its build-id alone.
 *
 * Tried instead, and not better: dwfl_standard_find_debuginfo() of libdwfl. It finds debug files by
 * build-id and by checksum, as this does, also with a Dwfl in each thread. But it asks debuginfod
 * servers whenever DEBUGINFOD_URLS is set, which cannot be switched off for a call; it knows
 * neither --symfs nor perf's cache; and it does not say why a file was refused.
 */
#ifndef CYCLOPS_SYMBOL_LOCATE_H
#define CYCLOPS_SYMBOL_LOCATE_H

#include <stdbool.h>
#include <stdint.h>

#include "elf/elf_file.h"
#include "symbol/symbols.h"

/* Where to look. Borrowed all. */
struct search {
	const struct symbols_options *options;
	const char *cache; /* perf's: "/home/me/.debug"; NULL if unknown */
};

/* What is looked for. Borrowed. */
struct wanted {
	const char *path; /* as recorded */
	struct build_id build_id;
	bool is_deleted;
};

/* Why no file was found. Of several candidates the best one counts: later kinds are better. */
enum refusal_kind {
	REFUSED_ABSENT,	 /* no candidate exists */
	REFUSED_SANDBOX, /* it is there, and may be read, but not here (sandbox/sandbox.h) */
	REFUSED_OWNER,	 /* it lies where all may write, and is neither this user's nor root's */
	REFUSED_NOT_ELF,
	REFUSED_OTHER_MACHINE, /* no build-id, and this may not be the machine that recorded */
	REFUSED_DELETED,       /* no build-id, and the file was replaced while it ran */
	REFUSED_CPU,	       /* of another architecture */
	REFUSED_BUILD_ID,
};

struct refusal {
	enum refusal_kind kind;
	char *path; /* of the candidate; owned, NULL for REFUSED_ABSENT */
	struct build_id found;
};

void refusal_release(struct refusal *);

/*
 * Opens the file whose code ran. On failure returns -1 and fills `why`, which must be empty.
 */
int locate_code(const struct search *, const struct wanted *, struct elf_file *out,
		struct refusal *why);

/*
 * Opens the separate debug file of `code`, or, if `code` is not open, the one of the wanted
 * build-id. False if there is none.
 */
bool locate_debug(const struct search *, const struct wanted *, const struct elf_file *code,
		  struct elf_file *out);

/*
 * The path of the file that dwz moved common parts of `debug` to (.gnu_debugaltlink), to be
 * freed; NULL if it names none or the file is not there.
 */
char *locate_alt(const struct search *, const struct elf_file *debug);

/* The path of a file of the build-id in perf's cache ("vdso", "kallsyms"), to be freed. */
char *locate_cached(const struct search *, const struct build_id *, const char *name);

/* Whether code for this ELF machine can run on the capture's architecture. */
bool machine_fits(const struct search *, uint16_t elf_machine);

#endif
