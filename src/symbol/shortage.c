/* SPDX-License-Identifier: Apache-2.0 */
#include "symbol/shortage.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "base/text.h"

struct wording {
	const char *reason, *remedy, *brief;
};

#define DEBUG_FILES                                                                                \
	"install its -dbgsym or -debuginfo package, or give --debug-dir DIR or --debuginfod"

static const struct wording wordings[] = {
	[SHORT_OF_SYMBOLS] = { "stripped: it has no names", DEBUG_FILES, "stripped" },
	[SHORT_OF_LOCAL_SYMBOLS] = { "stripped: only exported functions have names", DEBUG_FILES,
				     "stripped" },
	[SHORT_OF_FUNCTION] = { "no symbol covers them", "" },
	[SHORT_OF_LINES] = { "no line information", "compile with -g, or " DEBUG_FILES },
	[SHORT_OF_KERNEL_LINES] = { "no line information",
				    "give --vmlinux FILE with debug information" },
	[SHORT_OF_SEGMENTS] = { "only its debug file is here, which does not tell where its code "
				"was loaded",
				"copy the file itself here and give --symfs DIR" },
	[SHORT_OF_JIT_MAP] = { "code made at run time, and no perf-PID.map file names it",
			       "have the runtime write one: java -XX:+DumpPerfMapAtExit, "
			       "node --perf-basic-prof, python -X perf" },
	[SHORT_OF_KERNEL] = { "those of the recorded kernel are not here",
			      "copy /proc/kallsyms of the recorded machine (as root) and give "
			      "--kallsyms FILE, or give --vmlinux FILE" },
	[SHORT_OF_BOOT] = { "another kernel than the recorded one runs now",
			    "give --vmlinux FILE of the recorded one" },
	[SHORT_OF_ADDRESSES] = { "the kernel hides its addresses",
				 "run as root, or sudo sysctl kernel.kptr_restrict=0 "
				 "kernel.perf_event_paranoid=1" },
	[SHORT_OF_GUEST] = { "those of the guest's kernel are not here",
			     "copy /proc/kallsyms of the guest (as its root) and give "
			     "--guestkallsyms FILE" },
	[SHORT_OF_GUEST_ADDRESSES] = { "the guest's kallsyms hides its addresses",
				       "copy it as root of the guest" },
	[SHORT_OF_GUEST_BOOT] = { "the guest's kallsyms is of another boot",
				  "copy it again while the guest runs, and record again" },
	[SHORT_OF_RELOCATION] = { "it is not known where the kernel was loaded",
				  "give --kallsyms FILE from the same boot, or record as root" },
	[SHORT_OF_MODULE_BASE] = { "it is not known where the module was loaded",
				   "put a copy of /proc/modules beside that of /proc/kallsyms" },
	[SHORT_OF_VDSO] = { "the recorded machine's vdso is not here",
			    "copy it with `perf archive`" },
};

static char *shortage_finish(struct text *text)
{
	char *copy = mem_strndup(text->n == 0 ? "" : text->bytes, text->n);

	text_release(text);
	return copy;
}

static char *copy(const char *text)
{
	return mem_strndup(text, strlen(text));
}

void shortage_set(struct shortage *shortage, enum shortage_kind kind)
{
	if (shortage->reason != NULL)
		return;
	shortage->reason = copy(wordings[kind].reason);
	shortage->remedy = copy(wordings[kind].remedy);
	shortage->brief = wordings[kind].brief;
}

/* How a refused file is described; %s is its path. */
static const struct wording refusals[] = {
	[REFUSED_ABSENT] = { "not on this machine",
			     "copy the file from the recorded machine (`perf "
			     "archive`), or give --symfs DIR" },
	[REFUSED_SANDBOX] = { "%s is hidden from what reads a capture",
			      "name its folder by --debug-dir DIR, or give --no-sandbox" },
	[REFUSED_OWNER] = { "%s is neither yours nor root's, so anybody may have written it",
			    "if the program wrote it: sudo chown root FILE" },
	[REFUSED_NOT_ELF] = { "%s is not an ELF file",
			      "give --symfs DIR with the recorded machine's files" },
	[REFUSED_OTHER_MACHINE] = { "the capture has no build-ids, and %s of this machine may be "
				    "another file",
				    "give --symfs DIR with the recorded machine's files "
				    "(--symfs / if they are the same)" },
	[REFUSED_DELETED] = { "deleted or replaced while it ran, and its build-id was not recorded",
			      "record with --buildid-mmap, or again without replacing it" },
	[REFUSED_CPU] = { "%s is for another CPU than the capture's",
			  "give --symfs DIR with the recorded machine's files" },
	[REFUSED_BUILD_ID] = { "build-id differs: recorded ",
			       "find the recorded version of it, then give --symfs DIR or "
			       "--debug-dir DIR",
			       "build-id differs" },
};

static void shortage_add_build_id(struct text *text, const struct build_id *id)
{
	char digits[BUILD_ID_TEXT];

	text_str(text, id->size == 0 ? "none" : build_id_text(id, digits));
}

void shortage_set_refusal(struct shortage *shortage, const struct refusal *refusal,
			  const struct wanted *wanted)
{
	const char *form = refusals[refusal->kind].reason;
	const char *hole = strstr(form, "%s");
	struct text reason = { 0 };

	if (shortage->reason != NULL)
		return;
	text_add(&reason, form, hole == NULL ? strlen(form) : (size_t)(hole - form));
	if (hole != NULL) {
		text_str(&reason, refusal->path);
		text_str(&reason, hole + 2);
	}
	if (refusal->kind == REFUSED_BUILD_ID) {
		shortage_add_build_id(&reason, &wanted->build_id);
		text_str(&reason, ", found ");
		shortage_add_build_id(&reason, &refusal->found);
		text_format(&reason, " in %s", refusal->path);
	}
	shortage->reason = shortage_finish(&reason);
	shortage->remedy = copy(refusals[refusal->kind].remedy);
	shortage->brief = refusals[refusal->kind].brief;
}

void shortage_release(struct shortage *shortage)
{
	free(shortage->reason);
	free(shortage->remedy);
	*shortage = (struct shortage){ 0 };
}
