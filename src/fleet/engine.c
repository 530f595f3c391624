/* SPDX-License-Identifier: Apache-2.0 */
#include "fleet/engine.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/mapped.h"
#include "base/nearest.h"

extern char **environ;

enum { ENGINE_ARGUMENTS = 32, ENGINE_LAST_WORDS = 600 };

static const char *const duckdb_arguments[] = { "-init", "/dev/null",  "-batch", "-bail",
						"-csv",	 "-nullvalue", "",	 NULL };
static const char *const spark_arguments[] = {
	"--master",
	"@MASTER@",
	"--conf",
	"spark.sql.cli.print.header=true",
	"--conf",
	"spark.log.level=ERROR",
	"--conf",
	"spark.sql.catalogImplementation=in-memory", /* no database of tables in this folder */
	"--conf",
	"spark.sql.sources.partitionColumnTypeInference.enabled=false",
	"--conf",
	"spark.ui.enabled=false",
	"--class",
	"org.apache.spark.sql.hive.thriftserver.SparkSQLCLIDriver",
	"spark-internal",
	"-S",
	"-f",
	"@SCRIPT@",
	NULL,
};
static const char *const clickhouse_arguments[] = {
	"local", "--multiquery", "--format", "CSVWithNames", NULL,
};

static const struct engine engines[] = {
	{ "duckdb", "duckdb", &dialect_duckdb, duckdb_arguments, false, "", NULL,
	  "`pip install duckdb-cli` brings it" },
	{ "spark", "spark-submit", &dialect_spark, spark_arguments, true, "NULL", "Response code\n",
	  "it is a part of Spark: `pip install pyspark`, and Java" },
	{ "clickhouse", "clickhouse", &dialect_clickhouse, clickhouse_arguments, false, "", NULL,
	  "clickhouse.com/docs/install says how to get it" },
};

static const char *engine_name_at(const void *context, size_t i)
{
	(void)context;
	return i < COUNT(engines) ? engines[i].name : NULL;
}

const struct engine *engine_find(const char *name, struct err *err)
{
	char names[64];

	for (size_t i = 0; i < COUNT(engines); i++)
		if (name == NULL || strcmp(engines[i].name, name) == 0)
			return &engines[i];
	err_set(err, ERR_USAGE, ERR_NOWHERE, "--engine: there is no engine '%s'; there are %s",
		name, list_words(engine_name_at, NULL, names, sizeof(names)));
	return NULL;
}

/* Where the three streams of the program go. */
struct streams {
	FILE *script, *messages;
	int answer[2]; /* a pipe */
};

static int streams_open(struct streams *s, const struct text *script, struct err *err)
{
	*s = (struct streams){ .answer = { -1, -1 } };
	s->script = temporary_file(err);
	s->messages = s->script != NULL ? temporary_file(err) : NULL;
	if (s->messages == NULL)
		return -1;
	if (fwrite(script->bytes, 1, script->n, s->script) != script->n || fflush(s->script) != 0 ||
	    lseek(fileno(s->script), 0, SEEK_SET) < 0 || pipe2(s->answer, O_CLOEXEC) < 0)
		return err_set(err, ERR_IO, ERR_NOWHERE, "cannot hand on a question: %s",
			       strerror(errno));
	return 0;
}

static void streams_close(struct streams *s)
{
	if (s->script != NULL)
		fclose(s->script);
	if (s->messages != NULL)
		fclose(s->messages);
	for (int i = 0; i < 2; i++)
		if (s->answer[i] >= 0)
			close(s->answer[i]);
}

/* Starts the program. 0: an error that says how to get it. */
static pid_t start_engine(const struct engine *e, const char *program, const char *master,
			  const struct streams *s, struct err *err)
{
	static char script[] = "/dev/stdin";
	char *argv[ENGINE_ARGUMENTS + 2];
	posix_spawn_file_actions_t actions;
	pid_t pid = 0;
	size_t n = 0;
	int failed;

	argv[n++] = mem_strndup(program, strlen(program));
	for (const char *const *a = e->arguments; *a != NULL; a++) {
		const char *word = strcmp(*a, "@MASTER@") == 0	 ? master
				   : strcmp(*a, "@SCRIPT@") == 0 ? script
								 : *a;

		argv[n++] = mem_strndup(word, strlen(word));
	}
	argv[n] = NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, fileno(s->script), STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, s->answer[1], STDOUT_FILENO);
	posix_spawn_file_actions_adddup2(&actions, fileno(s->messages), STDERR_FILENO);
	failed = posix_spawnp(&pid, program, &actions, NULL, argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	while (n > 0)
		free(argv[--n]);
	if (failed != 0) {
		err_set(err, ERR_IO, ERR_NOWHERE,
			"%s: %s; %s, or --print-sql prints the question for any other", program,
			strerror(failed), e->remedy);
		return 0;
	}
	return pid;
}

/* Reads the answer to its end, or to the most that is read. */
static int read_answer(int fd, struct text *out, struct err *err)
{
	for (;;) {
		ssize_t n = read(fd, text_room(out, 1 << 16), 1 << 16);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return err_set(err, ERR_IO, ERR_NOWHERE, "cannot read the answer: %s",
				       strerror(errno));
		if (n == 0)
			return 0;
		out->n += (size_t)n;
		if (out->n > ENGINE_MOST_BYTES)
			return err_set(
				err, ERR_UNSUPPORTED, ERR_NOWHERE,
				"the answer has more than %d MiB: ask for fewer rows (--top)",
				ENGINE_MOST_BYTES >> 20);
	}
}

/* The last that the program said, without control characters. */
static void last_words(FILE *messages, char out[ENGINE_LAST_WORDS + 1])
{
	long size = fseek(messages, 0, SEEK_END) == 0 ? ftell(messages) : 0;
	size_t n;

	if (size > ENGINE_LAST_WORDS)
		fseek(messages, -ENGINE_LAST_WORDS, SEEK_END);
	else
		rewind(messages);
	n = fread(out, 1, ENGINE_LAST_WORDS, messages);
	for (size_t i = 0; i < n; i++)
		if ((unsigned char)out[i] < ' ')
			out[i] = ' ';
	while (n > 0 && out[n - 1] == ' ')
		n--;
	out[n] = '\0';
}

static int wait_for(const struct engine *e, pid_t pid, const struct streams *s, int rc,
		    struct err *err)
{
	char words[ENGINE_LAST_WORDS + 1];
	int status = 0;

	if (rc < 0)
		kill(pid, SIGTERM);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (rc < 0 || (WIFEXITED(status) && WEXITSTATUS(status) == 0))
		return rc;
	last_words(s->messages, words);
	return err_set(err, ERR_IO, ERR_NOWHERE, "%s failed: %s", e->name,
		       words[0] != '\0' ? words : "it says nothing");
}

int engine_run(const struct engine *e, const char *program, const char *master,
	       const struct text *script, struct text *out, struct err *err)
{
	struct streams streams;
	int rc = streams_open(&streams, script, err);
	pid_t pid = 0;

	if (rc == 0)
		pid = start_engine(e, program != NULL ? program : e->program,
				   master != NULL ? master : "local[*]", &streams, err);
	if (pid > 0) {
		close(streams.answer[1]);
		streams.answer[1] = -1;
		rc = wait_for(e, pid, &streams, read_answer(streams.answer[0], out, err), err);
	}
	streams_close(&streams);
	return pid > 0 ? rc : -1;
}
