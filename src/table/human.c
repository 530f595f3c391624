/* SPDX-License-Identifier: Apache-2.0 */
#include "table/human.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/alloc.h"
#include "table/sort.h"

enum { MAX_DECIMALS = 6 };

/* Values from `from` on are divided and get a suffix. */
struct step {
	double from, divisor;
	const char *suffix;
};

/* A step begins where the step before would round up to it. */
#define STEP(unit, suffix)                                                                         \
	{                                                                                          \
		0.9995 * (unit), (unit), (suffix)                                                  \
	}

static const struct step count_steps[] = {
	{ 0, 1, "" },	  { 1e7, 1e6, " M" }, STEP(1e9, " G"),
	STEP(1e12, " T"), STEP(1e15, " P"),   STEP(1e18, " E"),
};
static const struct step time_steps[] = {
	{ 0, 1, " ns" },
	STEP(1e3, " µs"),
	STEP(1e6, " ms"),
	STEP(1e9, " s"),
};
static const struct step size_steps[] = {
	{ 0, 1, " B" },
	{ 10000, 1024, " KiB" },
	{ 1000 * 1024.0, 1024 * 1024.0, " MiB" },
	{ 1000 * 1048576.0, 1048576 * 1024.0, " GiB" },
	{ 1000 * 1073741824.0, 1073741824 * 1024.0, " TiB" },
};
static const struct step frequency_steps[] = {
	{ 0, 1, " Hz" },
	STEP(1e3, " kHz"),
	STEP(1e6, " MHz"),
	STEP(1e9, " GHz"),
};
static const struct step rate_steps[] = {
	{ 0, 1, " B/s" },   STEP(1e3, " kB/s"),	 STEP(1e6, " MB/s"),
	STEP(1e9, " GB/s"), STEP(1e12, " TB/s"),
};
static const struct step percent_steps[] = { { 0, 1, " %" } };

#undef STEP

/* Steps of each unit. The last entry is for all other units. */
static const struct scale {
	const char *unit;
	const struct step *steps;
	size_t n_steps;
} scales[] = {
	{ "%", percent_steps, COUNT(percent_steps) },
	{ "ns", time_steps, COUNT(time_steps) },
	{ "bytes", size_steps, COUNT(size_steps) },
	{ "Hz", frequency_steps, COUNT(frequency_steps) },
	{ "bytes/s", rate_steps, COUNT(rate_steps) },
	{ NULL, count_steps, COUNT(count_steps) },
};

static const struct scale *find_scale(const char *unit, bool is_share)
{
	const struct scale *scale = scales;

	if (is_share)
		return scale;
	while (scale->unit != NULL && strcmp(scale->unit, unit) != 0)
		scale++;
	return scale;
}

bool human_names_unit(const char *unit, bool is_share)
{
	return find_scale(unit, is_share)->unit != NULL;
}

static const struct step *find_step(const struct scale *scale, double magnitude)
{
	size_t i = scale->n_steps - 1;

	while (i > 0 && magnitude < scale->steps[i].from)
		i--;
	return &scale->steps[i];
}

/* The largest step that divides the size, so that 2097152 bytes are "2 MiB". */
static const struct step *find_divisor(const struct scale *scale, uint64_t size)
{
	for (size_t i = scale->n_steps - 1; size > 0 && i > 0; i--)
		if (size % (uint64_t)scale->steps[i].divisor == 0)
			return &scale->steps[i];
	return NULL;
}

int human_decimals(double largest)
{
	int decimals = 2;

	if (largest >= 1000 || !(largest > 0))
		return 0;
	if (largest >= 10)
		return 1;
	for (; largest < 0.1 && decimals < MAX_DECIMALS; largest *= 10)
		decimals++;
	return decimals;
}

/*
 * Gives three or four digits; one decimal from ten on, so that decimal points line up more often.
 */
static int scaled_decimals(double mantissa)
{
	return mantissa < 9.995 ? 2 : 1;
}

static void put_grouped(char *out, bool is_negative, uint64_t value)
{
	char digits[20];
	size_t n = put_u64(digits, value);

	if (is_negative)
		*out++ = '-';
	for (size_t i = 0; i < n; i++) {
		if (i > 0 && (n - i) % 3 == 0)
			*out++ = ' ';
		*out++ = digits[i];
	}
	*out = '\0';
}

static void put_plain(char *out, bool is_negative, uint64_t value)
{
	if (is_negative)
		*out++ = '-';
	out[put_u64(out, value)] = '\0';
}

static void put_decimal(struct human *out, bool is_negative, double magnitude, int decimals)
{
	uint64_t one = 1, scaled;

	if (magnitude >= 1e12) {
		snprintf(out->whole, sizeof(out->whole), "%s%.2e", is_negative ? "-" : "",
			 magnitude);
		return;
	}
	for (int i = 0; i < decimals; i++)
		one *= 10;
	scaled = (uint64_t)(magnitude * (double)one + 0.5);
	put_grouped(out->whole, is_negative && scaled > 0, scaled / one);
	if (decimals > 0)
		snprintf(out->fraction, sizeof(out->fraction), ".%0*u", decimals,
			 (unsigned)(scaled % one));
}

static void put_percent(struct human *out, bool is_negative, double percent)
{
	strcpy(out->suffix, " %");
	if (percent > 0 && percent < 0.05 && !is_negative) {
		strcpy(out->whole, "<0");
		strcpy(out->fraction, ".1");
		return;
	}
	put_decimal(out, is_negative, percent, 1);
}

static void put_scaled(struct human *out, bool is_negative, double magnitude,
		       const struct step *step)
{
	double mantissa = magnitude / step->divisor;

	put_decimal(out, is_negative, mantissa, magnitude > 0 ? scaled_decimals(mantissa) : 0);
	strcpy(out->suffix, step->suffix);
}

static void put_integer(struct human *out, bool is_negative, uint64_t magnitude,
			const struct scale *scale)
{
	const struct step *step = find_step(scale, (double)magnitude);
	const struct step *exact =
		scale->steps == size_steps ? find_divisor(scale, magnitude) : NULL;

	if (exact != NULL && magnitude / (uint64_t)exact->divisor < 10000)
		step = exact;
	if (step != scale->steps && step != exact) {
		put_scaled(out, is_negative, (double)magnitude, step);
		return;
	}
	put_grouped(out->whole, is_negative, magnitude / (uint64_t)step->divisor);
	strcpy(out->suffix, step->suffix);
}

static void put_fraction(struct human *out, bool is_negative, double magnitude, int decimals,
			 const struct scale *scale)
{
	const struct step *step = find_step(scale, magnitude);

	if (scale->unit != NULL || step != scale->steps)
		put_scaled(out, is_negative, magnitude, step);
	else
		put_decimal(out, is_negative, magnitude, decimals);
}

void human_number(const struct cell *cell, const char *unit, bool is_share, int decimals,
		  struct human *out)
{
	const struct scale *scale = find_scale(unit, is_share);
	bool is_double = cell->type == CELL_NUMBER;
	bool is_signed = cell->type == CELL_SIGNED;
	bool is_negative = is_double ? cell->number < 0 : is_signed && cell->number_signed < 0;
	uint64_t magnitude =
		is_negative && is_signed ? -(uint64_t)cell->number_signed : cell->count;
	double fraction = is_double ? fabs(cell->number) : (double)magnitude;

	*out = (struct human){ 0 };
	if (scale->steps == percent_steps)
		put_percent(out, is_negative, is_share ? 100 * fraction : fraction);
	else if (is_double)
		put_fraction(out, is_negative, fraction, decimals, scale);
	else if (unit[0] == '\0')
		put_plain(out->whole, is_negative, magnitude);
	else
		put_integer(out, is_negative, magnitude, scale);
}

static void human_add_number(struct text *t, const struct cell *cell, const char *unit)
{
	int decimals = cell->type == CELL_NUMBER ? human_decimals(fabs(cell->number)) : 0;
	struct human h;

	human_number(cell, unit, false, decimals, &h);
	text_str(t, h.whole);
	text_str(t, h.fraction);
	text_str(t, h.suffix);
	if (unit[0] != '\0' && !human_names_unit(unit, false)) {
		text_char(t, ' ');
		text_things(t, cell->type == CELL_COUNT ? cell->count : 0, unit);
	}
}

void human_words(struct text *t, const struct cell *cell, const char *unit)
{
	if (cell_is_absent(cell)) {
		text_char(t, '-');
		return;
	}
	switch (cell->type) {
	case CELL_HEX:
		text_hex(t, cell->count);
		break;
	case CELL_BOOL:
		text_str(t, cell->count != 0 ? "yes" : "no");
		break;
	case CELL_TEXT:
		text_str(t, cell->text);
		break;
	default:
		human_add_number(t, cell, unit);
	}
}
