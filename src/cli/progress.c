/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/progress.h"

#include <inttypes.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "base/alloc.h"
#include "cli/message.h"

enum {
	FIRST_AFTER_MS = 500, /* shorter work is not shown */
	EACH_MS = 100,
	LONGEST_BAR = 40,
	LEAST_BAR = 5,
	NS_PER_MS = 1000000,
};

/* What is drawn, by a thread of its own. */
struct shower {
	struct progress progress; /* first: what others have is a pointer to it */
	pthread_t thread;
	pthread_mutex_t lock; /* of all below */
	pthread_cond_t woken;
	bool is_over, is_drawn;
	const char *doing; /* what it saw last, and when that began */
	uint64_t began_ns;
};

static uint64_t now_ns(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 * NS_PER_MS + (uint64_t)t.tv_nsec;
}

/* " 12 s left", " 3 min left"; nothing before it is known. */
static void put_time_left(const struct progress_state *s, struct text *out)
{
	uint64_t seconds;

	if (s->done < s->total / 100 || s->done == 0)
		return;
	seconds = (uint64_t)((double)s->elapsed_ns / 1e9 * (double)(s->total - s->done) /
				     (double)s->done +
			     0.5);
	if (seconds < 100)
		text_format(out, "  %" PRIu64 " s left", seconds);
	else
		text_format(out, "  %" PRIu64 " min left", (seconds + 30) / 60);
}

void progress_line(const struct progress_state *state, unsigned width, struct text *out)
{
	struct progress_state s = *state;
	struct text rest = { 0 };
	size_t first = out->n, room, bar, full;

	s.done = s.done < s.total ? s.done : s.total;
	text_format(&rest, "  %3.0f %%", s.total > 0 ? 100 * (double)s.done / (double)s.total : 0);
	put_time_left(&s, &rest);
	text_str(out, s.doing);
	room = out->n - first + rest.n + 4; /* "  [" and "]" */
	bar = room < width ? width - room : 0;
	bar = bar < LONGEST_BAR ? bar : LONGEST_BAR;
	if (bar >= LEAST_BAR) {
		full = s.total > 0 ? (size_t)((double)bar * (double)s.done / (double)s.total) : 0;
		text_str(out, "  [");
		text_repeat(out, '#', full);
		text_repeat(out, '.', bar - full);
		text_char(out, ']');
	}
	text_add(out, rest.bytes, rest.n);
	if (out->n - first > width)
		out->n = first + width;
	text_release(&rest);
}

static void write_all(const struct text *t)
{
	ssize_t written = write(STDERR_FILENO, t->bytes, t->n);

	(void)written; /* nothing to be done about it */
}

static void erase(struct shower *s)
{
	static const char bytes[] = "\r\033[K";

	if (s->is_drawn) {
		ssize_t written = write(STDERR_FILENO, bytes, sizeof(bytes) - 1);

		(void)written;
	}
	s->is_drawn = false;
}

/* With the lock: what is hidden is not drawn again. */
static void draw(struct shower *s)
{
	const char *doing = atomic_load(&s->progress.doing);
	struct progress_state state = {
		.doing = doing,
		.done = atomic_load(&s->progress.done),
		.total = atomic_load(&s->progress.total),
	};
	struct text line = { 0 };

	if (doing != s->doing)
		s->began_ns = now_ns();
	s->doing = doing;
	state.elapsed_ns = now_ns() - s->began_ns;
	if (doing == NULL || state.elapsed_ns < (uint64_t)FIRST_AFTER_MS * NS_PER_MS)
		return;
	text_char(&line, '\r');
	progress_line(&state, output_width(stderr) - 1, &line);
	text_str(&line, "\033[K");
	write_all(&line);
	text_release(&line);
	s->is_drawn = true;
}

static void *show(void *shower)
{
	struct shower *s = shower;

	pthread_mutex_lock(&s->lock);
	while (!s->is_over) {
		uint64_t next_ns = now_ns() + (uint64_t)EACH_MS * NS_PER_MS;
		const struct timespec next = {
			.tv_sec = (time_t)(next_ns / (1000 * (uint64_t)NS_PER_MS)),
			.tv_nsec = (long)(next_ns % (1000 * (uint64_t)NS_PER_MS)),
		};

		pthread_cond_timedwait(&s->woken, &s->lock, &next);
		if (!s->is_over)
			draw(s);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static void hide(struct progress *p)
{
	struct shower *s = (struct shower *)p;

	pthread_mutex_lock(&s->lock);
	erase(s);
	s->doing = NULL;
	pthread_mutex_unlock(&s->lock);
}

struct progress *progress_show(void)
{
	pthread_condattr_t attributes;
	struct shower *s;

	if (!isatty(STDERR_FILENO))
		return NULL;
	s = mem_zalloc(1, sizeof(*s));
	s->progress.hide = hide;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&s->woken, &attributes);
	pthread_condattr_destroy(&attributes);
	if (pthread_create(&s->thread, NULL, show, s) == 0)
		return &s->progress;
	pthread_cond_destroy(&s->woken);
	pthread_mutex_destroy(&s->lock);
	free(s);
	return NULL;
}

void progress_close(struct progress *p)
{
	struct shower *s = (struct shower *)p;

	if (p == NULL)
		return;
	progress_end(p);
	pthread_mutex_lock(&s->lock);
	s->is_over = true;
	pthread_cond_signal(&s->woken);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->woken);
	pthread_mutex_destroy(&s->lock);
	free(s);
}
