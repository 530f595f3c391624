/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Chains of an AArch64 program out of copied stacks, on any machine. The stack is laid out here as
 * the program does it: usage: unwind-test ROOT, where ROOT/opt/kernels/steady is the program. It
 * has main() in kernel_main(), called by _start(), and calls add_up(), which has no frame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/format/sample.h"
#include "capture/writer/writer.h"
#include "hot/sums/sums.h"
#include "scan/scan.h"

#define BIT(n) ((uint64_t)1 << (n))

enum {
	PID = 100,
	USER_MODE = 2,
	ABI_32 = 1,
	ABI_64 = 2,
	N_REGISTERS = 33,
	LINK = 30,
	SP = 31,
	PC = 32,
	TEXT = 0x400000,
	TEXT_BYTES = 0x1000,
	IN_ADD_UP = 0x400190,
	BEHIND_CALL_IN_MAIN = 0x400264,	 /* of add_up */
	BEHIND_CALL_IN_START = 0x4002ac, /* of kernel_main */
	FRAME_WORDS = 8,
	STACK_WORDS = 96,
	SIGNAL_WORDS = 80,		  /* below the frames while a handler runs */
	SAVED_WORD = (128 + 176 + 8) / 8, /* siginfo; uc_mcontext in ucontext; regs in it */
	VDSO = 0x500000,
};

#define STACK 0x7ffc00001000u

static const char *root;

/* From the stack pointer on: the frame of kernel_main (48 bytes), then that of _start. */
static const uint64_t frames[FRAME_WORDS] = {
	STACK + 48, BEHIND_CALL_IN_START, 0x19, 0x20, 0x21, 0, 0, 0,
};

struct snapshot {
	uint64_t registers[N_REGISTERS];
	uint64_t abi;
	uint64_t stack[STACK_WORDS];
	size_t stack_bytes;
};

static struct snapshot snapshot_of_test(void)
{
	struct snapshot s = { .abi = ABI_64, .stack_bytes = sizeof(frames) };

	memcpy(s.stack, frames, sizeof(frames));
	s.registers[LINK] = BEHIND_CALL_IN_MAIN;
	s.registers[SP] = STACK;
	s.registers[PC] = IN_ADD_UP;
	return s;
}

/* add_up() is also the handler of a signal that came in add_up(): as the kernel of AArch64 lays it out. */
static struct snapshot snapshot_in_handler(void)
{
	struct snapshot s = snapshot_of_test();
	uint64_t *saved = &s.stack[SAVED_WORD];
	uint64_t above = STACK + SIGNAL_WORDS * sizeof(uint64_t);

	memset(s.stack, 0, sizeof(s.stack));
	memcpy(saved, s.registers, sizeof(s.registers));
	saved[SP] = above;
	memcpy(&s.stack[SIGNAL_WORDS], frames, sizeof(frames));
	s.stack[SIGNAL_WORDS] = above + 48;
	s.registers[LINK] = VDSO + 0x200;
	s.stack_bytes = sizeof(s.stack);
	return s;
}

static struct writer *open_writer(const char *path)
{
	static const uint64_t id = 1;
	struct writer_event event = { .name = "cycles", .ids = &id, .n_ids = 1 };
	struct writer *w = NULL;
	struct err err;

	event.attr.sample_type = BIT(SAMPLE_IP) | BIT(SAMPLE_TID) | BIT(SAMPLE_TIME) |
				 BIT(SAMPLE_IDENTIFIER) | BIT(SAMPLE_REGS_USER) |
				 BIT(SAMPLE_STACK_USER);
	event.attr.sample_regs_user = BIT(N_REGISTERS) - 1;
	event.attr.sample_stack_user = STACK_WORDS * sizeof(uint64_t);
	event.attr.sample_period = 1;
	event.attr.flags = BIT(ATTR_SAMPLE_ID_ALL);
	assert_int_equal(writer_open(path, &event, 1, &w, &err), 0);
	return w;
}

static void write_capture(const char *path, const struct snapshot *s)
{
	struct writer *w = open_writer(path);
	struct sample sample = {
		.id = 1,
		.ip = s->registers[PC],
		.pid = PID,
		.tid = PID,
		.time_ns = 1000,
		.user_regs_abi = s->abi,
		.user_regs = { (const uint8_t *)s->registers, N_REGISTERS },
		.user_stack = (const uint8_t *)s->stack,
		.user_stack_size = sizeof(s->stack),
		.user_stack_used = s->stack_bytes,
	};
	struct err err;

	writer_feature_string(w, FEATURE_ARCH, "aarch64");
	writer_comm(w, &(struct record_comm){ .pid = PID, .tid = PID, .comm = "steady" }, NULL);
	writer_mmap2(w,
		     &(struct record_mmap){ .pid = PID,
					    .tid = PID,
					    .start = TEXT,
					    .length = TEXT_BYTES,
					    .protection = 5,
					    .path = "/opt/kernels/steady" },
		     USER_MODE, NULL);
	writer_mmap2(w,
		     &(struct record_mmap){ .pid = PID,
					    .tid = PID,
					    .start = VDSO,
					    .length = TEXT_BYTES,
					    .protection = 5,
					    .path = "[vdso]" },
		     USER_MODE, NULL);
	writer_sample(w, 0, USER_MODE, &sample);
	assert_int_equal(writer_close(w, &err), 0);
}

/* Names of some places are those that they have among all; the others have none. */
static void check_few_names(struct session *s, const struct names *all)
{
	bool *wanted = mem_zalloc(all->n + 1, sizeof(*wanted));
	struct names few;

	for (uint32_t place = 1; place < all->n; place += 2)
		wanted[place] = true;
	names_init_few(&few, s, wanted, SYMBOLS_FUNCTIONS, NULL);
	assert_int_equal(few.n, all->n);
	for (uint32_t place = 0; place < all->n; place++)
		assert_int_equal(few.symbols[place].function.v,
				 wanted[place] ? all->symbols[place].function.v : 0);
	names_release(&few);
	free(wanted);
}

/* Appends the names of the chain's functions, innermost first, each followed by a blank. */
static void put_chain(struct session *s, const struct hot *hot, struct text *out)
{
	struct names names;
	uint64_t key[N_DIMENSIONS];

	names_init(&names, s, NULL, SYMBOLS_FUNCTIONS);
	check_few_names(s, &names);
	hot_key(hot, hot_next(hot, 0), key);
	for (uint64_t frame = key[DIM_FRAME]; frame != 0;
	     frame = tuples_get(&s->frames, (uint32_t)frame)[0]) {
		uint64_t place = tuples_get(&s->frames, (uint32_t)frame)[1];

		text_str(out, names_function(&names, (uint32_t)place));
		text_char(out, ' ');
	}
	names_release(&names);
}

static void put_notes(const struct session *s, struct text *out)
{
	const struct diags *diags = capture_diags(s->capture);

	for (size_t i = 0; i < diags->list.n; i++)
		text_str(out, diags->list.items[i].text);
}

/* What is made of it: the chain, then what is said of chains that end early. */
static char *unwind(const struct snapshot *snapshot, const char *symfs)
{
	const struct hot_options options = {
		.event = -1,
		.dimensions = 1u << DIM_EVENT | 1u << DIM_PLACE | 1u << DIM_FRAME,
	};
	struct analysis hot = { .class = &hot_class, .options = &options };
	char path[] = "/tmp/cyclops-unwind-XXXXXX";
	struct session_options session_options = { .path = path, .n_workers = 2 };
	struct session s = { 0 };
	struct text text = { 0 };
	struct err err = { .text = "" };
	int fd = mkstemp(path);

	assert_true(fd >= 0);
	close(fd);
	write_capture(path, snapshot);
	session_options.symbols.symfs = symfs;
	if (session_open(&s, &session_options, &err) < 0)
		fail_msg("%s", err.text);
	scan(&s, NULL, &hot, 1);
	put_chain(&s, hot.result, &text);
	put_notes(&s, &text);
	text_char(&text, '\0');
	hot_class.free(hot.result);
	session_release(&s);
	unlink(path);
	return text.bytes;
}

static void expect(const struct snapshot *s, const char *symfs, const char *chain, const char *note)
{
	char *found = unwind(s, symfs);

	if (strncmp(found, chain, strlen(chain)) != 0 || strstr(found, note) == NULL ||
	    (note[0] == '\0' && strlen(found) != strlen(chain)))
		fail_msg("found \"%s\", not \"%s…%s\"", found, chain, note);
	free(found);
}

static void test_complete(void **state)
{
	struct snapshot s = snapshot_of_test();

	(void)state;
	expect(&s, root, "add_up kernel_main _start ", "");
	/* Signed with pointer authentication, as CPUs do it that can. */
	s.registers[LINK] |= 0x0035000000000000;
	expect(&s, root, "add_up kernel_main _start ", "");
}

static void test_early_ends(void **state)
{
	struct snapshot s = snapshot_of_test();

	(void)state;
	s.stack_bytes = 8;
	expect(&s, root, "add_up kernel_main ", "not enough of the stack was copied");
	s.stack_bytes = 0;
	expect(&s, root, "add_up kernel_main ", "not enough of the stack was copied");
	s = snapshot_of_test();
	s.registers[LINK] = 0x10;
	expect(&s, root, "add_up [unknown] ", "no call frame information");
	s = snapshot_of_test();
	expect(&s, "/nonexistent", "[unknown] ", "the file of the code was not found");
}

/* The kernel's vDSO has no call frame information for the return from a handler; nor is it at hand elsewhere. */
static void test_signals(void **state)
{
	struct snapshot s = snapshot_in_handler();

	(void)state;
	expect(&s, root, "add_up [unknown] add_up kernel_main _start ", "");
	s.stack_bytes = (SAVED_WORD + PC) * sizeof(uint64_t); /* all but the interrupted pc */
	expect(&s, root, "add_up [unknown] ", "not enough of the stack was copied");
	/* Who is interrupted in the vDSO itself is in no handler. */
	s = snapshot_in_handler();
	s.registers[PC] = VDSO + 0x100;
	expect(&s, root, "[unknown] ", "the file of the code was not found");
}

/* Nothing is made of 32-bit code, whose registers have other numbers. */
static void test_other_code(void **state)
{
	struct snapshot s = snapshot_of_test();

	(void)state;
	s.abi = ABI_32;
	expect(&s, root, "", "");
}

int main(int argc, char **argv)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_complete),
		cmocka_unit_test(test_early_ends),
		cmocka_unit_test(test_signals),
		cmocka_unit_test(test_other_code),
	};

	if (argc != 2) {
		fprintf(stderr, "usage: unwind-test ROOT\n");
		return 2;
	}
	root = argv[1];
	return cmocka_run_group_tests(tests, NULL, NULL);
}
