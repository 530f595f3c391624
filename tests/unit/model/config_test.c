/* SPDX-License-Identifier: Apache-2.0 */
/* The settings that the command hands to the plugin. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/config.h"
#include "model/settings.h"

static const char *const program[] = { "dir/prog", "x=1", NULL };
static const char *const command[] = { "cyclops", "model", "--", "dir/prog", "x=1", NULL };

static const struct model_options defaults = {
	.program = program,
	.command = command,
	.output = "out,put.data",
	.version = "0.1",
	.interval = 2048,
	.seed = 7,
	.min_latency = 30,
	.event_filter = 8,
	.loads = true,
};

static void append(struct text *settings, const char *entry)
{
	text_add(settings, entry, strlen(entry) + 1);
}

/* config_read() frees what it gets. */
static int read_copy(const struct text *settings, size_t size, struct config *out, struct err *err)
{
	char *copy = mem_alloc(size > 0 ? size : 1, 1);

	if (size > 0)
		memcpy(copy, settings->bytes, size);
	return config_read(copy, size, out, err);
}

/* The parameters of the built-in model are all there are, and the model takes them. */
static void the_plugin_reads_what_the_command_writes(void **state)
{
	struct text settings = { 0 };
	struct model_facts facts;
	struct config c;
	struct err err;

	(void)state;
	assert_int_equal(model_settings(&defaults, &settings, &facts, &err), 0);
	if (read_copy(&settings, settings.n, &c, &err) < 0)
		fail_msg("%s", err.text);
	assert_string_equal(facts.emulator_cpu, "neoverse-n1");
	assert_string_equal(c.model, "Neoverse N1");
	assert_string_equal(c.output, "out,put.data");
	assert_string_equal(c.name, "prog");
	assert_string_equal(c.version, "0.1");
	assert_string_equal(c.root, "");
	assert_int_equal(c.arguments.n, 5);
	assert_string_equal(c.arguments.items[4], "x=1");
	assert_int_equal(c.seed, 7);
	assert_int_equal(c.sampling.interval, 2048);
	assert_true(c.sampling.has_jitter && c.sampling.loads && !c.sampling.stores);
	assert_int_equal(c.sampling.min_latency, 30);
	assert_int_equal(c.sampling.events, 8);
	assert_int_equal(c.params.midr, 0x413fd0c1);
	assert_int_equal(c.params.l1d_bytes, 65536);
	assert_int_equal(c.params.latency[TIMING_LOAD], 4);
	config_release(&c);
	text_release(&settings);
}

/* Settings that end anywhere else are wrong, or not enough. */
static void cut_settings_fail(void **state)
{
	struct text settings = { 0 };
	struct model_facts facts;
	struct config c;
	struct err err;

	(void)state;
	assert_int_equal(model_settings(&defaults, &settings, &facts, &err), 0);
	for (size_t size = 0; size < settings.n; size++) {
		if (read_copy(&settings, size, &c, &err) < 0)
			continue;
		/* Only what has a default may be missing. */
		assert_true(size > settings.n - 120);
		config_release(&c);
	}
	text_release(&settings);
}

static void wrong_settings_are_named(void **state)
{
	static const struct {
		const char *entry, *said;
	} cases[] = {
		{ "nonsense=1", "no setting 'nonsense'" },
		{ "nonsense", "'nonsense' has no value" },
		{ "seed=x", "seed: found 'x'" },
		{ "seed=", "seed: found ''" },
		{ "seed=-1", "seed: found '-1'" },
		{ "seed=99999999999999999999", "seed: found" },
		{ "jitter=2", "wanted a number up to 1" },
		{ "min_latency=65536", "wanted a number up to 65535" },
		{ "interval=1000", "wanted a multiple of 256" },
		{ "interval=512", "at least 1024" },
		{ "param.width=0", "parameter width: found '0'" },
		{ "param.width=4x", "parameter width: found '4x'" },
		{ "param.wdth=4", "no parameter 'wdth'" },
		{ "param.l1d_bytes=65537", "parameter l1d" },
		{ "param.l2_ways=7", "parameter l2" },
		{ "param.conditional_entries=1000", "power of two" },
		{ "param.n_cpus=65", "wanted a number from 1 to 64" },
	};

	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++) {
		struct text settings = { 0 };
		struct model_facts facts;
		struct config c;
		struct err err;

		assert_int_equal(model_settings(&defaults, &settings, &facts, &err), 0);
		append(&settings, cases[i].entry);
		if (read_copy(&settings, settings.n, &c, &err) == 0)
			fail_msg("'%s' was taken", cases[i].entry);
		if (strstr(err.text, cases[i].said) == NULL)
			fail_msg("'%s': said '%s'", cases[i].entry, err.text);
		text_release(&settings);
	}
}

static void options_can_be_wrong_too(void **state)
{
	static const char *const no_value[] = { "l2_bytes", NULL };
	struct model_options o = defaults;
	struct text settings = { 0 };
	struct model_facts facts;
	struct err err;

	(void)state;
	o.model = "/nonexistent/model.json";
	assert_int_equal(model_settings(&o, &settings, &facts, &err), -1);
	assert_non_null(strstr(err.text, "neoverse-n1"));
	o = defaults;
	o.sets = no_value;
	assert_int_equal(model_settings(&o, &settings, &facts, &err), -1);
	assert_non_null(strstr(err.text, "NAME=VALUE"));
	o = defaults;
	o.root = "/nonexistent";
	assert_int_equal(model_settings(&o, &settings, &facts, &err), -1);
	assert_non_null(strstr(err.text, "--root"));
	text_release(&settings);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_plugin_reads_what_the_command_writes),
		cmocka_unit_test(cut_settings_fail),
		cmocka_unit_test(wrong_settings_are_named),
		cmocka_unit_test(options_can_be_wrong_too),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
