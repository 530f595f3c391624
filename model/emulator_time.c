/* SPDX-License-Identifier: Apache-2.0 */
/* Relocations: System V ABI, "Dynamic Linking". */
#include "model/emulator_time.h"

#include <link.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include "base/alloc.h"

enum { NS_PER_SECOND = 1000000000, N_CLOCKS = 12 };

static modelled_time_function *modelled_time;
static int64_t begin_ns[N_CLOCKS]; /* the host's clocks when the program started */

static int64_t real_ns(clockid_t clock)
{
	struct timespec t = { 0 };

	clock_gettime(clock, &t);
	return (int64_t)t.tv_sec * NS_PER_SECOND + t.tv_nsec;
}

/* Is it a clock of elapsed time? The others count CPU time. */
static bool is_elapsed_clock(clockid_t clock)
{
	return clock != CLOCK_PROCESS_CPUTIME_ID && clock != CLOCK_THREAD_CPUTIME_ID;
}

static int64_t modelled_ns(clockid_t clock, const struct modelled_time *now)
{
	return is_elapsed_clock(clock) ? begin_ns[clock] + (int64_t)now->elapsed_ns
				       : (int64_t)now->busy_ns;
}

static int modelled_clock_gettime(clockid_t clock, struct timespec *out)
{
	struct modelled_time now;
	int64_t ns;

	if (clock < 0 || clock >= N_CLOCKS || !modelled_time(&now))
		return clock_gettime(clock, out);
	ns = modelled_ns(clock, &now);
	out->tv_sec = ns / NS_PER_SECOND;
	out->tv_nsec = ns % NS_PER_SECOND;
	return 0;
}

static int modelled_gettimeofday(struct timeval *out, void *zone)
{
	struct timespec t;

	(void)zone;
	modelled_clock_gettime(CLOCK_REALTIME, &t);
	out->tv_sec = t.tv_sec;
	out->tv_usec = t.tv_nsec / 1000;
	return 0;
}

/* Searches the relocations of the emulator for a function. */
struct search {
	const char *name;
	void **slot; /* holds the address that is called; NULL: not found */
};

/* Tables named by a program's dynamic section. */
struct dynamic {
	const ElfW(Sym) * symbols;
	const char *names;
	const ElfW(Rela) * relocations[2]; /* of calls, and of data */
	size_t sizes[2];
};

static struct dynamic read_dynamic(const ElfW(Dyn) * d)
{
	struct dynamic out = { 0 };

	for (; d->d_tag != DT_NULL; d++) {
		void *at = (void *)d->d_un.d_ptr;

		if (d->d_tag == DT_SYMTAB)
			out.symbols = at;
		else if (d->d_tag == DT_STRTAB)
			out.names = at;
		else if (d->d_tag == DT_JMPREL)
			out.relocations[0] = at;
		else if (d->d_tag == DT_PLTRELSZ)
			out.sizes[0] = d->d_un.d_val;
		else if (d->d_tag == DT_RELA)
			out.relocations[1] = at;
		else if (d->d_tag == DT_RELASZ)
			out.sizes[1] = d->d_un.d_val;
	}
	return out;
}

/* For dl_iterate_phdr(). The first object is the program itself; 1 ends the iteration. */
static int search_program(struct dl_phdr_info *info, size_t size, void *context)
{
	struct search *search = context;
	struct dynamic d = { 0 };

	(void)size;
	for (size_t i = 0; i < info->dlpi_phnum; i++)
		if (info->dlpi_phdr[i].p_type == PT_DYNAMIC)
			d = read_dynamic(
				(const void *)(info->dlpi_addr + info->dlpi_phdr[i].p_vaddr));
	if (d.symbols == NULL || d.names == NULL)
		return 1;
	for (size_t table = 0; table < COUNT(d.sizes); table++) {
		const ElfW(Rela) *r = d.relocations[table];

		for (size_t n = d.sizes[table] / sizeof(*r); n > 0; n--, r++)
			if (strcmp(d.names + d.symbols[ELF64_R_SYM(r->r_info)].st_name,
				   search->name) == 0)
				search->slot = (void *)(info->dlpi_addr + r->r_offset);
	}
	return 1;
}

static bool redirect(const char *name, void *function)
{
	struct search search = { .name = name };
	uintptr_t page_size = (uintptr_t)sysconf(_SC_PAGESIZE);
	void *page;

	dl_iterate_phdr(search_program, &search);
	if (search.slot == NULL)
		return false;
	page = (void *)((uintptr_t)search.slot & ~(page_size - 1));
	if (mprotect(page, page_size, PROT_READ | PROT_WRITE) < 0)
		return false;
	*search.slot = function;
	mprotect(page, page_size, PROT_READ); /* as before (RELRO) */
	return true;
}

bool emulator_time_install(modelled_time_function *function)
{
	modelled_time = function;
	for (clockid_t clock = 0; clock < N_CLOCKS; clock++) /* in seconds: runs differ less */
		begin_ns[clock] = real_ns(clock) / NS_PER_SECOND * NS_PER_SECOND;
	return redirect("clock_gettime", (void *)modelled_clock_gettime) &&
	       redirect("gettimeofday", (void *)modelled_gettimeofday);
}

int64_t emulator_time_ahead(clockid_t clock, const struct modelled_time *now)
{
	if (clock < 0 || clock >= N_CLOCKS || !is_elapsed_clock(clock))
		return 0;
	return real_ns(clock) - modelled_ns(clock, now);
}
