/* SPDX-License-Identifier: Apache-2.0 */
#include "model/params.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

#define FIELD(name, least, most)                                                                   \
	{                                                                                          \
#name, offsetof(struct params, name), least, most                                  \
	}
#define LATENCY(name, timing)                                                                      \
	{                                                                                          \
		"latency_" name, offsetof(struct params, latency) + timing * sizeof(uint32_t), 1,  \
			1000                                                                       \
	}

#define BUSY(name, timing)                                                                         \
	{                                                                                          \
		"busy_" name, offsetof(struct params, busy) + timing * sizeof(uint32_t), 1, 100    \
	}

enum {
	MOST_BYTES = 1 << 30,
	MOST_ENTRIES = 1 << 20,
	MOST_CYCLES = 10000,
	MOST_QUEUE = 512,
	MOST_UNITS = 3, /* of a kind: the units of all kinds have 16 bits */
};

static const struct field {
	const char *name;
	size_t offset;
	uint32_t least, most; /* values that the model can work with */
} fields[] = {
	FIELD(midr, 1, UINT32_MAX),
	FIELD(core_mhz, 1, 100000),
	FIELD(timer_mhz, 1, 1000),
	FIELD(n_cpus, 1, MAX_CPUS),
	FIELD(cores_per_cluster, 1, MAX_CPUS),
	FIELD(l1i_bytes, LINE_BYTES, MOST_BYTES),
	FIELD(l1i_ways, 1, 64),
	FIELD(l1d_bytes, LINE_BYTES, MOST_BYTES),
	FIELD(l1d_ways, 1, 64),
	FIELD(l2_bytes, LINE_BYTES, MOST_BYTES),
	FIELD(l2_ways, 1, 64),
	FIELD(system_cache_bytes, LINE_BYTES, MOST_BYTES),
	FIELD(system_cache_ways, 1, 64),
	FIELD(itlb_entries, 1, 64),
	FIELD(dtlb_entries, 1, 64),
	FIELD(l2tlb_entries, 1, MOST_ENTRIES),
	FIELD(l2tlb_ways, 1, 64),
	FIELD(l2_cycles, 1, MOST_CYCLES),
	FIELD(peer_core_cycles, 1, MOST_CYCLES),
	FIELD(system_cache_cycles, 1, MOST_CYCLES),
	FIELD(peer_cluster_cycles, 1, MOST_CYCLES),
	FIELD(dram_cycles, 1, MOST_CYCLES),
	FIELD(l2_finish, 0, MOST_CYCLES),
	FIELD(peer_core_finish, 0, MOST_CYCLES),
	FIELD(system_cache_finish, 0, MOST_CYCLES),
	FIELD(peer_cluster_finish, 0, MOST_CYCLES),
	FIELD(dram_finish, 0, MOST_CYCLES),
	FIELD(system_cache_spread, 0, MOST_CYCLES),
	FIELD(dram_spread, 0, MOST_CYCLES),
	FIELD(dram_line_gap, 0, MOST_CYCLES),
	FIELD(l2tlb_cycles, 1, MOST_CYCLES),
	FIELD(walk_cycles, 0, MOST_CYCLES),
	FIELD(width, 1, 16),
	FIELD(window, 1, MOST_QUEUE),
	FIELD(memory_queue, 1, MOST_QUEUE),
	FIELD(outstanding_misses, 1, MOST_QUEUE),
	FIELD(store_buffer, 1, MOST_QUEUE),
	FIELD(issue_cycles, 0, 100),
	FIELD(issue_memory_cycles, 0, 100),
	FIELD(mispredict_cycles, 0, 1000),
	FIELD(resteer_cycles, 0, 1000),
	FIELD(conditional_entries, 1, MOST_ENTRIES),
	FIELD(history_bits, 0, 32),
	FIELD(target_entries, 1, MOST_ENTRIES),
	FIELD(indirect_entries, 1, MOST_ENTRIES),
	FIELD(return_stack, 1, 64),
	FIELD(branch_units, 1, MOST_UNITS),
	FIELD(integer_units, 1, MOST_UNITS),
	FIELD(multicycle_units, 1, MOST_UNITS),
	FIELD(memory_units, 1, MOST_UNITS),
	FIELD(vector_units, 1, MOST_UNITS),
	LATENCY("alu", TIMING_ALU),
	LATENCY("alu_shifted", TIMING_ALU_SHIFTED),
	LATENCY("extract", TIMING_EXTRACT),
	LATENCY("multiply", TIMING_MULTIPLY),
	LATENCY("multiply_long", TIMING_MULTIPLY_LONG),
	LATENCY("multiply_high", TIMING_MULTIPLY_HIGH),
	LATENCY("divide", TIMING_DIVIDE),
	LATENCY("divide_long", TIMING_DIVIDE_LONG),
	LATENCY("crc", TIMING_CRC),
	LATENCY("float_add", TIMING_FLOAT_ADD),
	LATENCY("float_multiply", TIMING_FLOAT_MULTIPLY),
	LATENCY("float_fused", TIMING_FLOAT_FUSED),
	LATENCY("float_divide", TIMING_FLOAT_DIVIDE),
	LATENCY("float_root", TIMING_FLOAT_ROOT),
	LATENCY("convert", TIMING_CONVERT),
	LATENCY("convert_to_vector", TIMING_CONVERT_TO_VECTOR),
	LATENCY("convert_to_general", TIMING_CONVERT_TO_GENERAL),
	LATENCY("move_to_vector", TIMING_MOVE_TO_VECTOR),
	LATENCY("move_to_general", TIMING_MOVE_TO_GENERAL),
	LATENCY("vector", TIMING_VECTOR),
	LATENCY("vector_multiply", TIMING_VECTOR_MULTIPLY),
	LATENCY("crypto", TIMING_CRYPTO),
	LATENCY("load", TIMING_LOAD),
	LATENCY("load_vector", TIMING_LOAD_VECTOR),
	LATENCY("store", TIMING_STORE),
	LATENCY("branch", TIMING_BRANCH),
	LATENCY("system", TIMING_SYSTEM),
	BUSY("multiply_long", TIMING_MULTIPLY_LONG),
	BUSY("multiply_high", TIMING_MULTIPLY_HIGH),
	BUSY("divide", TIMING_DIVIDE),
	BUSY("divide_long", TIMING_DIVIDE_LONG),
	BUSY("float_divide", TIMING_FLOAT_DIVIDE),
	BUSY("float_root", TIMING_FLOAT_ROOT),
	FIELD(prefetch_distance, 0, 16),
	FIELD(prefetch_longest_stride, 0, 1 << 20),
	FIELD(prefetch_next_line, 0, 1),
	FIELD(tlb_prefetch, 0, 1),
	FIELD(huge_pages, 0, 1),
	FIELD(min_interval, 1, 1 << 24),
	FIELD(latency_max, 1, UINT16_MAX),
	FIELD(mux_interval_us, 1, 1000000),
	FIELD(random_periods, 0, 1),
	FIELD(skid_cycles, 0, MOST_CYCLES),
	FIELD(stack_wrong_newest, 0, 100),
	FIELD(stack_shallow, 0, 100),
	FIELD(stack_wrong_path, 0, 100),
	FIELD(interrupt_cycles, 0, 1000000000),
	FIELD(interrupt_signals, 0, 1),
	FIELD(quantum, 1, 10000000),
	FIELD(sharing_quantum, 1, 10000000),
};

static uint32_t *value_of(struct params *p, const struct field *f)
{
	return (uint32_t *)(void *)((char *)p + f->offset);
}

static uint32_t read_value(const struct params *p, size_t offset)
{
	uint32_t value;

	memcpy(&value, (const char *)p + offset, sizeof(value));
	return value;
}

static const struct field *find_field(const char *name)
{
	for (size_t i = 0; i < COUNT(fields); i++)
		if (strcmp(fields[i].name, name) == 0)
			return &fields[i];
	return NULL;
}

int params_set(struct params *p, const char *name, const char *value, struct err *err)
{
	const struct field *f = find_field(name);
	unsigned long long number;
	char *end;

	if (f == NULL)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "the model has no parameter '%s' (docs/model.md lists them)", name);
	errno = 0;
	number = strtoull(value, &end, 0);
	if (value[0] < '0' || value[0] > '9' || *end != '\0' || errno != 0 || number < f->least ||
	    number > f->most)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "parameter %s: found '%s', wanted a number from %u to %u", name,
			       value, f->least, f->most);
	*value_of(p, f) = (uint32_t)number;
	return 0;
}

/* Tables whose number of sets must be a power of two. */
static const struct shape {
	const char *name;
	size_t size;   /* offset of the field */
	size_t ways;   /* the same; SIZE_MAX: one way */
	uint32_t unit; /* of `size` in one entry */
} shapes[] = {
	{ "l1i", offsetof(struct params, l1i_bytes), offsetof(struct params, l1i_ways),
	  LINE_BYTES },
	{ "l1d", offsetof(struct params, l1d_bytes), offsetof(struct params, l1d_ways),
	  LINE_BYTES },
	{ "l2", offsetof(struct params, l2_bytes), offsetof(struct params, l2_ways), LINE_BYTES },
	{ "system_cache", offsetof(struct params, system_cache_bytes),
	  offsetof(struct params, system_cache_ways), LINE_BYTES },
	{ "l2tlb", offsetof(struct params, l2tlb_entries), offsetof(struct params, l2tlb_ways), 1 },
	{ "conditional_entries", offsetof(struct params, conditional_entries), SIZE_MAX, 1 },
	{ "target_entries", offsetof(struct params, target_entries), SIZE_MAX, 1 },
	{ "indirect_entries", offsetof(struct params, indirect_entries), SIZE_MAX, 1 },
};

static int check_shape(const struct params *p, const struct shape *s, struct err *err)
{
	uint32_t size = read_value(p, s->size);
	uint32_t ways = s->ways == SIZE_MAX ? 1 : read_value(p, s->ways);
	uint32_t sets = size / s->unit / ways;

	if (sets > 0 && (sets & (sets - 1)) == 0 && sets * ways * s->unit == size)
		return 0;
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "parameter %s: %u in %u ways do not make a power of two of sets", s->name,
		       size, ways);
}

int params_check(const struct params *p, struct err *err)
{
	for (size_t i = 0; i < COUNT(fields); i++)
		if (read_value(p, fields[i].offset) < fields[i].least)
			return err_set(err, ERR_USAGE, ERR_NOWHERE, "parameter %s is missing",
				       fields[i].name);
	for (size_t i = 0; i < COUNT(shapes); i++)
		if (check_shape(p, &shapes[i], err) < 0)
			return -1;
	return 0;
}
