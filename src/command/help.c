/* SPDX-License-Identifier: Apache-2.0 */
/* cyclops help: the manual pages. */
#include <stdio.h>

#include "command/commands.h"
#include "command/common.h"
#include "command/manual.h"

int command_help(int argc, char **argv)
{
	const char *name = argc > 1 ? argv[1] : "";
	const char *page = manual_page(name);

	if (page == NULL) {
		fprintf(stderr,
			"cyclops: there is no manual page for '%s' (cyclops --help lists the "
			"commands)\n",
			name);
		return EXIT_USAGE;
	}
	fputs(page, stdout);
	return EXIT_DONE;
}
