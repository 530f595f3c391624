/* SPDX-License-Identifier: Apache-2.0 */
#include "unwind/unwind.h"

#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"
#include "symbol/locate.h"
#include "symbol/symbols_state.h"
#include "symbol/vdso.h"
#include "unwind/frame_rules.h"

enum { START_BYTES = 64 };

/* What differs between architectures; DWARF numbers. */
static const struct machine {
	const char *arch;
	unsigned stack_register, pc_register; /* no register of DWARF's: 0 */
	uint64_t address_mask;		      /* without signs of pointer authentication */
	uint64_t preserved;		      /* registers that functions preserve, a bit each */
	uint8_t n_registers;
	/*
	 * Where the kernel keeps all of them, in this order, while a handler of a signal runs: above
	 * the stack pointer of the code that returns from it, which is the vDSO's. 0: call frame
	 * information leads through that. AArch64: struct rt_sigframe, siginfo (128 bytes) and
	 * ucontext up to sigcontext.regs (184); its vDSO has no such information since Linux 5.8.
	 */
	uint16_t saved_by_signal;
} machines[] = {
	/* rbx, rbp, r12 to r15 */
	{ "x86_64", 7, 16, UINT64_MAX, 0xf048, 17, 0 },
	/* x19 to x29 */
	{ "aarch64", 31, 32, 0x0000ffffffffffff, 0x3ff80000, 33, 128 + 184 },
};

/* Rules are stored as words; frame_rules_read() sets all of their bytes. */
enum { RULE_WORDS = sizeof(struct frame_rules) / sizeof(uint64_t) };
_Static_assert(sizeof(struct frame_rules) % sizeof(uint64_t) == 0, "whole words");

/* The files of a module, and a cache: address → rules. */
struct unwind_file {
	bool is_tried;
	struct elf_file code, debug;
	Dwarf_CFI *by_exceptions;     /* .eh_frame */
	Dwarf *dwarf[2];	      /* of code and debug */
	Dwarf_CFI *by_debug_frame[2]; /* .debug_frame */
	struct tuples addresses;      /* address → number … */
	VEC_OF(uint32_t) rules; /* … → number in the unwinder's rules; TUPLES_NONE: none there */
};

struct unwinder {
	const struct symbols *symbols;
	const struct registers *registers;
	const struct machine *machine;
	struct unwind_file *files; /* by module */
	struct tuples rules;	   /* of RULE_WORDS words */
	struct unwind_totals totals;
};

const char *unwind_end_text(enum unwind_end end)
{
	static const char *const texts[N_UNWIND_ENDS] = {
		[UNWIND_COMPLETE] = "",
		[UNWIND_CUT] = "call chains end early: not enough of the stack was copied "
			       "(cyclops record --call-graph dwarf,BYTES copies more)",
		[UNWIND_NO_FILE] = "call chains end early: the file of the code was not found "
				   "(--symfs says where files are)",
		[UNWIND_NO_RULES] = "call chains end early: the code has no call frame "
				    "information (-fasynchronous-unwind-tables makes it)",
		[UNWIND_UNKNOWN] = "call chains end early: their call frame information could not "
				   "be followed",
		[UNWIND_DEEP] = "call chains end early: deeper than 127 calls",
	};

	return texts[end];
}

static const struct machine *unwind_find_machine(const struct registers *registers)
{
	for (size_t i = 0; registers != NULL && i < COUNT(machines); i++)
		if (strcmp(machines[i].arch, registers->arch) == 0)
			return &machines[i];
	return NULL;
}

struct unwinder *unwinder_new(const struct symbols *symbols, const struct registers *registers)
{
	struct unwinder *u = mem_zalloc(1, sizeof(*u));

	u->symbols = symbols;
	tuples_init(&u->rules, RULE_WORDS);
	u->registers = registers;
	u->machine = unwind_find_machine(registers);
	u->files = mem_zalloc(symbols->modules->list.n + 1, sizeof(*u->files));
	return u;
}

static void file_release(struct unwind_file *f)
{
	if (f->by_exceptions != NULL)
		dwarf_cfi_end(f->by_exceptions);
	for (size_t i = 0; i < COUNT(f->dwarf); i++)
		if (f->dwarf[i] != NULL)
			dwarf_end(f->dwarf[i]);
	elf_file_release(&f->code);
	elf_file_release(&f->debug);
	if (f->is_tried)
		tuples_release(&f->addresses);
	vec_release(&f->rules);
}

void unwinder_free(struct unwinder *u)
{
	if (u == NULL)
		return;
	for (size_t i = 0; i < u->symbols->modules->list.n; i++)
		file_release(&u->files[i]);
	free(u->files);
	tuples_release(&u->rules);
	free(u);
}

static void open_dwarf(struct unwind_file *f, size_t i, const struct elf_file *file)
{
	f->dwarf[i] = dwarf_begin_elf(file->elf, DWARF_C_READ, NULL);
	if (f->dwarf[i] != NULL)
		f->by_debug_frame[i] = dwarf_getcfi(f->dwarf[i]);
}

/* Each worker has files of its own, as libdw is not for several threads. */
static void unwind_open_file(const struct unwinder *u, struct unwind_file *f, struct module_id id)
{
	const struct module *module = modules_get(u->symbols->modules, id);
	const struct wanted wanted = {
		.path = strings_get(u->symbols->modules->strings, module->path),
		.build_id = module->build_id,
		.is_deleted = module->is_deleted,
	};
	const struct search *search = &u->symbols->search;
	struct refusal why = { 0 };

	f->is_tried = true;
	tuples_init(&f->addresses, 1);
	if (module->kind == MODULE_FILE)
		(void)locate_code(search, &wanted, &f->code, &why);
	else if (module->kind == MODULE_VDSO)
		(void)vdso_open(&f->code, search, &module->build_id);
	refusal_release(&why);
	if (!elf_file_is_open(&f->code) || f->code.type == ET_REL)
		return;
	f->by_exceptions = dwarf_getcfi_elf(f->code.elf);
	if (elf_file_has(&f->code, ".debug_frame"))
		open_dwarf(f, 0, &f->code);
	else if (locate_debug(search, &wanted, &f->code, &f->debug) &&
		 elf_file_has(&f->debug, ".debug_frame"))
		open_dwarf(f, 1, &f->debug);
}

static bool unwind_find_rules(const struct unwind_file *f, uint64_t address, uint64_t preserved,
			      struct frame_rules *out)
{
	if (f->by_exceptions != NULL && frame_rules_read(f->by_exceptions, address, preserved, out))
		return true;
	for (size_t i = 0; i < COUNT(f->by_debug_frame); i++)
		if (f->by_debug_frame[i] != NULL &&
		    frame_rules_read(f->by_debug_frame[i], address, preserved, out))
			return true;
	return false;
}

/* The rules at an address of the file, cached. Rules are stored once: many addresses share them. */
static bool find_rules(struct unwinder *u, struct unwind_file *f, uint64_t address,
		       struct frame_rules *out)
{
	uint32_t number = tuples_add(&f->addresses, &address);
	uint64_t words[RULE_WORDS];

	if (number == f->rules.n) {
		*vec_add(&f->rules) = TUPLES_NONE;
		if (unwind_find_rules(f, address, u->machine->preserved, out)) {
			memcpy(words, out, sizeof(words));
			f->rules.items[number] = tuples_add(&u->rules, words);
		}
	}
	if (f->rules.items[number] == TUPLES_NONE)
		return false;
	memcpy(out, tuples_get(&u->rules, f->rules.items[number]), sizeof(*out));
	return true;
}

/* State of unwinding a chain. */
struct walk {
	struct unwinder *unwinder;
	struct place_cache *cache;
	uint32_t process;
	uint64_t time_ns;
	struct frame_state state;
	enum module_kind kind; /* of the frame's code */
};

/*
 * Is it the entry code of a program or the loader (_start)? It has no caller, and often no rules.
 */
static bool is_start(const struct unwind_file *f, uint64_t address)
{
	GElf_Ehdr header;

	return gelf_getehdr(f->code.elf, &header) != NULL && address >= header.e_entry &&
	       address - header.e_entry < START_BYTES;
}

/* The module of `pc`. */
static const struct mapped_range *walk_enter(struct walk *w, uint64_t pc)
{
	const struct mapped_range *r = place_cache_look_up(w->cache, w->process, pc, w->time_ns);

	w->kind = modules_get(w->unwinder->symbols->modules, r->module)->kind;
	return r;
}

/* The rules at `pc`, which is in range `r`; false if there are none, and why. */
static bool rules_at(struct walk *w, const struct mapped_range *r, uint64_t pc,
		     struct frame_rules *out, enum unwind_end *why)
{
	struct unwind_file *f = &w->unwinder->files[r->module.v];
	uint64_t offset = mapped_range_place(r, pc).offset, address;

	*why = UNWIND_NO_RULES;
	if (w->kind != MODULE_FILE && w->kind != MODULE_VDSO)
		return false;
	if (!f->is_tried)
		unwind_open_file(w->unwinder, f, r->module);
	if (!elf_file_is_open(&f->code)) {
		*why = UNWIND_NO_FILE;
		return false;
	}
	if (!elf_file_to_address(&f->code, offset, &address))
		return false;
	if (find_rules(w->unwinder, f, address, out))
		return true;
	*why = is_start(f, address) ? UNWIND_COMPLETE : UNWIND_NO_RULES;
	return false;
}

static enum unwind_end unwind_end_of(enum frame_outcome outcome)
{
	static const enum unwind_end ends[] = {
		[FRAME_OUTERMOST] = UNWIND_COMPLETE,
		[FRAME_NO_MEMORY] = UNWIND_CUT,
		[FRAME_UNKNOWN] = UNWIND_UNKNOWN,
	};

	return ends[outcome];
}

/* From the code that returns from a handler of a signal to what the signal interrupted. */
static enum frame_outcome step_over_signal(struct walk *w, uint64_t *out_pc)
{
	const struct machine *m = w->unwinder->machine;
	uint64_t from = w->state.registers[m->stack_register] + m->saved_by_signal;
	struct frame_state interrupted = w->state;

	for (unsigned i = 0; i < m->n_registers; i++)
		if (!frame_state_read(&w->state, from + i * sizeof(uint64_t),
				      &interrupted.registers[i]))
			return FRAME_NO_MEMORY;
	interrupted.known = ((uint64_t)1 << m->n_registers) - 1;
	w->state = interrupted;
	*out_pc = interrupted.registers[m->pc_register];
	return FRAME_STEPPED;
}

/*
 * Unwinds from `pc`. The rules of a caller are those one byte below the return address, inside its
 * call; those of code that a signal interrupted are at its pc itself.
 */
static enum unwind_end unwind_follow(struct walk *w, uint64_t pc, uint64_t *out, size_t max,
				     size_t *n)
{
	const struct machine *m = w->unwinder->machine;
	bool is_exact = true;

	while (*n < max) {
		uint64_t before = w->state.registers[m->stack_register];
		uint64_t at = is_exact ? pc : pc - 1;
		enum module_kind callee = w->kind;
		const struct mapped_range *range = walk_enter(w, at);
		struct frame_rules rules;
		enum frame_outcome outcome;
		enum unwind_end end;
		bool is_signal;

		out[(*n)++] = pc;
		/* The vDSO calls nobody: who returns to it is a handler. */
		is_signal = m->saved_by_signal != 0 && !is_exact && w->kind == MODULE_VDSO &&
			    callee != MODULE_VDSO;
		if (is_signal) {
			outcome = step_over_signal(w, &pc);
		} else {
			if (!rules_at(w, range, at, &rules, &end))
				return end;
			outcome = frame_rules_apply(&rules, m->stack_register, &w->state, &pc);
			is_signal = rules.is_signal;
		}
		if (outcome != FRAME_STEPPED)
			return unwind_end_of(outcome);
		pc &= m->address_mask;
		if (pc == 0)
			return UNWIND_COMPLETE;
		/*
		 * stacks grow down: a caller's frame is above; only what was interrupted may have
		 * none, and a handler may have a stack of its own
		 */
		if (!is_signal && (w->state.registers[m->stack_register] < before ||
				   (!is_exact && w->state.registers[m->stack_register] == before)))
			return UNWIND_UNKNOWN;
		is_exact = is_signal;
	}
	return UNWIND_DEEP;
}

/* The recorded registers by their numbers in DWARF. */
static void take_registers(const struct unwinder *u, const struct batch *b, size_t row,
			   struct frame_state *out)
{
	const struct batch_stack *s = &b->user_stacks[row];

	for (unsigned i = 0; i < u->machine->n_registers; i++) {
		int number = registers_of_dwarf(u->registers, i);
		uint64_t value;

		if (number < 0 ||
		    !batch_register(b, s->registers, s->mask, (unsigned)number, &value))
			continue;
		out->registers[i] = value;
		out->known |= (uint64_t)1 << i;
	}
}

static void unwind_count(struct unwinder *u, enum unwind_end end, uint64_t position)
{
	if (u->totals.n[end]++ == 0 || position < u->totals.first_position[end])
		u->totals.first_position[end] = position;
}

size_t unwinder_chain(struct unwinder *u, struct place_cache *cache, const struct batch *b,
		      size_t row, uint32_t process, uint64_t time_ns, uint64_t *out, size_t max)
{
	const struct batch_stack *s = &b->user_stacks[row];
	const struct machine *m = u->machine;
	struct walk w = { .unwinder = u, .cache = cache, .process = process, .time_ns = time_ns };
	uint64_t needed;
	size_t n = 0;

	if (m == NULL)
		return 0;
	needed = (uint64_t)1 << m->stack_register | (uint64_t)1 << m->pc_register;
	take_registers(u, b, row, &w.state);
	if ((w.state.known & needed) != needed) {
		unwind_count(u, UNWIND_UNKNOWN, b->position[row]);
		return 0;
	}
	w.state.stack_start = w.state.registers[m->stack_register];
	w.state.stack = s->bytes;
	w.state.stack_size = s->n_bytes;
	max = max < UNWIND_MAX_FRAMES ? max : UNWIND_MAX_FRAMES;
	unwind_count(u, unwind_follow(&w, w.state.registers[m->pc_register], out, max, &n),
		     b->position[row]);
	return n;
}

const struct unwind_totals *unwinder_totals(const struct unwinder *u)
{
	return &u->totals;
}
