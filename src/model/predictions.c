/* SPDX-License-Identifier: Apache-2.0 */
#include "model/predictions.h"

#include <math.h>

#include "findings/words.h"
#include "model/gains.h"
#include "model/what_if.h"

static void predict(const struct gains *gains, struct session *s, struct finding *f)
{
	const char *ideal = finding_what_if(f);
	double gain = ideal == NULL || f->function == NULL || f->module == NULL
			      ? NAN
			      : what_if_function_gain(gains, s, ideal, f->function, f->module);

	f->has_prediction = !isnan(gain);
	f->prediction = gain;
}

void predictions_add(struct session *s, struct findings *found)
{
	struct gains gains;

	if (gains_read_beside(&gains, s->path))
		for (size_t i = 0; i < found->list.n; i++)
			predict(&gains, s, found->list.items[i]);
	gains_release(&gains);
}
