/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Time in page faults, by call chains: samples below the kernel's entry for a fault, and whose code had it. Only where
 * the kernel was sampled and its functions have names.
 */
#ifndef CYCLOPS_REPORT_PAGE_FAULTS_H
#define CYCLOPS_REPORT_PAGE_FAULTS_H

#include <stdbool.h>
#include <stdint.h>

#include "findings/finding.h"
#include "hot/sums/chains.h"
#include "session/names.h"

struct page_faults;

/* Of places with these names, which are borrowed. */
struct page_faults *page_faults_new(const struct names *);
void page_faults_free(struct page_faults *);

/*
 * Adds samples that have one call chain. `user` is the place of the program's own code in it, or where there is none the
 * first outside of the kernel.
 */
void page_faults_add(struct page_faults *, const struct chained_group *, uint32_t user,
		     uint64_t weight);

/* What the faults come to. */
struct page_fault_sums {
	uint64_t weight, n;	    /* of samples */
	enum finding_faults faults; /* what most of that time is for */
	double faults_part;	    /* and how much of it */
	uint32_t place;		    /* the instruction with most, of the function with most */
	double function_part;	    /* of the weight, that this function has */
};

/* False: no sample is of a fault. */
bool page_faults_sums(const struct page_faults *, struct page_fault_sums *out);

/* The weight that the function of a place has itself, in faults. */
uint64_t page_faults_of_function(const struct page_faults *, uint32_t place);

#endif
