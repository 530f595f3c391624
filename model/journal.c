/* SPDX-License-Identifier: Apache-2.0 */
#include "model/journal.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

int journal_create(struct err *err)
{
	int fd = memfd_create("cyclops-journal", 0);

	if (fd >= 0 && ftruncate(fd, sizeof(struct journal)) == 0)
		return fd;
	err_set(err, ERR_IO, ERR_NOWHERE, "cannot make memory to share with the model: %s",
		strerror(errno));
	if (fd >= 0)
		close(fd);
	return -1;
}

struct journal *journal_open(int fd, struct err *err)
{
	int kind = fd < 0 ? MAP_SHARED | MAP_ANONYMOUS : MAP_SHARED;
	void *memory = mmap(NULL, sizeof(struct journal), PROT_READ | PROT_WRITE, kind, fd, 0);

	if (memory != MAP_FAILED)
		return memory;
	err_set(err, ERR_IO, ERR_NOWHERE, "cannot map the memory shared with the model: %s",
		strerror(errno));
	return NULL;
}

void journal_close(struct journal *j)
{
	if (j != NULL)
		munmap(j, sizeof(*j));
}

void journal_add_path(struct journal *j, const char *path)
{
	size_t size = strlen(path) + 1;

	if (size > sizeof(j->paths) - j->n_path_bytes)
		return;
	memcpy(j->paths + j->n_path_bytes, path, size);
	j->n_path_bytes += size;
}
