/* SPDX-License-Identifier: Apache-2.0 */
/* The open events of a recording, and the memory in which their records come. */
#ifndef CYCLOPS_RECORD_RECORDING_H
#define CYCLOPS_RECORD_RECORDING_H

#include <stdbool.h>
#include <stdint.h>

#include "base/diag.h"
#include "base/vec.h"
#include "capture/writer/writer.h"
#include "pmu/kernel.h"
#include "record/events.h"
#include "record/record.h"
#include "record/ring.h"

/* All threads; or a thread that is no more. */
#define RECORDING_ALL_THREADS (-1)

/* Descriptors that the caller waits for as well: -1 or what he sets. */
enum { RECORDING_POLLS = 2 };

/* An open event. */
struct recording_fd {
	int fd;
	size_t event; /* number in `events` */
	uint32_t cpu;
	int32_t thread;
	uint64_t id;
	bool is_leader;
};

/* What comes from one CPU. */
struct stream {
	uint32_t cpu;
	int fd; /* of the event that owns the ring */
	struct ring ring;
	struct aux_ring aux;
	size_t aux_event; /* the SPE event that fills it */
};

struct recording {
	const struct kernel *kernel;
	const struct record_options *options;
	const char *root; /* where /proc is looked at */
	struct diags *diags;
	struct record_events *events;
	VEC_OF(struct recording_fd) fds;
	VEC_OF(struct stream) streams;
	VEC_OF(struct pollfd) polls; /* RECORDING_POLLS of the caller's, then those of events */
	size_t n_live;		     /* of the latter that have not hung up */
	bool is_cgroup;		     /* "threads" are directories of cgroups */
	struct cpu_list cpus;	     /* on which all events are; elsewhere the side-band alone */
	bool is_stopped;	     /* nothing is to start events by itself */

	/* Of what was drained so far. */
	uint64_t n_samples, n_records_lost, aux_bytes, n_aux, n_aux_truncated, n_aux_collided;
	uint64_t first_ns, last_ns; /* times of samples; 0, 0: none */
	int time_word; /* where a sample's time is, in 64-bit words behind its header */
};

/*
 * Opens all events for the threads (RECORDING_ALL_THREADS: one entry) on the CPUs, and maps
 * their rings. On the other CPUs of `online` the event that brings the side-band is opened alone,
 * if it is one of its own: what runs here may have been started and mapped there. Switches there
 * are of no use and do not come. Threads that have ended meanwhile are passed over; fails if none
 * is left. What had to be given up is noted. The lists are borrowed until the release. `out` is to
 * be released also after a failure.
 */
int recording_open(struct recording *out, const int32_t *threads, size_t n_threads,
		   const struct cpu_list *cpus, const struct cpu_list *online, struct err *);
void recording_release(struct recording *);

/* Enables the event that brings the side-band, or all others; disables all. */
void recording_enable_side_band(struct recording *);
void recording_enable(struct recording *);
void recording_disable(struct recording *);

/* Stops or starts SPE events alone. */
void recording_hold_spe(struct recording *, bool is_held);

/*
 * Moves what came into the file, and ends the round. Whole AUX buffers in snapshot mode are
 * left alone. The kernel stops an SPE event whose buffer is full: it is started again, unless all
 * were disabled or SPE is held. Returns the bytes moved.
 */
uint64_t recording_drain(struct recording *, struct writer *);

/* Snapshot mode: writes what the AUX buffers hold. */
void recording_snapshot(struct recording *, struct writer *);

/*
 * Waits for rings to fill, events to end or the caller's own descriptors, at most that long. Ended ones are
 * not looked at again. Returns false if all have ended.
 */
bool recording_wait(struct recording *, int timeout_ms);

/* Samples that events could not place in a ring, as the kernel counts them; 0: it does not. */
uint64_t recording_lost_samples(const struct recording *);

/* How ticks become time on this machine; false if the kernel does not say. */
bool recording_time_conv(const struct recording *, struct record_time_conv *out);

#endif
