/* SPDX-License-Identifier: Apache-2.0 */
#include "model/tlb.h"

#include "base/alloc.h"

/* Physical memory begins at 2 GiB, as on the servers modelled. */
static const uint64_t first_frame = 0x80000000 >> PAGE_SHIFT;

/* Page table entries have lines of their own, far from all frames. */
static const uint64_t page_table_line = (uint64_t)1 << 62;

enum { ENTRIES_PER_LINE_SHIFT = LINE_SHIFT - 3, PROCESS_SHIFT = 53, HUGE_KEY = 52 };

/* `state` of an entry: a page whose frame changes when it is written. */
enum { PAGE_OWN, PAGE_COPIED_ON_WRITE };

/* The frame, of that size, that holds an address. A huge frame may hold small pages of code. */
static uint64_t frame_of(struct frames *f, uint32_t process, uint64_t va, unsigned shift,
			 bool to_write)
{
	uint64_t number = to_write ? frames_write(f, process, va) : frames_get(f, process, va);
	uint64_t pa = (first_frame << PAGE_SHIFT) + (number << f->shift);

	return (pa + (va & (((uint64_t)1 << f->shift) - 1))) >> shift;
}

/* log2 of the size of the page that an access is in. */
static unsigned shift_of(const struct memory *m, enum translation_kind kind)
{
	bool are_huge = m->params->huge_pages || m->ideal & IDEAL_HUGE_PAGES;

	return are_huge && kind != TRANSLATE_FETCH ? HUGE_PAGE_SHIFT : PAGE_SHIFT;
}

static uint64_t key_of(uint32_t process, uint64_t va, unsigned shift)
{
	return va >> shift | (uint64_t)(shift == HUGE_PAGE_SHIFT) << HUGE_KEY |
	       (uint64_t)process << PROCESS_SHIFT;
}

void tlbs_init(struct tlbs *t, const struct params *p)
{
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

/* All pages of a size. Beyond some number everything goes, as Linux does it. */
static void forget_pages(struct tlbs *t, uint32_t process, uint64_t start, uint64_t end,
			 unsigned shift)
{
	enum { MOST_PAGES = 512 };
	struct assoc *const tables[] = { &t->itlb, &t->dtlb, &t->l2 };
	bool are_many = (end - start) >> shift > MOST_PAGES;

	for (size_t i = 0; i < COUNT(tables); i++) {
		if (are_many)
			assoc_reset(tables[i]);
		for (uint64_t va = start; va < end && !are_many; va += (uint64_t)1 << shift)
			assoc_remove(tables[i], key_of(process, va, shift));
	}
}

void tlbs_forget(struct tlbs *t, uint32_t process, uint64_t start, uint64_t end)
{
	forget_pages(t, process, start, end, PAGE_SHIFT);
	forget_pages(t, process, start, end, HUGE_PAGE_SHIFT);
}

void tlbs_forget_process(struct tlbs *t, uint32_t process)
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
 * Loads the page's entry of the last level of the page table: neighbouring pages have theirs in
 * one line. The levels above fit the walker's own caches; `walk_cycles` stands for them.
 */
static uint64_t walk(struct memory *m, unsigned cpu, uint64_t key, uint64_t time)
{
	uint64_t line = page_table_line + (key >> ENTRIES_PER_LINE_SHIFT);
	uint64_t start = time + m->params->walk_cycles;

	return memory_access(m, cpu, line, ACCESS_WALK, start).ready - time;
}

/* Is the page table walked for pages that no TLB has? `kind`: whose walks are counted. */
static bool walks(const struct memory *m, enum count kind)
{
	uint32_t perfect = IDEAL_PAGE_WALKS | (kind == COUNT_DTLB_WALK ? IDEAL_DTLB : 0);

	return (m->ideal & perfect) == 0;
}

/* The PMU does not tell the walks of a prefetcher from others. */
static uint64_t walk_counted(struct memory *m, unsigned cpu, uint64_t key, enum count kind,
			     uint64_t time)
{
	uint64_t *counts = m->cpus[cpu].counts->n;

	if (!walks(m, kind))
		return 0;
	counts[COUNT_L2D_TLB_REFILL]++;
	counts[kind]++;
	return walk(m, cpu, key, time);
}

static uint64_t keep(struct assoc *tlb, uint64_t key, uint64_t frame, unsigned state)
{
	struct entry lost_entry, *entry;
	uint64_t lost;

	entry = assoc_add(tlb, key, &lost, &lost_entry);
	entry->value = frame & ENTRY_VALUE;
	entry->state = state & 7;
	return frame;
}

/* Brings what comes from the page table into the second level. */
static uint64_t keep_walked(struct tlbs *t, struct frames *f, uint32_t process, uint64_t va,
			    unsigned shift, uint64_t key, bool to_write)
{
	uint64_t frame = frame_of(f, process, va, shift, to_write);

	return keep(&t->l2, key, frame,
		    frames_copies(f, process, va) ? PAGE_COPIED_ON_WRITE : PAGE_OWN);
}

/*
 * The page is copied on write, or was: a store makes the copy now, and another CPU may have made
 * it since. The system does that; no time is modelled for it.
 */
static void refresh(struct tlbs *t, struct frames *f, uint32_t process, uint64_t va, unsigned shift,
		    uint64_t key, bool to_write)
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
 * Misses that go from page to page: the next one's translation is fetched before it is needed.
 * A key of the next page is that of this one and 1, up or down.
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
	walk_counted(m, cpu, next, COUNT_DTLB_WALK, time);
	va += (uint64_t)step << shift;
	keep_walked(t, f, process, va, shift, next, false);
}

static uint64_t address_in(uint64_t frame, uint64_t va, unsigned shift)
{
	return frame << shift | (va & (((uint64_t)1 << shift) - 1));
}

uint64_t tlb_prefetch(struct tlbs *t, struct frames *f, struct memory *m, unsigned cpu,
		      uint32_t process, uint64_t va, uint64_t time)
{
	unsigned shift = shift_of(m, TRANSLATE_LOAD);
	uint64_t key = key_of(process, va, shift);
	const struct entry *entry = assoc_peek(&t->dtlb, key);

	if (entry == NULL)
		entry = assoc_peek(&t->l2, key);
	if (entry != NULL)
		return address_in(entry->value, va, shift);
	walk_counted(m, cpu, key, COUNT_DTLB_WALK, time);
	return address_in(keep_walked(t, f, process, va, shift, key, false), va, shift);
}

/* Counts of a first-level TLB. */
static const struct {
	enum count access, refill, walk;
} counted[] = {
	[TRANSLATE_LOAD] = { COUNT_L1D_TLB_RD, COUNT_L1D_TLB_REFILL_RD, COUNT_DTLB_WALK },
	[TRANSLATE_STORE] = { COUNT_L1D_TLB_WR, COUNT_L1D_TLB_REFILL_WR, COUNT_DTLB_WALK },
	[TRANSLATE_FETCH] = { COUNT_L1I_TLB, COUNT_L1I_TLB_REFILL, COUNT_ITLB_WALK },
};

struct translation tlb_translate(struct tlbs *t, struct frames *f, struct memory *m, unsigned cpu,
				 uint32_t process, uint64_t va, enum translation_kind kind,
				 uint64_t time)
{
	uint64_t *counts = m->cpus[cpu].counts->n;
	struct assoc *l1 = kind == TRANSLATE_FETCH ? &t->itlb : &t->dtlb;
	unsigned shift = shift_of(m, kind);
	bool is_huge = shift == HUGE_PAGE_SHIFT;
	uint64_t key =
		va >> shift | (uint64_t)is_huge << HUGE_KEY | (uint64_t)process << PROCESS_SHIFT;
	const struct entry *entry = assoc_find(l1, key);
	struct translation result = { .cycles = 1 };
	bool to_write = kind == TRANSLATE_STORE;
	uint64_t frame;

	counts[counted[kind].access]++;
	if (entry != NULL) {
		if (entry->state == PAGE_COPIED_ON_WRITE)
			refresh(t, f, process, va, shift, key, to_write);
		frame = entry->value;
	} else {
		counts[counted[kind].refill]++;
		counts[COUNT_L2D_TLB]++;
		if (kind == TRANSLATE_FETCH || !(m->ideal & IDEAL_DTLB))
			result.cycles = m->params->l2tlb_cycles;
		entry = assoc_find(&t->l2, key);
		if (entry != NULL) {
			if (entry->state == PAGE_COPIED_ON_WRITE)
				refresh(t, f, process, va, shift, key, to_write);
			frame = entry->value;
		} else {
			result.walked = walks(m, counted[kind].walk);
			result.cycles +=
				walk_counted(m, cpu, key, counted[kind].walk, time + result.cycles);
			frame = keep_walked(t, f, process, va, shift, key, to_write);
			entry = assoc_peek(&t->l2, key);
		}
		keep(l1, key, frame, entry->state);
		if (m->params->tlb_prefetch && kind != TRANSLATE_FETCH)
			prefetch_next(t, f, m, cpu, process, va, shift, key, time);
	}
	result.pa = address_in(frame, va, shift);
	return result;
}
