/* SPDX-License-Identifier: Apache-2.0 */
/* What an SPE record stands for: the rules of the driver, of jitter, and of the white paper. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/alloc.h"
#include "capture/writer/writer.h"
#include "session/interval.h"
#include "session/session.h"

#define JITTER (1ull << 16)
#define FREQ (1ull << ATTR_FREQ)
#define MIDR_N1 0x413fd0c1
#define MIDR_V1 0x410fd400

enum { PMU = 10, OTHER_PMU = 11 };

/* A capture of two CPUs, the second with a PMU and an event of its own. */
struct asked {
	uint64_t period, config, flags;
	uint64_t minimum, midr;
	bool is_version_1;
	uint64_t given;
};

static void open_asked(const struct asked *a, struct session *out)
{
	static const uint64_t ids[] = { 1, 2 };
	const struct writer_event events[] = {
		{ .attr = { .type = PMU,
			    .sample_period = a->period,
			    .config = a->config,
			    .flags = a->flags },
		  .ids = &ids[0],
		  .n_ids = 1,
		  .name = "arm_spe_0//" },
		{ .attr = { .type = OTHER_PMU, .sample_period = 8192 },
		  .ids = &ids[1],
		  .n_ids = 1,
		  .name = "arm_spe_1//" },
	};
	const struct writer_spe_cpu cpus[] = {
		{ 0, a->midr, PMU, a->minimum, 0 },
		{ 1, a->midr, OTHER_PMU, a->minimum, 0 },
	};
	char path[] = "/tmp/cyclops-interval-XXXXXX";
	struct session_options options = { .path = path, .n_workers = 1, .interval = a->given };
	struct writer *w = NULL;
	struct err err = { .text = "" };

	close(mkstemp(path));
	assert_int_equal(writer_open(path, events, COUNT(events), &w, &err), 0);
	writer_time_conv(w, &(struct record_time_conv){ .shift = 20, .mult = 40 << 20 });
	if (a->is_version_1)
		writer_spe_info_v1(w, PMU, true);
	else
		writer_spe_info_v2(w, PMU, cpus, COUNT(cpus));
	for (uint32_t cpu = 0; cpu < 2; cpu++) {
		struct record_auxtrace header = { .idx = cpu, .cpu = cpu, .size = 8 };

		writer_auxtrace(w, &header, "\0\0\0\0\0\0\0");
	}
	assert_int_equal(writer_close(w, &err), 0);
	if (session_open(out, &options, &err) < 0)
		fail_msg("%s", err.text);
	unlink(path);
}

static void follows_the_rules(void **state)
{
	static const struct {
		struct asked asked;
		struct spe_interval expected;
		const char *text;
	} cases[] = {
		/* Table 4.3 of the white paper, on its CPU. */
		{ { 1024, 0, 0, 1024, MIDR_N1 },
		  { INTERVAL_RECORDED, false, 1024, 1025, 1025, 1025 },
		  "one in 1025 operations" },
		{ { 1024, JITTER, 0, 1024, MIDR_N1 },
		  { INTERVAL_RECORDED, true, 1024, 1152, 1152, 1152 },
		  "one in 1152 operations (1024 and jitter)" },
		/* A CPU of which nobody said how it adds jitter. */
		{ { 1024, JITTER, 0, 1024, MIDR_V1 },
		  { INTERVAL_ASSUMED, true, 1024, 1152, 1025, 1152 },
		  "one in 1152 operations (1024 and jitter, assumed to lengthen it)" },
		/* Multiples of 256, within what the hardware can do. */
		{ { 4099, 0, 0, 1024, MIDR_N1 },
		  { INTERVAL_RECORDED, false, 4096, 4097, 4097, 4097 },
		  "one in 4097 operations" },
		{ { 300, 0, 0, 1024, MIDR_N1 },
		  { INTERVAL_RECORDED, false, 1024, 1025, 1025, 1025 },
		  "one in 1025 operations" },
		{ { UINT64_MAX, 0, 0, 1024, MIDR_N1 },
		  { INTERVAL_RECORDED, false, 0xffffff00, 0xffffff01, 0xffffff01, 0xffffff01 },
		  "one in 4294967041 operations" },
		{ { 300, 0, 0, 0, MIDR_N1, .is_version_1 = true },
		  { INTERVAL_RECORDED, false, 256, 257, 257, 257 },
		  "one in 257 operations" },
		/* Not told. */
		{ { 1000, 0, FREQ, 1024, MIDR_N1 },
		  { INTERVAL_UNKNOWN, false, 0, 0, 0, 0 },
		  "one in an unknown number of operations" },
		{ { 0, 0, 0, 0, MIDR_N1, .is_version_1 = true },
		  { INTERVAL_UNKNOWN, false, 0, 0, 0, 0 },
		  "one in an unknown number of operations" },
		{ { 1024, JITTER, 0, 1024, MIDR_V1, .given = 1000 },
		  { INTERVAL_GIVEN, false, 1000, 1000, 1000, 1000 },
		  "one in 1000 operations (given)" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		const struct spe_interval *wanted = &cases[i].expected, *found;
		struct session s;
		struct text text = { 0 };

		open_asked(&cases[i].asked, &s);
		found = spe_interval(&s, 0);
		assert_int_equal(found->basis, wanted->basis);
		assert_int_equal(found->has_jitter, wanted->has_jitter);
		assert_int_equal(found->base, wanted->base);
		assert_int_equal(found->mean, wanted->mean);
		assert_int_equal(found->least, wanted->least);
		assert_int_equal(found->most, wanted->most);
		spe_interval_text(spe_interval(&s, 0), &text);
		text_char(&text, '\0');
		assert_string_equal(text.bytes, cases[i].text);
		text_release(&text);
		session_release(&s);
	}
}

static void knows_cpus_apart(void **state)
{
	struct spe_interval_range range;
	struct session s;

	(void)state;
	open_asked(&(struct asked){ 1024, 0, 0, 1024, MIDR_N1 }, &s);
	assert_int_equal(spe_interval(&s, 0)->mean, 1025);
	assert_int_equal(spe_interval(&s, 1)->mean, 8193);
	assert_int_equal(spe_interval_common(&s).mean, 0);
	range = spe_interval_range(&s);
	assert_int_equal(range.longest, 8193);
	assert_true(range.least == 1 && range.most == 1);
	session_release(&s);

	/* How uncertain it is on any of them. */
	open_asked(&(struct asked){ 1024, JITTER, 0, 1024, MIDR_V1 }, &s);
	assert_int_equal(spe_interval_common(&s).mean, 0);
	range = spe_interval_range(&s);
	assert_int_equal(range.longest, 8193);
	assert_true(range.least == 1025.0 / 1152 && range.most == 1);
	session_release(&s);

	open_asked(&(struct asked){ 1024, 0, FREQ, 1024, MIDR_N1 }, &s);
	assert_int_equal(spe_interval_range(&s).longest, 0);
	session_release(&s);

	open_asked(&(struct asked){ 8192, 0, 0, 1024, MIDR_N1 }, &s);
	assert_int_equal(spe_interval_common(&s).mean, 8193);
	session_release(&s);
}

static void tells_the_timer(void **state)
{
	struct session s;

	(void)state;
	open_asked(&(struct asked){ 1024, 0, 0, 1024, MIDR_N1 }, &s);
	assert_true(spe_timer_hz(s.capture) == 25e6);
	session_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(follows_the_rules),
		cmocka_unit_test(knows_cpus_apart),
		cmocka_unit_test(tells_the_timer),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
