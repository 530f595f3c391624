/* SPDX-License-Identifier: Apache-2.0 */
/* Addresses of virtual machines: whose kernel they are in, and how far answers hold. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "base/alloc.h"
#include "fixture.h"
#include "process/timeline.h"

enum { ALONE = 7, OTHER = 8 };

#define K 0xffffffff81000000u
#define M 0xffffffffc0000000u

/* Recorded of guests: of one the image and a module, of all others a module that hides a part of another. */
static void feed_guests(struct fixture *f)
{
	feed_mmap(f, &(struct map_record){ .pid = ALONE,
					   .start = K,
					   .length = 0x100000,
					   .page_offset = K,
					   .misc = 4,
					   .is_old = true,
					   .path = "[guest.kernel.kallsyms.7]_text" });
	feed_mmap(f, &(struct map_record){ .pid = ALONE,
					   .start = M,
					   .length = 0x4000,
					   .misc = 4,
					   .is_old = true,
					   .path = "/lib/modules/6.1/kernel/virtio-net.ko.xz" });
	timeline_map_guest(f->timeline, 0, M, M + 0x3fff, "[one]");
	timeline_map_guest(f->timeline, 0, M + 0x1000, M + 0x1fff, "[two]");
}

/* The name and the range that is expected of an address. */
static const struct {
	uint32_t pid;
	bool is_user;
	uint64_t address;
	const char *name;
	uint64_t first, last;
} cases[] = {
	{ ALONE, false, K + 0x10, "[guest.kernel.kallsyms.7]", 0, M - 1 },
	{ ALONE, false, M + 0x10, "[guest.virtio_net]", M, M + 0x3fff },
	{ ALONE, false, M + 0x4000, "[guest.kernel.kallsyms.7]", M + 0x4000, UINT64_MAX },
	{ OTHER, false, K + 0x10, "[guest.kernel.kallsyms]", 0, M - 1 },
	{ OTHER, false, M + 0x10, "[guest.one]", M, M + 0xfff },
	{ OTHER, false, M + 0x1010, "[guest.two]", M + 0x1000, M + 0x1fff },
	{ OTHER, false, M + 0x2010, "[guest.one]", M + 0x2000, M + 0x3fff },
	{ OTHER, true, 0x400000, "[guest.user]", 0, UINT64_MAX },
	{ ALONE, true, M + 0x10, "[guest.user]", 0, UINT64_MAX },
};

static void guests_test_places(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	feed_kernel(&f, 0, K, 0x100000, K, "[kernel.kallsyms]_text");
	feed_map(&f, 10, ALONE, 0x400000, 0x1000, 0, "/bin/qemu");
	feed_map(&f, 10, OTHER, 0x400000, 0x1000, 0, "/bin/qemu");
	feed_guests(&f);
	timeline_add_guests(f.timeline);
	fixture_freeze(&f);
	for (size_t i = 0; i < COUNT(cases); i++) {
		uint32_t process = timeline_process_of_pid(f.timeline, cases[i].pid, 20);
		uint32_t kind = cases[i].is_user ? PLACE_OF_GUEST_USER : PLACE_OF_GUEST_KERNEL;
		struct placed p =
			timeline_place_of(f.timeline, kind | process, cases[i].address, 20);
		const struct module *m = modules_get(timeline_modules(f.timeline), p.place.module);

		assert_true(place_is_of_guest(kind | process));
		assert_string_equal(strings_get(timeline_strings(f.timeline), m->name),
				    cases[i].name);
		assert_int_equal(p.place.offset, cases[i].address);
		assert_int_equal(p.first, cases[i].first);
		assert_int_equal(p.last, cases[i].last);
	}
	fixture_release(&f);
}

/* A module is where the image says that its kernel is. */
static void guests_test_modules(void **state)
{
	struct fixture f;
	const struct modules *modules;
	size_t n = 0;

	(void)state;
	fixture_init(&f);
	feed_guests(&f);
	timeline_add_guests(f.timeline);
	fixture_freeze(&f);
	modules = timeline_modules(f.timeline);
	for (size_t i = 1; i < modules->list.n; i++) {
		const struct module *m = &modules->list.items[i];

		if (m->pid != ALONE)
			continue;
		n++;
		assert_int_equal(m->load_address, K);
		assert_string_equal(strings_get(modules->strings, m->ref_symbol), "_text");
	}
	assert_int_equal(n, 2);
	fixture_release(&f);
}

/* Without samples of guests there are no modules of theirs. */
static void guests_test_none(void **state)
{
	struct fixture f;

	(void)state;
	fixture_init(&f);
	feed_guests(&f);
	fixture_freeze(&f);
	assert_int_equal(timeline_place_of(f.timeline, PLACE_OF_GUEST_KERNEL, K, 20).place.module.v,
			 0);
	assert_int_equal(timeline_place_of(f.timeline, PLACE_OF_GUEST_USER, K, 20).place.module.v,
			 0);
	fixture_release(&f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(guests_test_places),
		cmocka_unit_test(guests_test_modules),
		cmocka_unit_test(guests_test_none),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
