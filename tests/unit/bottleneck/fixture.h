/* SPDX-License-Identifier: Apache-2.0 */
/* One function of given instructions and records, cut into regions: nothing is run or scanned for it. */
#ifndef CYCLOPS_TESTS_BOTTLENECK_FIXTURE_H
#define CYCLOPS_TESTS_BOTTLENECK_FIXTURE_H

#include "../session/fixture.h"
#include "base/alloc.h"
#include "bottleneck/inside.h"
#include "estimate/clock.h"
#include "scan/scan.h"
#include "spe/packet.h"

enum { MOST_INSNS = 10, INTERVAL = 4096, FUNCTION_PLACE = 0x1000 };

/* Ends with a word of 0. */
struct function_case {
	uint32_t words[MOST_INSNS];
	uint64_t counts[MOST_INSNS]; /* records of each instruction */
};

struct bottleneck_fixture {
	struct session session;
	struct bottlenecks *all;
	struct bottleneck_sums *sums; /* all 0 */
};

static void open_function(const struct function_case *c, struct bottleneck_fixture *out)
{
	const struct spe_record record = spe_of(FIRST, ALPHA, SPE_OP_OTHER, 0, 1, START_NS);
	struct bottlenecks *all = out->all = mem_zalloc(1, sizeof(*all));
	struct function_insns *f = vec_add(&all->functions);

	open_fixture(
		&(struct contents){ .records = &record, .n_records = 1, .spe_interval = INTERVAL },
		1, &out->session);
	scan(&out->session, NULL, NULL, 0);
	all->session = &out->session;
	all->cpu = (struct bottleneck_cpu){ .width = 4,
					    .window = 128,
					    .restart_cycles = 11,
					    .refill_cycles = 100,
					    .llc_miss_cycles = 200,
					    .lines = 16 };
	all->late_prefetch = -1;
	all->is_explained = mem_zalloc(1, sizeof(*all->is_explained));
	*f = (struct function_insns){ 0 };
	while (f->n < MOST_INSNS && c->words[f->n] != 0)
		f->n++;
	f->words = mem_zalloc(MOST_INSNS, sizeof(*f->words));
	f->counts = mem_zalloc(MOST_INSNS, sizeof(*f->counts));
	f->slots = mem_zalloc(MOST_INSNS, sizeof(*f->slots));
	f->regions = mem_zalloc(MOST_INSNS, sizeof(*f->regions));
	f->is_rare = mem_zalloc(MOST_INSNS, sizeof(*f->is_rare));
	f->is_spine = mem_zalloc(MOST_INSNS, sizeof(*f->is_spine));
	for (uint32_t i = 0; i < f->n; i++) {
		struct place place = { .offset = FUNCTION_PLACE + 4 * i };

		f->words[i] = c->words[i];
		f->counts[i] = c->counts[i];
		f->slots[i] = i;
		*vec_add(&all->slots) = (struct slot){
			.place = place_numbers_add(out->session.places, place),
			.insn = i,
		};
	}
	regions_cut(all, 0);
	all->clock_pairs.result = clock_pairs_class.new(&out->session, NULL);
	out->sums = all->analysis.result = bottleneck_class.new(&out->session, all);
}

static void close_function(struct bottleneck_fixture *f)
{
	bottlenecks_free(f->all);
	close_fixture(&f->session);
}

#endif
