/* SPDX-License-Identifier: Apache-2.0 */
#include "hot/arguments/arguments.h"

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "hot/arguments/loops.h"
#include "scan/scan.h"

static bool has_registers(const struct capture *c)
{
	const uint64_t bits = (uint64_t)1 << SAMPLE_REGS_INTR | (uint64_t)1 << SAMPLE_REGS_USER;

	for (size_t i = 0; i < capture_n_events(c); i++)
		if (capture_event(c, i)->attr.sample_type & bits)
			return true;
	return false;
}

/* The registers of the capture's architecture. */
static int find_registers(const struct session *s, const struct registers **out, struct err *err)
{
	const char *arch = s->symbols_options.arch;

	if (!has_registers(s->capture))
		return err_set(err, ERR_NO_DATA, ERR_NOWHERE,
			       "--arguments: no event of this capture records registers; "
			       "cyclops record --regs does");
	*out = arch == NULL ? NULL : registers_of(arch);
	if (*out == NULL)
		return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			       "--arguments: the registers of %s%s are not known; those of x86_64 "
			       "and aarch64 are",
			       arch == NULL ? "an architecture that the capture does not name"
					    : "architecture ",
			       arch == NULL ? "" : arch);
	return 0;
}

int argument_tables_make(struct session *s, const struct select *select,
			 const struct argument_request *request, struct argument_tables *out,
			 struct err *err)
{
	const struct scan_wish wish = { .with_registers = true };
	const struct registers *registers;
	struct argument_sites sites;
	struct loop_request loops = { .event = request->event };
	struct analysis scans[] = {
		{ .class = &argument_values_class, .options = &sites },
		{ .class = &loop_trips_class, .options = &loops },
	};
	int rc;

	if (find_registers(s, &registers, err) < 0)
		return -1;
	argument_sites_find(s, select, registers, request->event, &sites);
	loops.loops = sites.loops;
	scan_part(s, select, &wish, scans, COUNT(scans));
	rc = argument_tables_fill(scans[0].result, request, out, err);
	loop_trips_table(scans[1].result, registers->names, request->top, &out->loops);
	*vec_add(&out->shown.list) = &out->values;
	if (request->with_histogram)
		*vec_add(&out->shown.list) = &out->histogram;
	if (table_n_rows(&out->loops) > 0)
		*vec_add(&out->shown.list) = &out->loops;
	for (size_t i = 0; i < COUNT(scans); i++)
		scans[i].class->free(scans[i].result);
	argument_sites_release(&sites);
	return rc;
}

void argument_tables_release(struct argument_tables *t)
{
	table_release(&t->values);
	table_release(&t->histogram);
	table_release(&t->loops);
	vec_release(&t->shown.list);
	*t = (struct argument_tables){ 0 };
}
