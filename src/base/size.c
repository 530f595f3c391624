/* SPDX-License-Identifier: Apache-2.0 */
#include "base/size.h"

#include <ctype.h>
#include <string.h>

int size_parse(const char **text, uint64_t *out_bytes)
{
	static const char units[] = "KMGT";
	const char *at = *text, *unit;
	double value = 0, place = 1;
	unsigned shift = 0;

	if (!isdigit((unsigned char)*at))
		return -1;
	for (; isdigit((unsigned char)*at) && value < 1e15; at++)
		value = value * 10 + (*at - '0');
	if (*at == '.' && isdigit((unsigned char)at[1]))
		for (at++; isdigit((unsigned char)*at); at++)
			value += (*at - '0') * (place /= 10);
	unit = *at == '\0' ? NULL : strchr(units, toupper((unsigned char)*at));
	if (unit != NULL) {
		shift = 10 * (unsigned)(unit - units + 1);
		at++;
		if (*at == 'i')
			at++;
	}
	if (*at == 'B' || *at == 'b')
		at++;
	value *= (double)((uint64_t)1 << shift);
	if (!(value >= 1 && value < 1e15))
		return -1;
	*out_bytes = (uint64_t)value;
	*text = at;
	return 0;
}
