/* SPDX-License-Identifier: Apache-2.0 */
#include "counting/control.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"

static int bad_control(const char *text, struct err *err)
{
	return err_set(err, ERR_USAGE, ERR_NOWHERE,
		       "--control %s: wanted fifo:PATH[,PATH] or fd:NUMBER[,NUMBER]", text);
}

/*
 * A FIFO is opened for reading and writing, as perf does: then it does not matter who comes first, and
 * the end of one writer is not the end of the input.
 */
static int open_fifo(const char *path, int *out, struct err *err)
{
	*out = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
	if (*out >= 0)
		return 0;
	return err_set(err, ERR_IO, ERR_NOWHERE, "--control: %s: %s%s", path, strerror(errno),
		       errno == ENOENT ? "; mkfifo makes it" : "");
}

static int open_both(struct control *c, const char *text, bool is_fifo, char *first, char *second,
		     struct err *err)
{
	char *end;

	if (is_fifo) {
		c->is_ours = true;
		if (open_fifo(first, &c->fd, err) < 0)
			return -1;
		return second == NULL ? 0 : open_fifo(second, &c->ack_fd, err);
	}
	c->fd = (int)strtol(first, &end, 10);
	if (*end != '\0' || end == first || c->fd < 0)
		return bad_control(text, err);
	if (second != NULL) {
		c->ack_fd = (int)strtol(second, &end, 10);
		if (*end != '\0' || end == second || c->ack_fd < 0)
			return bad_control(text, err);
	}
	if (fcntl(c->fd, F_GETFD) < 0 || (second != NULL && fcntl(c->ack_fd, F_GETFD) < 0))
		return err_set(err, ERR_IO, ERR_NOWHERE,
			       "--control %s: there is no such descriptor", text);
	return 0;
}

int control_open(struct control *c, const char *text, struct err *err)
{
	bool is_fifo = text != NULL && strncmp(text, "fifo:", 5) == 0;
	struct text copy = { 0 };
	char *words, *second;
	int rc;

	*c = (struct control){ .fd = -1, .ack_fd = -1 };
	if (text == NULL)
		return 0;
	if (!is_fifo && strncmp(text, "fd:", 3) != 0)
		return bad_control(text, err);
	text_str(&copy, text + (is_fifo ? 5 : 3));
	text_char(&copy, '\0');
	words = copy.bytes;
	second = strchr(words, ',');
	if (second != NULL)
		*second++ = '\0';
	if (words[0] == '\0' || (second != NULL && second[0] == '\0'))
		rc = bad_control(text, err);
	else
		rc = open_both(c, text, is_fifo, words, second, err);
	text_release(&copy);
	if (rc < 0)
		control_release(c);
	return rc;
}

void control_release(struct control *c)
{
	if (c->is_ours && c->fd >= 0)
		close(c->fd);
	if (c->is_ours && c->ack_fd >= 0)
		close(c->ack_fd);
	*c = (struct control){ .fd = -1, .ack_fd = -1 };
}

static enum control_command command_of(const char *line)
{
	static const struct {
		const char *word;
		enum control_command command;
	} commands[] = {
		{ "enable", CONTROL_ENABLE },
		{ "disable", CONTROL_DISABLE },
		{ "ping", CONTROL_PING },
	};

	for (size_t i = 0; i < COUNT(commands); i++)
		if (strcmp(commands[i].word, line) == 0)
			return commands[i].command;
	return CONTROL_UNKNOWN;
}

/* Is there something to read? A descriptor of the user may wait in read(2). */
static bool is_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	return poll(&p, 1, 0) > 0;
}

/* Reads a byte; false: there is none now, or the input has ended. */
static bool read_byte(struct control *c, char *out)
{
	ssize_t n;

	if (c->fd < 0 || !is_readable(c->fd))
		return false;
	do
		n = read(c->fd, out, 1);
	while (n < 0 && errno == EINTR);
	if (n == 1)
		return true;
	if (n == 0 || errno != EAGAIN) {
		if (c->is_ours)
			close(c->fd);
		c->fd = -1;
	}
	return false;
}

enum control_command control_next(struct control *c)
{
	bool is_long;
	char byte;

	while (read_byte(c, &byte)) {
		if (byte != '\n' && byte != '\0') {
			c->is_long |= c->n == sizeof(c->line) - 1;
			if (!c->is_long)
				c->line[c->n++] = byte;
			continue;
		}
		c->line[c->n] = '\0';
		is_long = c->is_long;
		c->is_long = false;
		c->n = 0;
		if (is_long)
			return CONTROL_UNKNOWN;
		if (c->line[0] != '\0')
			return command_of(c->line);
	}
	return CONTROL_NONE;
}

void control_acknowledge(const struct control *c)
{
	struct pollfd p = { .fd = c->ack_fd, .events = POLLOUT };
	ssize_t n;

	/* Nobody may be there any more, or take the answers. */
	if (c->ack_fd < 0 || poll(&p, 1, 0) <= 0 || p.revents != POLLOUT)
		return;
	do
		n = write(c->ack_fd, "ack\n", 4);
	while (n < 0 && errno == EINTR);
}
