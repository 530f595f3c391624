/* SPDX-License-Identifier: Apache-2.0 */
#include "number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int make_number(const char *text, uint64_t *out)
{
	static const char suffixes[] = "KMG";
	unsigned shift = 0;
	uint64_t value;
	char *end;

	errno = 0;
	value = strtoull(text, &end, 0);
	if (*end != '\0' && strchr(suffixes, *end) != NULL)
		shift = 10 * (unsigned)(strchr(suffixes, *end++) - suffixes + 1);
	if (errno != 0 || end == text || *end != '\0' || value > UINT64_MAX >> 1 >> shift)
		return -1;
	*out = value << shift;
	return 0;
}
