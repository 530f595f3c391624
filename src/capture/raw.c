/* SPDX-License-Identifier: Apache-2.0 */
/*
 * An SPE buffer without a file around it, as WindowsPerf saves it (spe.data) and debuggers copy it: one
 * chunk of trace data, and nothing else. Format: docs/reference/spe-packets.md.
 */
#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>

#include "capture/state.h"
#include "spe/packet.h"

void raw_describe(struct capture *c, uint64_t midr)
{
	char text[24];

	c->info.arch = strings_addz(&c->strings, "aarch64"); /* SPE is in no other one */
	if (midr == 0)
		return;
	snprintf(text, sizeof(text), "0x%016" PRIx64, midr);
	c->info.cpuid = strings_addz(&c->strings, text);
}

bool raw_is_likely(const uint8_t *bytes, size_t size)
{
	enum { PROBE_BYTES = 4096, LONGEST_PACKET = 16 };
	bool has_pc = false, has_end = false;
	size_t at = 0, end = size < PROBE_BYTES ? size : PROBE_BYTES - LONGEST_PACKET;

	while (at < end) {
		struct spe_packet p = spe_packet_read(bytes + at, size - at, at);

		if (p.kind == SPE_BAD && !p.is_cut)
			return false;
		has_pc |= p.kind == SPE_ADDRESS && p.index == SPE_ADDR_PC;
		has_end |= p.kind == SPE_END || p.kind == SPE_TIMESTAMP;
		at += p.length;
	}
	return has_pc && has_end;
}

/* Packets have bytes that no text has: addresses begin with zeros. */
static bool is_text(const uint8_t *bytes, size_t size)
{
	enum { LEAST_BYTES = 16, PROBE_BYTES = 64 };

	for (size_t i = 0; i < size && i < PROBE_BYTES; i++)
		if (!isprint(bytes[i]) && !isspace(bytes[i]))
			return false;
	return size >= LEAST_BYTES;
}

int raw_check(const struct capture *c, struct err *err)
{
	const struct segment *s = &c->segments.items[0];

	if (s->size == 0)
		return err_set(err, ERR_FORMAT, 0, "%s: empty, no SPE buffer", c->path);
	if (header_is_perf_data(cur_of(s->bytes, s->size)))
		return err_set(
			err, ERR_USAGE, 0,
			"%s: a perf.data file, which has its SPE buffers described; leave out "
			"--raw",
			c->path);
	if (is_text(s->bytes, s->size))
		return err_set(err, ERR_FORMAT, 0, "%s: text, no SPE buffer", c->path);
	return 0;
}

void raw_scan(struct capture *c)
{
	const struct segment *s = &c->segments.items[0];

	*vec_add(&c->chunks) = (struct aux_chunk){
		.header = { .size = s->size, .cpu = UINT32_MAX, .tid = UINT32_MAX },
		.bytes = s->bytes,
		.size = s->size,
	};
	c->totals.record_bytes = c->totals.aux_bytes = s->size;
	c->totals.n_auxtrace = 1;
	c->spe.is_present = true;
	c->spe.event = -1;
	diags_add(&c->diags, DIAG_NOTE, ERR_NOWHERE, 0,
		  c->info.cpuid.v != 0 ? "a raw SPE buffer: it has no time base, no mappings and "
					 "no CPU numbers; threads are "
					 "those of context packets"
				       : "a raw SPE buffer: it has no time base, no mappings, no "
					 "CPU numbers and no CPU "
					 "model (--midr); threads are those of context packets");
	units_finish(c);
}
