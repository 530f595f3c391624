/* SPDX-License-Identifier: Apache-2.0 */
/* What c2c finds out of a capture: lines of data, accesses to them, what it costs, a verdict. */
#ifndef CYCLOPS_C2C_ACCESSES_RESULT_H
#define CYCLOPS_C2C_ACCESSES_RESULT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "access/kind.h"
#include "base/vec.h"
#include "c2c/accesses/accesses.h"
#include "c2c/accesses/near.h"
#include "c2c/lines/counts.h"
#include "c2c/lines/lines.h"
#include "scan/spe_filters.h"
#include "session/names.h"
#include "table/table.h"

/* What lines are ordered by; and which come first if not all are shown. */
enum c2c_sort {
	C2C_SORT_COST,	/* cycles lost to contention, then contended loads */
	C2C_SORT_COUNT, /* contended loads, as perf c2c does */
	C2C_SORT_RECORDS,
	C2C_SORT_STORES,
	C2C_SORT_ADDRESS,
	C2C_N_SORTS,
};

/* What rows of a line's breakdown differ by, besides their offset. */
enum c2c_coalesce {
	C2C_BY_PLACE = 1,
	C2C_BY_PROCESS = 2,
	C2C_BY_THREAD = 4,
	C2C_BY_MODULE = 8,
};

enum { C2C_LINE_BYTES_MAX = 4096 }; /* offsets in a line have 16 bits */

struct c2c_request {
	int mode;	     /* enum c2c_mode; -1: by the architecture */
	uint64_t line_bytes; /* 0: that of the CPU */
	bool is_double;	     /* pairs of lines count as one, as some prefetchers fetch them */
	size_t top;	     /* lines and findings to show; 0: all that are shared */
	enum c2c_sort sort;
	unsigned coalesce;    /* enum c2c_coalesce; 0: C2C_BY_PLACE */
	bool by_physical;     /* see there; an error if the capture has no physical addresses */
	unsigned vector_bits; /* of SVE, where records do not say it; 0: not known */
	/*
	 * Look at other lines, too: those of the objects on these, and others on which there may be
	 * objects like these.
	 */
	bool with_objects;
	/* Only lines that loads waited for: others are not looked at, nor counted, which takes less time (c2c/sieved.h). */
	bool only_waiting;
	/* Nothing else is asked of the capture: it is unmapped while its looks are judged. */
	bool is_last;
	bool without_index; /* the scans decode most records for others anyway: the first one notes nothing for them */
	/*
	 * Of lines only costs, names, and of judgements what c2c_is_in_phases() asks: neither verdicts nor instances, and no accesses of lines whose
	 * names do not depend on them. All places of the session have names (session/names.h).
	 */
	bool only_phases;
};

enum c2c_verdict {
	C2C_UNKNOWN,
	C2C_FALSE,	   /* threads touch different bytes, at least one writes */
	C2C_TRUE,	   /* they meet on the same bytes */
	C2C_READ_ONLY,	   /* nobody was seen writing, or not while others used it */
	C2C_SINGLE_THREAD, /* one thread, or one after the other */
};

/* Why a verdict was not found, or with which reservation. */
enum c2c_reason {
	C2C_SURE,
	C2C_FEW_SAMPLES,
	C2C_NO_STORES,	     /* the capture holds no stores at all */
	C2C_STORES_LEFT_OUT, /* not all of its stores may have been let through: filters, --select */
	C2C_UNSEEN_STORES,   /* loads found it modified, but no store was sampled */
	C2C_SIZES_UNKNOWN,   /* accesses may overlap, their sizes are not known */
	C2C_VECTORS_UNKNOWN, /* … because that of vectors of SVE is not */
	C2C_PARTS_UNKNOWN,   /* … because it is not known which elements of a vector they are */
	C2C_ONE_BY_ONE,	     /* several threads, each after the other */
	C2C_OTHER_TIMES,     /* loads waited, but not when others were seen to write */
	C2C_IN_PHASES,	     /* threads use it at once, but not those that write */
};

/* What the verdict rests on. */
struct c2c_judgement {
	enum c2c_verdict verdict;
	enum c2c_reason reason;
	bool is_both;	      /* false and true sharing, each with its part */
	double false_part;    /* of what is contended: by stores to other bytes; 0 … 1 */
	uint32_t n_threads;   /* that accessed the line */
	uint32_t n_writers;   /* … wrote to it */
	uint32_t n_processes; /* … and the processes they are of */
	uint32_t n_writes;    /* sampled stores and atomics */
	uint32_t n_waited;    /* sampled loads that waited: contended ones, and reloads */
	uint32_t n_victims;   /* sampled accesses that the verdict is about: those, or else all */
	bool has_lock;	      /* atomics or exclusives: a lock, or another word for synchronising */
	bool is_guarded;    /* … a lock of several threads, and the data that they use under it */
	bool is_common;	    /* stores to other bytes matter, but apart loads would wait as often */
	uint32_t n_atomics; /* of n_writes: those that are atomics */
};

/* What the instruction at a place does: all zero if that is not known. */
struct c2c_instruction {
	uint16_t bytes;	   /* 0: not known */
	uint16_t scalable; /* … because it grows with the vectors: those of 128 bits; 0: does not */
	uint8_t kind;	   /* enum c2c_kind */
	bool is_load, is_store;
	bool is_scattered; /* gathers or scatters: elements may be anywhere */
};

/* How far an access reaches, and how it is made. */
struct c2c_extent {
	uint16_t least, most; /* bytes: as many as are sure, as many as there may be */
	uint8_t kind;	      /* enum c2c_kind, of the record and of the instruction */
	bool lacks_length;    /* they differ because the length of vectors is not known */
	bool is_scattered;    /* other bytes of the line may be accessed, below the address, too */
};

/* How many bytes that are; 0: not known. */
static inline uint16_t c2c_extent_bytes(const struct c2c_extent *e)
{
	return e->least == e->most ? e->least : 0;
}

/* A row of a line's breakdown: touches that stand one behind the other. */
struct c2c_access {
	uint16_t offset;
	uint16_t size; /* bytes; 0: not known */
	uint8_t kind;  /* enum c2c_kind, of the record and of the instruction */
	uint32_t place;
	uint32_t first_touch, n_touches; /* in accesses_seen */
	uint32_t n_threads, n_processes, n_cpus;
	uint64_t pc; /* of its first touch */
};

/* A line that is looked at: one that is shown, or one of an object that may be. */
struct c2c_subject {
	uint32_t space;
	uint64_t address;
	uint32_t line; /* its number in c2c_touch_key; TUPLES_NONE: nothing was done to it */
	uint32_t first_access, n_accesses; /* in sharing.accesses */
	uint32_t first_touch, n_touches;   /* in accesses_seen */
	struct c2c_counts counts;	   /* of all its touches */
	struct c2c_latency contended;	   /* of its loads that the mode is about */
	struct c2c_latency reloads;	   /* of others that waited for what others wrote */
	int64_t excess_cycles;		   /* of both, as sampled, over what a local hit takes */
	double share, error; /* of the latency of all sampled loads; half of its 95 % interval */
	double reload_share, reload_error; /* the part of reloads, and its own interval */
	uint32_t n_pages;		   /* physical ones that it was seen in; 0: not recorded */
	bool may_be_contended;		   /* by what the first look counted, on its own */
	struct c2c_judgement judgement;
};

struct c2c_causes;
struct c2c_objects;
struct c2c_instances;

struct c2c {
	struct session *session;
	struct c2c_request request; /* with what it left open filled in */
	struct c2c_options options;
	struct c2c_lines *lines;
	struct c2c_choice choice;
	struct c2c_accesses *accesses_seen;
	struct c2c_near near;
	struct address_index *index;	      /* of the first look, for the others; NULL: none */
	struct analysis looks[2];	      /* what the scans are asked for */
	struct names names;		      /* of the places of all accesses */
	const struct names *known;	      /* NULL, or what is looked up already: not owned */
	struct c2c_instruction *instructions; /* by place */
	bool *is_named; /* by place: it has a name and an instruction, if they are known */

	VEC_OF(struct c2c_subject) subjects; /* in order */
	VEC_OF(struct c2c_subject) around;   /* lines of their objects: what was done, no more */
	VEC_OF(struct c2c_access) accesses;  /* by line (subjects, then around), then offset */
	struct c2c_objects *objects;	     /* of all accesses */
	struct c2c_instances *instances;     /* NULL: not asked for */
	struct c2c_causes *causes;	     /* of the subjects; NULL: not asked for */

	uint64_t n_lines;	 /* of the capture */
	uint64_t n_shared_lines; /* with contended loads, or written and used by several threads */
	uint64_t n_candidates;	 /* lines that could be shown */
	struct c2c_counts total, shared; /* of everything; of lines with peer or HITM loads */
	bool may_have_findings;		 /* by what the first look counted */
	uint64_t n_contended_lines;
	uint64_t n_lines_left_out; /* around those, accessed too often for all of it to be kept */
	bool by_mapping;	   /* data_names_are_of_mappings(), where nobody asks for more */
	bool lacks_stores;	   /* filters or --select may have left some out */
	bool selects_stores;	   /* --select does */
	enum spe_stores stores;	   /* what filters did */
	uint64_t local_cycles;	   /* median latency of loads that hit the own L1; 0: not known */
	unsigned own_cache_lines;  /* that a core can keep */
	uint64_t minimum_cycles;   /* faster loads were not recorded; 0: all were */
	double interval;	   /* operations or events that a record stands for; 0: not known */
	uint64_t first_ns, last_ns; /* of what was scanned */
};

/* A line of those that were looked at: number in the choice. */
static inline const struct c2c_subject *c2c_line_at(const struct c2c *s, size_t number)
{
	return number < s->subjects.n ? &s->subjects.items[number]
				      : &s->around.items[number - s->subjects.n];
}

/* What an access did, all its touches together. */
void c2c_access_sum(const struct c2c *, const struct c2c_access *, struct c2c_touch *out);

/* Records of a line by slice of time: session->slices.n of them. */
static inline const uint64_t *c2c_slices(const struct c2c *s, size_t subject)
{
	size_t line = s->subjects.items[subject].line;

	return s->accesses_seen->slices + line * s->session->slices.n;
}

/* Did threads use it at other times than those that wrote? */
static inline bool c2c_is_in_phases(const struct c2c_judgement *j)
{
	return j->reason == C2C_ONE_BY_ONE || j->reason == C2C_IN_PHASES;
}

/* Loads of the line that were seen to wait for other threads. */
static inline uint64_t c2c_waited(const struct c2c_subject *subject, enum c2c_mode mode)
{
	return c2c_contended(&subject->counts, mode) + subject->reloads.n;
}

/* Does an access of this kind write, or is it part of a lock? */
static inline bool c2c_kind_writes(unsigned kind)
{
	return (kind & (C2C_KIND_STORE | C2C_KIND_ATOMIC)) != 0;
}

/* What it counts as. */
static inline enum memory_kind c2c_memory_kind(unsigned kind)
{
	if (kind & C2C_KIND_ATOMIC)
		return MEMORY_ATOMIC;
	return kind & C2C_KIND_STORE ? MEMORY_STORE : MEMORY_LOAD;
}

#endif
