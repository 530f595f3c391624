/* SPDX-License-Identifier: Apache-2.0 */
/* Which functions are looked at: those with a part of the latency or of the records that matters. */
#include "bottleneck/bottleneck.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "bottleneck/inside.h"
#include "cpu/pmu.h"
#include "estimate/shares.h"
#include "keys/keys.h"
#include "variables/code.h"

enum {
	WORD = 4,
	LEAST_RECORDS = 30,    /* of a function */
	LEAST_SHARE = 33,      /* one in so many records, or cycles of latency */
	NAMELESS_BYTES = 4096, /* of code without names, looked at together */
	MOST_INSNS = 16384,    /* of a function */
	SPE_EVENTS = 64,
	ASSUMED_WINDOW = 256, /* where the catalog has none */
};

/* A function of the first scan. */
struct hot_code {
	uint64_t n, cycles;
	uint32_t place; /* the one with the lowest number */
};

/* Functions by module and offset of their start. */
struct finder {
	struct bottlenecks *all;
	const struct hot *hot;
	const struct names *names;
	struct place_sums *places; /* by number */
	uint32_t *code_of_place;   /* by number: that of `list`, or NO_SLOT */
	struct tuples keys;
	VEC_OF(struct hot_code) list;
	uint64_t n, cycles;
};

static bool is_looked_at(const struct finder *f, const struct hot_code *c)
{
	return c->n >= LEAST_RECORDS &&
	       (c->n * LEAST_SHARE >= f->n || c->cycles * LEAST_SHARE >= f->cycles);
}

/* A stretch of code: a function, or where functions have no names so much of its page as is code. */
struct stretch {
	uint64_t offset, size;
};

static bool find_stretch(const struct finder *f, uint32_t place, struct stretch *out)
{
	struct place at = session_place(f->all->session, place);
	const struct symbol *symbol = &f->names->symbols[place];
	uint64_t before, after, in_page = at.offset % NAMELESS_BYTES;

	if (at.module.v == 0)
		return false;
	if (symbol->function.v != 0) {
		*out = (struct stretch){ at.offset - symbol->function_offset,
					 symbol->function_size };
		return symbol->function_size > 0 && symbol->function_offset <= at.offset &&
		       symbol->function_size / WORD <= MOST_INSNS;
	}
	if (symbols_isa(f->all->session->symbols, at.module) != ISA_A64 ||
	    !symbols_code_around(f->all->session->symbols, at, &before, &after))
		return false;
	before = before < in_page ? before : in_page;
	after = after < NAMELESS_BYTES - in_page ? after : NAMELESS_BYTES - in_page;
	*out = (struct stretch){ at.offset - before, before + after };
	return true;
}

/* The key of the stretch that a place is in. */
static bool function_key(const struct finder *f, uint32_t place, uint64_t key[2])
{
	struct stretch stretch;

	if (!find_stretch(f, place, &stretch))
		return false;
	key[0] = session_place(f->all->session, place).module.v;
	key[1] = stretch.offset;
	return true;
}

static void sum_up_places(struct finder *f)
{
	for (uint32_t i = hot_next(f->hot, 0); i < hot_end(f->hot); i = hot_next(f->hot, i + 1)) {
		const struct hot_cost cost = hot_cost(f->hot, i);
		struct place_sums *place = &f->places[hot_key_word(f->hot, i, DIM_PLACE)];

		if (!hot_is_spe(f->hot, hot_key_word(f->hot, i, DIM_EVENT)))
			continue;
		place->n += cost.n;
		place->cycles += cost.cycles;
		f->n += cost.n;
		f->cycles += cost.cycles;
	}
}

static void find_hot_code(struct finder *f)
{
	uint64_t key[2];
	uint32_t number = 0;

	for (uint32_t place = 0; place < f->all->n_places; place++) {
		struct hot_code *c;

		f->code_of_place[place] = NO_SLOT;
		if (f->places[place].n == 0 || !function_key(f, place, key))
			continue;
		f->code_of_place[place] = number = tuples_add_again(&f->keys, key, number);
		if (number == f->list.n)
			*vec_add(&f->list) = (struct hot_code){ .place = place };
		c = &f->list.items[number];
		c->n += f->places[place].n;
		c->cycles += f->places[place].cycles;
	}
}

/* Its instructions, if the file is there and they are of A64. */
static void read_code_words(struct bottlenecks *all, struct function_insns *f)
{
	struct place start = { .module = f->module, .offset = f->offset };
	struct code code;

	if (!symbols_code(all->session->symbols, start, f->n * WORD, &code) ||
	    code.isa != ISA_A64 || code.size < f->n * WORD)
		return;
	f->words = mem_alloc(f->n + 1, sizeof(*f->words));
	for (size_t i = 0; i < f->n; i++)
		f->words[i] = load_u32(code.bytes + i * WORD);
}

static void add_function(struct finder *f, uint32_t number)
{
	const uint64_t *key = tuples_get(&f->keys, number);
	uint32_t place = f->list.items[number].place;
	struct function_insns *new = vec_add(&f->all->functions);
	struct stretch stretch = { 0 };

	find_stretch(f, place, &stretch);

	*new = (struct function_insns){
		.module = { (uint32_t)key[0] },
		.offset = key[1],
		.address = f->names->symbols[place].address -
			   (session_place(f->all->session, place).offset - key[1]),
		.place = place,
		.n = stretch.size / WORD,
	};
	new->counts = mem_zalloc(new->n + 1, sizeof(*new->counts));
	new->slots = mem_alloc(new->n + 1, sizeof(*new->slots));
	memset(new->slots, 0xff, (new->n + 1) * sizeof(*new->slots));
	new->regions = mem_zalloc(new->n + 1, sizeof(*new->regions));
	new->is_rare = mem_zalloc(new->n + 1, sizeof(*new->is_rare));
	new->is_spine = mem_zalloc(new->n + 1, sizeof(*new->is_spine));
	read_code_words(f->all, new);
}

static void add_place(struct finder *f, uint32_t function, uint32_t place, uint64_t n)
{
	struct bottlenecks *all = f->all;
	struct function_insns *code = &all->functions.items[function];
	uint64_t insn = (session_place(all->session, place).offset - code->offset) / WORD;

	if (insn >= code->n)
		return;
	code->counts[insn] += n;
	if (code->slots[insn] == NO_SLOT) {
		code->slots[insn] = (uint32_t)all->slots.n;
		*vec_add(&all->slots) = (struct slot){ place, function, (uint32_t)insn };
	}
	all->slot_of_place[place] = code->slots[insn];
}

/* The places of the functions that are looked at: `functions` has their numbers, or NO_SLOT. */
static void add_places(struct finder *f, const uint32_t *functions)
{
	f->all->slot_of_place = mem_alloc(f->all->n_places + 1, sizeof(uint32_t));
	memset(f->all->slot_of_place, 0xff, f->all->n_places * sizeof(uint32_t));
	for (uint32_t place = 0; place < f->all->n_places; place++) {
		uint32_t code = f->code_of_place[place];

		if (code != NO_SLOT && functions[code] != NO_SLOT)
			add_place(f, functions[code], place, f->places[place].n);
	}
}

static void add_hot_functions(struct finder *f)
{
	uint32_t *functions = mem_alloc(f->list.n + 1, sizeof(*functions));

	for (uint32_t i = 0; i < f->list.n; i++) {
		bool is_wanted = is_looked_at(f, &f->list.items[i]);

		functions[i] = is_wanted ? (uint32_t)f->all->functions.n : NO_SLOT;
		if (is_wanted)
			add_function(f, i);
	}
	add_places(f, functions);
	free(functions);
}

static int find_late_prefetch(const struct cpu *cpu)
{
	for (unsigned bit = 0; bit < SPE_EVENTS && cpu != NULL; bit++) {
		const char *name = cpu_spe_event(cpu, bit);

		if (name != NULL && strcmp(name, "LATE-PREFETCH") == 0)
			return (int)bit;
	}
	return -1;
}

static int read_cpu(const struct session *s, struct bottleneck_cpu *out, struct err *err)
{
	const struct cpu *cpu = s->cpu != NULL ? s->cpu : catalog_cpu_find(s->catalog, CPU_ANY_ARM);
	struct cpu_pmu *pmu;

	if (cpu_costs_open(s->catalog, cpu, &pmu, err) < 0)
		return -1;
	*out = (struct bottleneck_cpu){
		.width = cpu_most_ipc(pmu),
		.window = pmu->reorder_entries > 0 ? pmu->reorder_entries : ASSUMED_WINDOW,
		.restart_cycles = cpu_penalty_cycles(pmu, "mispredict"),
		.refill_cycles =
			cpu_penalty_cycles(pmu, "l1d_miss") + cpu_penalty_cycles(pmu, "l2_miss"),
		.llc_miss_cycles = cpu_penalty_cycles(pmu, "llc_miss"),
		.l1i_lines = pmu->l1i_lines,
		.itlb_entries = pmu->itlb_entries,
		.lines = pmu->outstanding_lines,
	};
	cpu_pmu_free(pmu);
	return 0;
}

int bottlenecks_new(struct session *s, const struct hot *hot, const struct names *names,
		    struct shared_scan *next, struct bottlenecks **out, struct err *err)
{
	struct bottleneck_cpu cpu;
	struct bottlenecks *all;
	struct finder f = { .hot = hot, .names = names };

	if (read_cpu(s, &cpu, err) < 0)
		return -1;
	f.all = all = mem_zalloc(1, sizeof(*all));
	all->session = s;
	all->cpu = cpu;
	all->late_prefetch = find_late_prefetch(s->cpu);
	all->n_places = place_numbers_n(s->places);
	f.places = mem_zalloc(all->n_places, sizeof(*f.places));
	f.code_of_place = mem_alloc(all->n_places, sizeof(*f.code_of_place));
	tuples_init(&f.keys, 2);
	sum_up_places(&f);
	find_hot_code(&f);
	add_hot_functions(&f);
	code_measure_footprint(all, names, f.places);
	tuples_release(&f.keys);
	vec_release(&f.list);
	free(f.places);
	free(f.code_of_place);
	for (uint32_t i = 0; i < all->functions.n; i++)
		regions_cut(all, i);
	all->is_explained = mem_zalloc(all->functions.n + 1, sizeof(*all->is_explained));
	all->analysis = (struct analysis){ .class = &bottleneck_class, .options = all };
	all->clock_pairs = (struct analysis){ .class = &clock_pairs_class };
	shared_scan_add(next, &all->analysis, &(struct scan_wish){ .keeps_places = true });
	shared_scan_add(next, &all->clock_pairs, &(struct scan_wish){ .keeps_places = true });
	*out = all;
	return 0;
}

void bottlenecks_free(struct bottlenecks *all)
{
	if (all == NULL)
		return;
	for (size_t i = 0; i < all->functions.n; i++) {
		struct function_insns *f = &all->functions.items[i];

		free(f->words);
		free(f->counts);
		free(f->slots);
		free(f->regions);
		free(f->is_rare);
		free(f->is_spine);
	}
	for (size_t i = 0; i < all->regions.n; i++)
		vec_release(&all->regions.items[i].inner);
	bottleneck_class.free(all->analysis.result);
	clock_pairs_class.free(all->clock_pairs.result);
	vec_release(&all->functions);
	vec_release(&all->regions);
	vec_release(&all->slots);
	vec_release(&all->found);
	free(all->slot_of_place);
	free(all->is_explained);
	free(all);
}

const struct bottleneck *bottleneck_at(const struct bottlenecks *all, size_t i)
{
	return all != NULL && i < all->found.n ? &all->found.items[i] : NULL;
}

const struct bottleneck *bottlenecks_largest_left(const struct bottlenecks *all)
{
	return all != NULL && all->has_largest ? &all->largest : NULL;
}

const struct bottleneck *bottlenecks_unexplained(const struct bottlenecks *all)
{
	return all != NULL && all->has_unexplained ? &all->unexplained : NULL;
}

const struct bottleneck_code *bottlenecks_code(const struct bottlenecks *all)
{
	return &all->code;
}

bool bottlenecks_explain(const struct bottlenecks *all, uint32_t place)
{
	uint32_t slot = all != NULL && place < all->n_places ? all->slot_of_place[place] : NO_SLOT;

	return slot != NO_SLOT && all->is_explained[all->slots.items[slot].function];
}

double bottlenecks_explained_part(const struct bottlenecks *all)
{
	const struct bottleneck_sums *sums = all == NULL ? NULL : all->analysis.result;

	return sums == NULL ? 0 : ratio(all->n_explained, sums->code.n);
}
