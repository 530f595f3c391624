/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tlb.h"

#include "base/alloc.h"

/* Physical memory begins at 2 GiB, as on servers with Neoverse N1. */
static const uint64_t first_frame = 0x80000000 >> PAGE_SHIFT;

/* Page table entries are in lines from here on, far from all frames. */
static const uint64_t page_table_line = (uint64_t)1 << 62;

enum { ENTRIES_PER_LINE_SHIFT = LINE_SHIFT - 3, PROCESS_SHIFT = 53, HUGE_KEY = 52 };

/*
 * The state of a TLB entry. A page that is copied on write gets another frame when it is written.
 */
enum page_state { PAGE_OWN, PAGE_COPIED_ON_WRITE };

/* The frame of size 2^shift that holds an address. Frames may be huge, and pages of code small. */
static uint64_t frame_of(struct frames *f, uint32_t process, uint64_t va, unsigned shift,
			 bool to_write)
{
	uint64_t number = to_write ? frames_write(f, process, va) : frames_get(f, process, va);
	uint64_t pa = (first_frame << PAGE_SHIFT) + (number << f->shift);

	return (pa + (va & (((uint64_t)1 << f->shift) - 1))) >> shift;
}

/* log2 of the size of the page of an access. Pages of code are always small. */
static unsigned page_shift_of(const struct memory *m, enum translation_kind kind)
{
	bool are_huge = m->params->huge_pages || m->ideal & IDEAL_HUGE_PAGES;

	return are_huge && kind != TRANSLATE_FETCH ? HUGE_PAGE_SHIFT : PAGE_SHIFT;
}

static uint64_t tlb_key(uint32_t process, uint64_t va, unsigned shift)
{
	return va >> shift | (uint64_t)(shift == HUGE_PAGE_SHIFT) << HUGE_KEY |
	       (uint64_t)process << PROCESS_SHIFT;
}

void tlbs_init(struct tlbs *t, const struct params *p)
{
	*t = (struct tlbs){ 0 };
	assoc_init(&t->itlb, 1, p->itlb_entries);
	assoc_init(&t->dtlb, 1, p->dtlb_entries);
	assoc_init(&t->l2, p->l2tlb_entries / p->l2tlb_ways, p->l2tlb_ways);
}

void tlbs_release(struct tlbs *t)
{
	assoc_release(&t->itlb);
	assoc_release(&t->dtlb);
	assoc_release(&t->l2);
}

/* Invalidates pages of one size. Above a number of pages it flushes the TLBs, as Linux does. */
static void invalidate_pages(struct tlbs *t, uint32_t process, uint64_t start, uint64_t end,
			     unsigned shift)
{
	enum { MOST_PAGES = 512 };
	struct assoc *const tables[] = { &t->itlb, &t->dtlb, &t->l2 };
	bool are_many = (end - start) >> shift > MOST_PAGES;

	for (size_t i = 0; i < COUNT(tables); i++) {
		if (are_many)
			assoc_reset(tables[i]);
		for (uint64_t va = start; va < end && !are_many; va += (uint64_t)1 << shift)
			assoc_remove(tables[i], tlb_key(process, va, shift));
	}
}

void tlbs_invalidate(struct tlbs *t, uint32_t process, uint64_t start, uint64_t end)
{
	invalidate_pages(t, process, start, end, PAGE_SHIFT);
	invalidate_pages(t, process, start, end, HUGE_PAGE_SHIFT);
}

void tlbs_invalidate_process(struct tlbs *t, uint32_t process)
{
	struct assoc *const tables[] = { &t->itlb, &t->dtlb, &t->l2 };

	for (size_t i = 0; i < COUNT(tables); i++) {
		const struct assoc *a = tables[i];

		for (size_t at = (size_t)(a->set_mask + 1) * a->n_ways; at-- > 0;)
			if (a->keys[at] != ASSOC_NONE && a->keys[at] >> PROCESS_SHIFT == process)
				assoc_remove(tables[i], a->keys[at]);
	}
}

/*
 * Loads the entry of the last level of the page table. Entries of neighbouring pages share a line.
 * The levels above are in the walker's caches; their time is `walk_cycles`.
 */
static uint64_t load_page_entry(struct memory *m, unsigned cpu, uint64_t key, uint64_t time)
{
	uint64_t line = page_table_line + (key >> ENTRIES_PER_LINE_SHIFT);
	uint64_t start = time + m->params->walk_cycles;

	return memory_access(m, cpu, line, ACCESS_WALK, start).ready - time;
}

/*
 * Does a miss of all TLBs take a walk? Not if that is perfect. `kind`: the event that counts walks.
 */
static bool needs_walk(const struct memory *m, enum count kind)
{
	uint32_t perfect = IDEAL_PAGE_WALKS | (kind == COUNT_DTLB_WALK ? IDEAL_DTLB : 0);

	return (m->ideal & perfect) == 0;
}

/* A walk with its counts. The PMU also counts walks for prefetches. */
static uint64_t walk_page_table(struct memory *m, unsigned cpu, uint64_t key, enum count kind,
				uint64_t time)
{
	uint64_t *counts = m->cpus[cpu].counts->n;

	if (!needs_walk(m, kind))
		return 0;
	counts[COUNT_L2D_TLB_REFILL]++;
	counts[kind]++;
	return load_page_entry(m, cpu, key, time);
}

static uint64_t tlb_add(struct assoc *tlb, uint64_t key, uint64_t frame, unsigned state)
{
	struct entry lost_entry, *entry;
	uint64_t lost;

	entry = assoc_add(tlb, key, &lost, &lost_entry);
	entry->value = frame & ENTRY_VALUE;
	entry->state = state & 7;
	return frame;
}

/* Adds a page to the L2 TLB after a walk; returns its frame. */
static uint64_t add_walked_page(struct tlbs *t, struct frames *f, uint32_t process, uint64_t va,
				unsigned shift, uint64_t key, bool to_write)
{
	uint64_t frame = frame_of(f, process, va, shift, to_write);

	return tlb_add(&t->l2, key, frame,
		       frames_copies(f, process, va) ? PAGE_COPIED_ON_WRITE : PAGE_OWN);
}

/*
 * Updates the TLB entries of a page that is copied on write, or was: this store copies it, or
 * another CPU has copied it meanwhile. The page fault takes no modelled time.
 */
static void update_page_entries(struct tlbs *t, struct frames *f, uint32_t process, uint64_t va,
				unsigned shift, uint64_t key, bool to_write)
{
	struct assoc *const tables[] = { &t->itlb, &t->dtlb, &t->l2 };
	uint64_t frame = frame_of(f, process, va, shift, to_write);
	bool copies = frames_copies(f, process, va);

	for (size_t i = 0; i < COUNT(tables); i++) {
		struct entry *entry = assoc_peek(tables[i], key);

		if (entry == NULL)
			continue;
		entry->value = frame & ENTRY_VALUE;
		entry->state = copies ? PAGE_COPIED_ON_WRITE : PAGE_OWN;
	}
}

/*
 * The TLB prefetcher: after two misses at neighbouring pages it walks for the next page. Keys of
 * neighbouring pages differ by 1.
 */
static void prefetch_next(struct tlbs *t, struct frames *f, struct memory *m, unsigned cpu,
			  uint32_t process, uint64_t va, unsigned shift, uint64_t key,
			  uint64_t time)
{
	int64_t step = (int64_t)(key - t->last_page);
	bool goes_on = (step == 1 || step == -1) && step == t->last_step;
	uint64_t next = key + (uint64_t)step;

	t->last_page = key;
	t->last_step = step;
	if (!goes_on || assoc_peek(&t->l2, next) != NULL)
		return;
	walk_page_table(m, cpu, next, COUNT_DTLB_WALK, time);
	va += (uint64_t)step << shift;
	add_walked_page(t, f, process, va, shift, next, false);
}

static uint64_t address_in(uint64_t frame, uint64_t va, unsigned shift)
{
	return frame << shift | (va & (((uint64_t)1 << shift) - 1));
}

uint64_t tlb_prefetch(struct tlbs *t, struct frames *f, struct memory *m, unsigned cpu,
		      uint32_t process, uint64_t va, uint64_t time)
{
	unsigned shift = page_shift_of(m, TRANSLATE_LOAD);
	uint64_t key = tlb_key(process, va, shift);
	const struct entry *entry = assoc_peek(&t->dtlb, key);

	if (entry == NULL)
		entry = assoc_peek(&t->l2, key);
	if (entry != NULL)
		return address_in(entry->value, va, shift);
	walk_page_table(m, cpu, key, COUNT_DTLB_WALK, time);
	return address_in(add_walked_page(t, f, process, va, shift, key, false), va, shift);
}

/* The events of ITLB and DTLB. */
static const struct {
	enum count access, refill, walk;
} counted[] = {
	[TRANSLATE_LOAD] = { COUNT_L1D_TLB_RD, COUNT_L1D_TLB_REFILL_RD, COUNT_DTLB_WALK },
	[TRANSLATE_STORE] = { COUNT_L1D_TLB_WR, COUNT_L1D_TLB_REFILL_WR, COUNT_DTLB_WALK },
	[TRANSLATE_FETCH] = { COUNT_L1I_TLB, COUNT_L1I_TLB_REFILL, COUNT_ITLB_WALK },
};

static void note_walk(struct tlbs *t, uint64_t key, uint64_t end)
{
	t->walks[t->n_walks % TLB_WALKS].key = key;
	t->walks[t->n_walks % TLB_WALKS].end = end;
	t->n_walks++;
	if (end > t->last_end)
		t->last_end = end;
}

/* Cycles that a hit takes: the entry may be that of a walk which is under way. */
static uint64_t hit_cycles(const struct tlbs *t, uint64_t key, uint64_t time)
{
	uint64_t cycles = 1;

	if (time >= t->last_end)
		return cycles;
	for (size_t i = 0; i < TLB_WALKS; i++)
		if (t->walks[i].key == key && t->walks[i].end > time + cycles)
			cycles = t->walks[i].end - time;
	return cycles;
}

/* What is left of the cycles of a translation if those of other accesses are under way meanwhile. */
static uint64_t overlapped(const struct memory *m, enum translation_kind kind, uint64_t cycles)
{
	unsigned shift = kind == TRANSLATE_FETCH ? 0 : ideal_overlap_shift(m->ideal);
	uint64_t part = cycles >> shift;

	return part > 0 || cycles == 0 ? part : 1;
}

/* tlb_translate() of a page that is not in the first-level TLB; apart, so that a hit needs few registers. */
__attribute__((noinline)) static struct translation translate_miss(struct tlbs *t, struct frames *f,
								   struct memory *m, unsigned cpu,
								   uint32_t process, uint64_t va,
								   enum translation_kind kind,
								   uint64_t time)
{
	uint64_t *counts = m->cpus[cpu].counts->n;
	struct assoc *l1 = kind == TRANSLATE_FETCH ? &t->itlb : &t->dtlb;
	unsigned shift = page_shift_of(m, kind);
	uint64_t key = tlb_key(process, va, shift);
	const struct entry *entry;
	struct translation result = { .cycles = 1 };
	bool to_write = kind == TRANSLATE_STORE;
	uint64_t frame, walk_cycles;

	counts[counted[kind].refill]++;
	counts[COUNT_L2D_TLB]++;
	if (kind == TRANSLATE_FETCH || !(m->ideal & IDEAL_DTLB))
		result.cycles = overlapped(m, kind, m->params->l2tlb_cycles);
	entry = assoc_find(&t->l2, key);
	if (entry != NULL) {
		if (entry->state == PAGE_COPIED_ON_WRITE)
			update_page_entries(t, f, process, va, shift, key, to_write);
		frame = entry->value;
	} else {
		result.walked = needs_walk(m, counted[kind].walk);
		walk_cycles =
			walk_page_table(m, cpu, key, counted[kind].walk, time + result.cycles);
		result.cycles += overlapped(m, kind, walk_cycles);
		if (result.walked && kind != TRANSLATE_FETCH)
			note_walk(t, key, time + result.cycles);
		frame = add_walked_page(t, f, process, va, shift, key, to_write);
		entry = assoc_peek(&t->l2, key);
	}
	tlb_add(l1, key, frame, entry->state);
	if (m->params->tlb_prefetch && kind != TRANSLATE_FETCH)
		prefetch_next(t, f, m, cpu, process, va, shift, key, time);
	result.pa = address_in(frame, va, shift);
	return result;
}

struct translation tlb_translate(struct tlbs *t, struct frames *f, struct memory *m, unsigned cpu,
				 uint32_t process, uint64_t va, enum translation_kind kind,
				 uint64_t time)
{
	struct assoc *l1 = kind == TRANSLATE_FETCH ? &t->itlb : &t->dtlb;
	unsigned shift = page_shift_of(m, kind);
	uint64_t key = tlb_key(process, va, shift);
	const struct entry *entry = assoc_find(l1, key);
	struct translation result = { .cycles = 1 };

	m->cpus[cpu].counts->n[counted[kind].access]++;
	if (entry == NULL)
		return translate_miss(t, f, m, cpu, process, va, kind, time);
	if (entry->state == PAGE_COPIED_ON_WRITE)
		update_page_entries(t, f, process, va, shift, key, kind == TRANSLATE_STORE);
	if (kind != TRANSLATE_FETCH && !(m->ideal & (IDEAL_DTLB | IDEAL_PAGE_WALKS)))
		result.cycles = hit_cycles(t, key, time);
	result.pa = address_in(entry->value, va, shift);
	return result;
}
