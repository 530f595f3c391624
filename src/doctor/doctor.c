/* SPDX-License-Identifier: Apache-2.0 */
#include "doctor/doctor.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "counting/counters.h"
#include "doctor/inside.h"

enum { TEXT_MAX = 512 };

enum check_column { CHECK_NAME, CHECK_STATE, CHECK_SHOWN, CHECK_FOUND, CHECK_FIX };

static const struct column check_columns[] = {
	[CHECK_NAME] = { "check", NULL, "", CELL_TEXT, 0, "name of the check" },
	[CHECK_STATE] = { "state", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY,
			  "ok, limited (some of it works), no, or note" },
	[CHECK_SHOWN] = { "shown", NULL, "", CELL_TEXT, COLUMN_TEXT_ONLY, "the state" },
	[CHECK_FOUND] = { "found", NULL, "", CELL_TEXT, COLUMN_GROW | COLUMN_MESSAGE,
			  "what was found" },
	[CHECK_FIX] = { "fix", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY | COLUMN_MESSAGE,
			"how to fix it" },
};

static const struct column fix_columns[] = {
	{ "problem", NULL, "", CELL_TEXT, COLUMN_MESSAGE, "what is missing" },
	{ "check", NULL, "", CELL_TEXT, COLUMN_MACHINE_ONLY, "the check that found it" },
	{ "fix", "fix", "", CELL_TEXT, COLUMN_MESSAGE, "the command, or what to do" },
};

static const char *const state_words[] = {
	[DOCTOR_OK] = "ok",
	[DOCTOR_LIMITED] = "limited",
	[DOCTOR_NO] = "no",
	[DOCTOR_NOTE] = "note",
};

__attribute__((format(printf, 2, 0))) static const char *doctor_format(struct table *t,
								       const char *format,
								       va_list args)
{
	char text[TEXT_MAX];

	vsnprintf(text, sizeof(text), format, args);
	return table_text(t, text);
}

const char *doctor_text(struct doctor *d, const char *format, ...)
{
	const char *text;
	va_list args;

	va_start(args, format);
	text = doctor_format(d->checks, format, args);
	va_end(args);
	return text;
}

void doctor_add_check(struct doctor *d, const char *name, enum doctor_state state, const char *fix,
		      const char *format, ...)
{
	struct cell *row;
	const char *found;
	va_list args;

	va_start(args, format);
	found = doctor_format(d->checks, format, args);
	va_end(args);
	row = table_add_row(d->checks);
	row[CHECK_NAME] = cell_text(name);
	row[CHECK_STATE] = cell_text(state_words[state]);
	row[CHECK_SHOWN] = cell_text(table_format(d->checks, "%-7s", state_words[state]));
	row[CHECK_FOUND] = cell_text(found);
	if (fix == NULL)
		return;
	row[CHECK_FIX] = cell_text(table_text(d->checks, fix));
	row = table_add_row(d->fixes);
	row[0] = cell_text(table_format(d->fixes, "%s: %s", name, found));
	row[1] = cell_text(name);
	row[2] = cell_text(table_text(d->fixes, fix));
}

void doctor_try(struct doctor_trial *out)
{
	struct pmus pmus = { 0 };
	struct attr attr = {
		.type = ATTR_TYPE_HARDWARE,
		.flags = 1 << ATTR_EXCLUDE_KERNEL | 1 << ATTR_EXCLUDE_HV,
	};
	const struct pmu *core;
	struct event_request request = {
		.attr = &attr,
		.name = "cycles",
		.cpu = EVENT_ANY_CPU,
		.group_fd = EVENT_NO_GROUP,
	};
	int fd = event_open(&request);

	*out = (struct doctor_trial){ .error = fd < 0 ? -fd : 0, .sandbox = sandbox_support() };
	if (fd < 0)
		return;
	close(fd);
	pmus_read(&pmus, "");
	core = pmus_core(&pmus, 0);
	if (core != NULL)
		out->n_free = counters_available(&pmus, core);
	pmus_release(&pmus);
}

static void check_cpu(struct doctor *d)
{
	const struct machine *m = &d->machine;
	struct text text = { 0 };
	char name[128];

	for (size_t i = 0; i < m->cores.n; i++) {
		const struct machine_core *core = &m->cores.items[i];

		if (core->midr != 0)
			midr_describe(d->catalog, core->midr, name, sizeof(name));
		else
			snprintf(name, sizeof(name), "%s",
				 core->name != NULL ? core->name : "unknown");
		text_format(&text, "%s%s", i > 0 ? ", " : "", name);
		if (core->midr != 0)
			text_format(&text, " r%up%u", (unsigned)(core->midr >> 20 & 15),
				    (unsigned)(core->midr & 15));
		text_format(&text, " \303\227 %u", core->n);
	}
	if (m->is_virtual)
		text_format(&text, ", a virtual machine%s%s%s", m->host != NULL ? " (" : "",
			    m->host != NULL ? m->host : "", m->host != NULL ? ")" : "");
	if (m->is_container)
		text_str(&text, ", in a container");
	text_char(&text, '\0');
	doctor_add_check(d, "CPU", DOCTOR_NOTE, NULL, "%s", text.n > 1 ? text.bytes : "not known");
	text_release(&text);
}

/* Of commands that read captures. They work without it, so its lack is a note. */
static void check_sandbox(struct doctor *d)
{
	const struct sandbox_support *s = &d->trial->sandbox;

	if (s->landlock > 0 && s->has_filter)
		doctor_add_check(d, "sandbox", DOCTOR_OK, NULL,
				 "captures are read with few files open (Landlock %d) and few "
				 "system calls (seccomp)",
				 s->landlock);
	else
		doctor_add_check(d, "sandbox", DOCTOR_NOTE, NULL,
				 "captures are read without %s: the kernel, or a container, does "
				 "not offer it",
				 s->landlock > 0 ? "a filter of system calls (seccomp)"
				 : s->has_filter ? "limits on files (Landlock)"
						 : "one (neither Landlock nor seccomp)");
}

bool doctor_examine(const struct catalog *catalog, const char *root,
		    const struct doctor_trial *trial, struct table *checks, struct table *fixes)
{
	struct doctor d = {
		.root = root,
		.catalog = catalog,
		.trial = trial,
		.checks = checks,
		.fixes = fixes,
	};
	bool can_count, may_count;

	table_init(checks, "checks", NULL, check_columns, COUNT(check_columns));
	checks->style = TABLE_FACTS;
	table_init(fixes, "fixes", NULL, fix_columns, COUNT(fix_columns));
	fixes->style = TABLE_FINDINGS;
	pmus_read(&d.pmus, root);
	machine_read(&d.machine, root);
	event_rights_read(&d.rights, root);
	check_cpu(&d);
	can_count = doctor_pmu(&d);
	if (can_count)
		doctor_checked_events(&d);
	may_count = doctor_access(&d);
	doctor_spe(&d);
	doctor_symbols(&d);
	doctor_limits(&d);
	check_sandbox(&d);
	if (table_n_rows(fixes) == 0)
		table_note(fixes, "Nothing to fix.");
	pmus_release(&d.pmus);
	machine_release(&d.machine);
	return can_count && may_count;
}
