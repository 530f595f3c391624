/* SPDX-License-Identifier: Apache-2.0 */
/* Straight code of many cache lines: a core that waits for instructions, and for nothing else. */
#include "kernel/loops/emit.h"
#include "kernel/loops/inside.h"

static int prepare_lines_of_code(struct microbenchmark_run *r, struct err *err)
{
	size_t n = r->values[LINES];
	struct emitter e = { .architecture = MICROBENCHMARK_ARCHITECTURE };

	if (run_take_memory(r, (n + 1) * LINE_BYTES, true, err) < 0)
		return -1;
	e.at = r->memory;
	for (size_t i = 0; i < n; i++)
		emit_line_of_moves(&e);
	emit_loop_end(&e, r->memory);
	emit_return(&e);
	emit_done(r->memory, r->memory_bytes);
	return 0;
}

void run_emitted(struct microbenchmark_run *r)
{
	((emitted_function *)(uintptr_t)r->memory)(r->values[ITERATIONS], NULL);
}

const struct microbenchmark microbenchmark_code = {
	.name = "code",
	.iteration = "all lines of straight code, moves of constants to registers",
	.proves = "misses of instruction caches and TLBs, front-end stalls",
	.parameters = {
		ITERATIONS_RANGE(10000),
		[LINES] = { 64, 1, 1 << 22 },
		[HUGE_PAGES] = { 0, 0, 1 },
	},
	.n_arrays = 1,
	.architectures = ON_ALL,
	.prepare = prepare_lines_of_code,
	.run = run_emitted,
};
