/* SPDX-License-Identifier: Apache-2.0 */
/* The open events of a recording, and the rings that the kernel writes their records to. */
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
#include "record/ring/ring.h"

/* In place of a thread: all threads, or a thread that has ended. */
#define RECORDING_ALL_THREADS (-1)

/* The first entries of `polls` are for the caller's descriptors; -1: not used. */
enum { RECORDING_POLLS = 2 };

/* An open event. */
struct recording_fd {
	int fd;
	size_t event; /* index in `events` */
	uint32_t cpu;
	int32_t thread;
	uint64_t id;
	bool is_leader;
};

/* The ring of one CPU. */
struct stream {
	uint32_t cpu;
	int fd; /* of the event that owns the ring */
	struct ring ring;
	struct aux_ring aux;
	size_t aux_event; /* the SPE event that fills the AUX buffer */
};

struct recording {
	const struct kernel *kernel;
	const struct record_options *options;
	const char *root; /* where /proc is read; "" for this machine */
	struct diags *diags;
	struct record_events *events;
	VEC_OF(struct recording_fd) fds;
	VEC_OF(struct stream) streams;
	VEC_OF(struct pollfd) polls; /* RECORDING_POLLS of the caller, then those of events */
	size_t n_live;		     /* events that have not hung up */
	bool is_cgroup;		     /* `threads` are file descriptors of cgroups */
	struct cpu_list cpus;	     /* with all events; other CPUs have the side-band alone */
	/* SPE events are not started again when their buffer was full */
	bool is_stopped;

	/* Totals of what was drained so far. */
	uint64_t n_samples, n_records_lost, aux_bytes, n_aux, n_aux_truncated, n_aux_collided;
	uint64_t first_ns, last_ns; /* times of samples; 0, 0: none */
	int time_word; /* index of a sample's word with the time, behind the header; -1: none */
};

/*
 * Opens all events for the threads (RECORDING_ALL_THREADS: one entry) on the CPUs, and maps their
 * rings. On the other CPUs of `online` only an event for the side-band alone is opened, if there is
 * one, without switches: programs may have been started or mapped there. Threads that have ended
 * are skipped; fails if none is left. Notes what the kernel refused and was given up.
 *
 * The lists are borrowed until recording_release(), which is to be called also after a failure.
 */
int recording_open(struct recording *out, const int32_t *threads, size_t n_threads,
		   const struct cpu_list *cpus, const struct cpu_list *online, struct err *);
void recording_release(struct recording *);

/* Enable the event of the side-band; all others. recording_disable() disables all. */
void recording_enable_side_band(struct recording *);
void recording_enable(struct recording *);
void recording_disable(struct recording *);

/* Stops or starts the SPE events. */
void recording_hold_spe(struct recording *, bool is_held);

/*
 * Writes what the rings hold to the file and ends the round. In snapshot mode AUX buffers are left
 * alone. SPE events that the kernel stopped because their buffer was full are started again, unless
 * all events are disabled or SPE is held. Returns the number of bytes written.
 */
uint64_t recording_drain(struct recording *, struct writer *);

/* Snapshot mode: writes the content of the AUX buffers. */
void recording_snapshot(struct recording *, struct writer *);

/*
 * Waits until a ring is to be read, an event ends or one of the caller's descriptors is ready, at
 * most timeout_ms. Returns false if all events have ended.
 */
bool recording_wait(struct recording *, int timeout_ms);

/*
 * Writes how many samples of each event found no room in their ring, as the kernel counts them: LOST records do not say
 * what was lost behind the last one. Returns how many all are; 0 if the kernel does not count them.
 */
uint64_t recording_write_lost(const struct recording *, struct writer *);

/*
 * The parts of the time that events of cycle accounting were counted, the least and the most of them; 0, 0:
 * not known.
 */
void recording_counted(const struct recording *, double *out_least, double *out_most);

/* How the timer's ticks become nanoseconds of the perf clock; false if the kernel does not say. */
bool recording_time_conv(const struct recording *, struct record_time_conv *out);

#endif
