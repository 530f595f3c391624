/* SPDX-License-Identifier: Apache-2.0 */
/* Side-band records about the capture itself: losses, clocks, events, features. */
#include <stdio.h>

#include "base/alloc.h"
#include "capture/state.h"

void side_band_damaged(struct capture *c, const struct record *r)
{
	char text[96];

	snprintf(text, sizeof(text), "%s record that could not be read; ignored",
		 record_type_name(r->type));
	capture_unread(c, DIAG_DAMAGE, r, text);
}

static const struct {
	uint64_t flag;
	const char *text;
} aux_losses[] = {
	{ AUX_TRUNCATED, "the trace buffer was full and records were lost (AUX: TRUNCATED)" },
	{ AUX_PARTIAL, "a trace record was cut or a gap follows it (AUX: PARTIAL)" },
	{ AUX_COLLISION, "samples collided, the interval is too short (AUX: COLLISION)" },
};

static void read_aux(struct capture *c, const struct record *r)
{
	struct capture_totals *t = &c->totals;
	struct record_aux aux;
	struct err err;

	if (record_aux_read(r, &aux, &err) < 0) {
		side_band_damaged(c, r);
		return;
	}
	if (capture_is_other_trace(c, events_of_trailer(&c->events, r)))
		return;
	t->n_aux++;
	t->n_aux_truncated += (aux.flags & AUX_TRUNCATED) != 0;
	t->n_aux_partial += (aux.flags & AUX_PARTIAL) != 0;
	t->n_aux_collision += (aux.flags & AUX_COLLISION) != 0;
	for (size_t i = 0; i < COUNT(aux_losses); i++)
		if (aux.flags & aux_losses[i].flag)
			diags_add(&c->diags, DIAG_LOSS, r->position, 0, aux_losses[i].text);
}

/* Of a record of the kernel; 0: it has none. */
static uint64_t trailer_time(const struct capture *c, const struct record *r)
{
	int event = events_of_trailer(&c->events, r);

	return event < 0 ? 0 : sample_id_read(r, &c->events.list.items[event].attr).time_ns;
}

static void read_lost(struct capture *c, const struct record *r)
{
	struct capture_totals *t = &c->totals;
	bool is_event = r->type == RECORD_LOST;
	struct record_lost lost;
	struct err err;

	if (record_lost_read(r, &lost, &err) < 0) {
		side_band_damaged(c, r);
		return;
	}
	*(is_event ? &t->n_lost_events : &t->n_lost_samples) += lost.n;
	if (!is_event && trailer_time(c, r) == 0)
		t->n_lost_in_all += lost.n;
	diags_add_n(&c->diags, DIAG_LOSS, lost.n, r->position, 0,
		    is_event ? "events lost: the recorder did not empty the buffer in time (LOST)"
			     : "samples lost by the kernel (LOST_SAMPLES)");
}

static void read_throttle(struct capture *c, const struct record *r)
{
	c->totals.n_throttled++;
	diags_add(&c->diags, DIAG_LOSS, r->position, 0,
		  "sampling was throttled: too many samples a second (THROTTLE)");
}

static void read_auxtrace_error(struct capture *c, const struct record *r)
{
	diags_add(&c->diags, DIAG_LOSS, r->position, 0,
		  "the recorder reports an error in the trace (AUXTRACE_ERROR)");
}

static void read_time_conv(struct capture *c, const struct record *r)
{
	struct err err;

	if (record_time_conv_read(r, &c->spe.time, &err) < 0)
		side_band_damaged(c, r);
	else
		c->spe.has_time = true;
}

static void (*const readers[N_RECORD_TYPES])(struct capture *, const struct record *) = {
	[RECORD_LOST] = read_lost,
	[RECORD_THROTTLE] = read_throttle,
	[RECORD_AUX] = read_aux,
	[RECORD_LOST_SAMPLES] = read_lost,
	[RECORD_HEADER_ATTR] = meta_attr_record,
	[RECORD_BUILD_ID] = meta_build_id_record,
	[RECORD_ID_INDEX] = traces_index_record,
	[RECORD_AUXTRACE_INFO] = spe_info_record,
	/* only as a decompressed record, where it is damage */
	[RECORD_AUXTRACE] = side_band_damaged,
	[RECORD_AUXTRACE_ERROR] = read_auxtrace_error,
	[RECORD_EVENT_UPDATE] = meta_update_record,
	[RECORD_TIME_CONV] = read_time_conv,
	[RECORD_HEADER_FEATURE] = meta_feature_record,
};

/* perf compresses only kernel records; others in compressed data are damage. */
void side_band_read(struct capture *c, const struct record *r)
{
	if (meta_old_feature_record(c, r))
		return;
	if (record_type_name(r->type) == NULL)
		capture_unread(c, DIAG_NOTE, r, "record of a type that is not known; ignored");
	else if (readers[r->type] == NULL)
		return;
	else if (r->was_compressed && r->type >= RECORD_HEADER_ATTR)
		capture_note(c, DIAG_DAMAGE, r->position, 0,
			     "%s record in compressed data, where none can be; ignored",
			     record_type_name(r->type));
	else
		readers[r->type](c, r);
}
