/* SPDX-License-Identifier: Apache-2.0 */
#include "run/what_if.h"

#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"

/* Of a program of several threads each takes a run. */
enum { MOST_QUESTIONS = 4 };

/* Two runs of a program may differ by so much: by what the clock and the kernel tell it. */
static const double most_difference = 0.02;

const char what_if_none[] = "none";

bool run_asks_for_findings(const struct run_command *c)
{
	return c->model && c->what_if == NULL && c->sweep == NULL;
}

void run_questions(const struct findings *found, struct text *out)
{
	const char *asked[MOST_QUESTIONS];
	size_t n = 0;

	for (size_t i = 0; i < found->list.n && n < MOST_QUESTIONS; i++) {
		const struct finding *f = found->list.items[i];
		const char *ideal = finding_what_if(f);
		size_t k = 0;

		if (ideal == NULL || f->function == NULL || f->module == NULL)
			continue;
		while (k < n && strcmp(asked[k], ideal) != 0)
			k++;
		if (k < n)
			continue;
		asked[n++] = ideal;
		text_format(out, "%s%s", n > 1 ? "," : "", ideal);
	}
}

bool run_is_same_program(const struct gains *gains, const struct counts *counts,
			 const struct cpu_pmu *pmu)
{
	const struct count *cycles =
		pmu == NULL || pmu->cycles == NULL ? NULL : counts_find(counts, pmu->cycles->name);
	double now = gains->runs.n > 0 ? (double)gains->runs.items[0].cpu_cycles : 0;

	return cycles != NULL && cycles->value > 0 &&
	       fabs(now - cycles->value) <= most_difference * cycles->value;
}

int64_t run_input_position(void)
{
	struct stat st;

	if (fstat(STDIN_FILENO, &st) < 0 || !S_ISREG(st.st_mode))
		return -1;
	return lseek(STDIN_FILENO, 0, SEEK_CUR);
}

void quiet_begin(struct quiet *q, int64_t input_start)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	fflush(NULL);
	for (int fd = 0; fd < (int)COUNT(q->saved); fd++) {
		q->saved[fd] = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
		if (fd != STDIN_FILENO || input_start < 0)
			dup2(nothing, fd);
	}
	if (input_start >= 0)
		lseek(STDIN_FILENO, input_start, SEEK_SET);
	if (nothing > STDERR_FILENO)
		close(nothing);
}

void quiet_end(struct quiet *q)
{
	for (int fd = 0; fd < (int)COUNT(q->saved); fd++) {
		if (q->saved[fd] < 0)
			continue;
		dup2(q->saved[fd], fd);
		close(q->saved[fd]);
	}
}
