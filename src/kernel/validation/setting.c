/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/validation/measurer.h"

#include <inttypes.h>

void kernel_setting_text(const struct kernel_setting *s, struct text *out)
{
	text_str(out, s->what->name);
	for (enum parameter p = 0; p < N_PARAMETERS; p++)
		if (p != ITERATIONS && microbenchmark_takes(s->what, (enum parameter)p) &&
		    s->values[p] != s->what->parameters[p].usual)
			text_format(out, " %s=%" PRIu64, microbenchmark_parameters[p].name,
				    s->values[p]);
}
