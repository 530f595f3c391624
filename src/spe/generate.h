/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Generates SPE records like those of a program, for tests, benchmarks and demonstrations. The same
 * options give the same records on every machine.
 */
#ifndef CYCLOPS_SPE_GENERATE_H
#define CYCLOPS_SPE_GENERATE_H

#include <stdbool.h>
#include <stdint.h>

#include "spe/encode.h"

/* Random numbers (splitmix64). Any initial state is good. */
struct spe_random {
	uint64_t state;
};

uint64_t spe_random_next(struct spe_random *);

/* A number below `n`, which is not 0. */
uint64_t spe_random_below(struct spe_random *, uint64_t n);

/* True with this probability. */
bool spe_random_chance(struct spe_random *, unsigned permille);

/* Addresses of the generated program. `size` is not 0. */
struct spe_region {
	uint64_t start, size;
};

struct spe_generate_options {
	uint64_t seed;
	struct spe_region user_text, kernel_text; /* addresses of code: multiples of 4 */
	struct spe_region user_data, kernel_data;
	unsigned kernel_permille; /* of all records: at kernel_level */
	uint8_t kernel_level;	  /* 1; with VHE 2 */
	bool with_context;	  /* context packets: thread ids */
	uint32_t first_context;	  /* … from this one on … */
	uint32_t n_contexts;	  /* … so many of them */
	bool with_pa;		  /* physical addresses of loads and stores */
	bool with_prev_target;	  /* the previous branch target */
	bool with_tags;		  /* address tags in the virtual addresses of user data */
	bool with_newer_ops;	  /* operations that perf 6.1 has no words for */
	bool with_sharing;	  /* only loads and stores, often of data in other cores' caches */
	bool with_ticks;	  /* otherwise records end with an END packet */
	uint64_t first_ticks;	  /* the time of the first record … */
	uint64_t mean_gap_ticks;  /* … and the mean difference to the next */
	uint16_t saturation;	  /* counters saturate at this value: 4095 or 65535 */
};

/* A user program with kernel code, contexts, times and physical addresses. */
extern const struct spe_generate_options spe_generate_defaults;

struct spe_generator {
	struct spe_generate_options options;
	struct spe_random random;
	uint64_t ticks;
};

void spe_generator_init(struct spe_generator *, const struct spe_generate_options *);

/* Generates the next record. */
void spe_generator_next(struct spe_generator *, struct spe_record *out);

#endif
