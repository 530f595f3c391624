/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox/sandbox.h"

#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/path.h"
#include "sandbox/filter.h"
#include "sandbox/trees.h"

void sandbox_places_release(struct sandbox_places *p)
{
	vec_release(&p->reads);
	vec_release(&p->writes);
	vec_release(&p->folders);
}

struct sandbox_support sandbox_support(void)
{
	return (struct sandbox_support){ trees_version(), filter_is_there() };
}

/* Is an output written over what is there: no file, or one whose folder takes no other (base/output_file.h)? */
static bool is_in_place(const char *path)
{
	char *real = realpath(path, NULL);
	const char *at = real != NULL ? real : path;
	size_t n = (size_t)(path_base(at) - at);
	char *folder = n > 0 ? mem_strndup(at, n) : mem_strndup(".", 1);
	bool can_be_made = access(folder, W_OK) == 0;
	struct stat found;
	bool is_link = real == NULL && lstat(path, &found) == 0;

	if (real != NULL && stat(path, &found) == 0 && !S_ISDIR(found.st_mode))
		can_be_made &= S_ISREG(found.st_mode);
	free(folder);
	free(real);
	return is_link || !can_be_made;
}

static bool writes_in_place(const struct sandbox_places *p)
{
	for (size_t i = 0; i < p->writes.n; i++)
		if (is_in_place(p->writes.items[i]))
			return true;
	return false;
}

struct sandbox_support sandbox_start(const struct sandbox_places *places)
{
	struct sandbox_support got = { .landlock = trees_version() };

	/* The kernel asks for this first: no program that is run later gains rights by its file. */
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return (struct sandbox_support){ 0 };
	if (got.landlock > 0 && !trees_restrict(got.landlock, places))
		got.landlock = 0;
	got.has_filter = filter_install(writes_in_place(places));
	return got;
}
