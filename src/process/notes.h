/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Side-band records of pass 1, kept as notes of 32 bytes until the end of the file, when they can
 * be sorted by time.
 */
#ifndef CYCLOPS_PROCESS_NOTES_H
#define CYCLOPS_PROCESS_NOTES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/strings.h"
#include "base/tuples.h"
#include "base/vec.h"
#include "capture/format/record.h"
#include "process/cover.h"
#include "process/switches.h"

enum note_kind {
	NOTE_SEEN,		/* thread tid belongs to process pid */
	NOTE_FORK,		/* other_pid, other_tid made pid, tid */
	NOTE_FORK_WITHOUT_MAPS, /* synthesized by perf: the mappings come as records of their own */
	NOTE_EXIT,
	NOTE_COMM, /* text: the name */
	NOTE_EXEC, /* the same, by exec(): the address space is new */
	NOTE_MAP,  /* map: number in `maps` */
	NOTE_KERNEL_MAP,
	NOTE_KSYMBOL,
	NOTE_KSYMBOL_GONE,
	N_NOTE_KINDS,
};

struct note {
	uint64_t time_ns; /* without a time: its position in the file, until notes_sort() */
	enum note_kind kind : 8;
	bool has_time : 1;
	uint32_t pid, tid;
	union {
		struct {
			uint32_t other_pid, other_tid;
		};
		struct str_id text;
		uint32_t map;
	};
};

struct map_note {
	struct range range;
	uint64_t page_offset;
	struct str_id path;
	uint32_t map_flags;
	uint32_t build_id; /* number in `build_ids`, 0: none */
	bool is_data;
};

/* Something in the kernel of a virtual machine, for all of the capture. */
struct guest_note {
	uint32_t
		pid; /* of the process that is the machine; 0: of all that have none of their own */
	struct range range;
	uint64_t page_offset; /* of the kernel's image: address of its reference symbol */
	struct str_id path;
};

enum { NOTES_KNOWN = 4096 };

struct known_thread {
	uint32_t tid, pid; /* 0: none */
};

struct notes {
	VEC_OF(struct guest_note) guests;
	VEC_OF(struct note) list;
	VEC_OF(struct map_note) maps;
	VEC_OF(struct build_id) build_ids; /* 0 is no build-id */
	struct tuples build_id_words;	   /* the bytes of each; numbers are those in `build_ids` */
	bool have_times;		   /* at least one note has a time */
	struct tuples tids;		   /* tid → number … */
	VEC_OF(uint32_t) pids;		   /* … → pid that it was last seen with */
	struct known_thread known[NOTES_KNOWN]; /* copies, by some bits of the tid */
	struct switches *switches;		/* these three are borrowed */
	struct strings *strings;
	struct diags *diags;
};

void notes_init(struct notes *, struct switches *, struct strings *, struct diags *);
void notes_release(struct notes *);

/* Makes notes of a record of any type; most types need none. */
void notes_take(struct notes *, const struct record *, const struct sample_id *);

/* Adds a mapping as if there had been a record of it, behind all others. */
void notes_map(struct notes *, const struct note *, const struct map_note *);

/* The same for a guest's kernel. */
void notes_map_guest(struct notes *, const struct guest_note *);

/*
 * By time, then by arrival. Notes without a time come first, at time 0; but where no note has
 * a time, as in captures of a single thread, their positions take the place of times.
 */
void notes_sort(struct notes *);

#endif
