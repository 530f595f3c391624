/* SPDX-License-Identifier: Apache-2.0 */
/* Code of BPF programs, through bpf(). */
#include "record/synthesize/synthesize.h"

#include <errno.h>
#include <linux/bpf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/alloc.h"

enum {
	KSYMBOL_BPF = 1,      /* PERF_RECORD_KSYMBOL_TYPE_BPF */
	FUNCTIONS_MAX = 4096, /* limit for a program; the kernel's is 256 */
	NAME_SIZE = 64,
};

/* The functions of a program. */
struct functions {
	uint64_t *addresses;
	uint32_t *lengths;
	uint8_t (*tags)[BPF_TAG_SIZE];
	uint32_t n;
};

static int synthesize_bpf_call(const struct synthesis *s, enum bpf_cmd command,
			       union bpf_attr *attr)
{
	return s->kernel->bpf(s->kernel->context, (int)command, attr, sizeof(*attr));
}

/* All bytes of the union that a command does not use must be zero. */
static union bpf_attr zero_attr(void)
{
	union bpf_attr attr;

	memset(&attr, 0, sizeof(attr));
	return attr;
}

/* The next program; false if there is none or this user may not list them. */
static bool next_program(const struct synthesis *s, uint32_t *id)
{
	union bpf_attr attr = zero_attr();

	attr.start_id = *id;
	if (synthesize_bpf_call(s, BPF_PROG_GET_NEXT_ID, &attr) < 0)
		return false;
	*id = attr.next_id;
	return true;
}

static int open_program(const struct synthesis *s, uint32_t id)
{
	union bpf_attr attr = zero_attr();

	attr.prog_id = id;
	return synthesize_bpf_call(s, BPF_PROG_GET_FD_BY_ID, &attr);
}

static int read_info(const struct synthesis *s, int fd, struct bpf_prog_info *info)
{
	union bpf_attr attr = zero_attr();

	attr.info.bpf_fd = (uint32_t)fd;
	attr.info.info = (uintptr_t)info;
	attr.info.info_len = sizeof(*info);
	return synthesize_bpf_call(s, BPF_OBJ_GET_INFO_BY_FD, &attr);
}

/* False if nothing was compiled or addresses are hidden from this user. */
static bool read_functions(const struct synthesis *s, int fd, struct bpf_prog_info *info,
			   struct functions *out)
{
	struct bpf_prog_info all = { 0 };
	uint32_t n;

	if (read_info(s, fd, info) < 0)
		return false;
	n = info->nr_jited_ksyms;
	if (n == 0 || n > FUNCTIONS_MAX || info->nr_jited_func_lens != n || info->nr_prog_tags != n)
		return false;
	out->addresses = mem_zalloc(n, sizeof(*out->addresses));
	out->lengths = mem_zalloc(n, sizeof(*out->lengths));
	out->tags = mem_zalloc(n, sizeof(*out->tags));
	out->n = n;
	all.nr_jited_ksyms = all.nr_jited_func_lens = all.nr_prog_tags = n;
	all.jited_ksyms = (uintptr_t)out->addresses;
	all.jited_func_lens = (uintptr_t)out->lengths;
	all.prog_tags = (uintptr_t)out->tags;
	return read_info(s, fd, &all) == 0;
}

/* The name as in the kernel's symbols. bpf() does not give names of functions after the first. */
static void name_function(const struct functions *f, uint32_t i, const char *program,
			  char name[NAME_SIZE])
{
	int n = snprintf(name, NAME_SIZE, "bpf_prog_");

	for (size_t k = 0; k < BPF_TAG_SIZE; k++)
		n += snprintf(name + n, (size_t)(NAME_SIZE - n), "%02x", f->tags[i][k]);
	if (i > 0)
		snprintf(name + n, (size_t)(NAME_SIZE - n), "_F");
	else if (program[0] != '\0')
		snprintf(name + n, (size_t)(NAME_SIZE - n), "_%s", program);
}

static void write_program(const struct synthesis *s, int fd)
{
	struct bpf_prog_info info = { 0 };
	struct functions f = { 0 };
	char program[BPF_OBJ_NAME_LEN + 1] = "", name[NAME_SIZE];

	if (read_functions(s, fd, &info, &f)) {
		memcpy(program, info.name, BPF_OBJ_NAME_LEN);
		for (uint32_t i = 0; i < f.n; i++) {
			struct record_ksymbol symbol = {
				.address = f.addresses[i],
				.length = f.lengths[i],
				.type = KSYMBOL_BPF,
				.name = name,
			};

			name_function(&f, i, program, name);
			if (symbol.address != 0 && symbol.length != 0)
				writer_ksymbol(s->writer, &symbol, NULL);
		}
	}
	free(f.addresses);
	free(f.lengths);
	free(f.tags);
}

void synthesize_bpf(struct synthesis *s)
{
	uint32_t id = 0;

	while (next_program(s, &id)) {
		int fd = open_program(s, id);

		if (fd >= 0) {
			write_program(s, fd);
			s->kernel->close(s->kernel->context, fd);
		} else if (fd != -ENOENT) { /* unless the program has been unloaded since */
			return;
		}
	}
}
