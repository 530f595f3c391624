/* SPDX-License-Identifier: Apache-2.0 */
/* Places are named, also where they are very many and nothing is known of most of them. */
#include "session/names.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../elf/elf_builder.h"
#include "base/alloc.h"
#include "fixture.h"

enum { FEW = 100, MANY = 70000, MORE = 200000, INSN = 4, CODE_ADDRESS = 0x10000, CODE_BYTES = 64 };

/* So many places in code that is not here, and behind them one that is, if it is asked for. */
struct names_case {
	uint32_t n;
	bool has_program, wants_it;
};

static const struct names_case cases[] = {
	{ FEW, false, true },  { FEW, true, true },   { MANY, false, true }, { MANY, true, true },
	{ MANY, true, false }, { MORE, false, true }, { MORE, true, true },
};

struct world {
	char *folder;
	struct session session;
	struct module_id unknown, known;
	uint32_t program; /* a place of it */
	bool *wanted;
};

static struct place place_of(const struct session *s, uint32_t pid, uint64_t address)
{
	uint32_t process = timeline_process_of_pid(s->timeline, pid, START_NS);

	return timeline_place(s->timeline, process, false, address, START_NS).place;
}

static void open_world(struct world *w, const struct names_case *c, unsigned n_workers)
{
	const struct built_section sections[] = {
		{ ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, CODE_ADDRESS, NULL,
		  CODE_BYTES },
		{ NULL },
	};
	const struct built_symbol symbols[] = {
		{ "work", CODE_ADDRESS, CODE_BYTES, STB_GLOBAL, STT_FUNC, 0, 1 },
		{ NULL },
	};
	const struct built_elf elf = { .machine = EM_AARCH64,
				       .sections = sections,
				       .symbols = symbols };
	struct session *s = &w->session;
	uint64_t offset;

	w->folder = folder_make();
	offset = elf_build(in_folder(w->folder, "bin/alpha"), &elf);
	open_fixture(&(struct contents){ .symfs = w->folder }, n_workers, s);
	w->unknown = place_of(s, BETA, TEXT_START).module;
	w->known = place_of(s, ALPHA, TEXT_START).module;
	for (uint32_t i = 0; i < c->n; i++) /* backwards: numbers are not in order of places */
		place_numbers_add(s->places,
				  (struct place){ w->unknown, (uint64_t)(c->n - i) * INSN });
	if (c->has_program)
		w->program = place_numbers_add(s->places, (struct place){ w->known, offset });
	w->wanted = mem_alloc(place_numbers_n(s->places), sizeof(*w->wanted));
	memset(w->wanted, true, place_numbers_n(s->places));
	w->wanted[w->program] = c->wants_it;
}

static void close_world(struct world *w)
{
	free(w->wanted);
	close_fixture(&w->session);
	folder_remove(w->folder);
}

static void check_names(const struct world *w, const struct names_case *c,
			const struct names *names)
{
	const struct symbols *symbols = w->session.symbols;
	bool is_named = c->has_program && c->wants_it;

	for (uint32_t place = 0; place < names->n; place++)
		assert_true((names->symbols[place].function.v != 0) ==
			    (is_named && place == w->program));
	assert_int_equal(names->has_functions, is_named);
	for (size_t i = 0; i < symbols_n_missing(symbols); i++) {
		const struct symbols_missing *m = symbols_missing_at(symbols, i);

		if (m->module.v == w->unknown.v)
			assert_int_equal(m->n_places, c->n);
		else
			assert_int_equal(m->n_places, 0);
	}
	assert_true(symbols_n_missing(symbols) > 0);
}

/* Each place once, by module and offset. */
static void check_order(const struct session *s, const struct names *names)
{
	bool *is_seen = mem_zalloc(names->n, sizeof(*is_seen));

	for (uint32_t i = 0; i < names->n; i++) {
		struct place place = session_place(s, names->numbers[i]);

		assert_false(is_seen[names->numbers[i]]);
		is_seen[names->numbers[i]] = true;
		assert_int_equal(place.module.v, names->places[i].module.v);
		assert_int_equal(place.offset, names->places[i].offset);
		if (i == 0)
			continue;
		assert_true(names->places[i - 1].module.v <= place.module.v);
		assert_true(names->places[i - 1].module.v < place.module.v ||
			    names->places[i - 1].offset < place.offset);
	}
	free(is_seen);
}

static void places_are_named(void **state)
{
	(void)state;
	for (size_t i = 0; i < COUNT(cases); i++)
		for (unsigned n_workers = 1; n_workers <= 3; n_workers += 2) {
			struct names names;
			struct world w = { 0 };

			print_message("%zu: %u workers\n", i, n_workers);
			open_world(&w, &cases[i], n_workers);
			names_init(&names, &w.session, w.wanted, SYMBOLS_FUNCTIONS);
			assert_int_equal(names.n, place_numbers_n(w.session.places));
			check_names(&w, &cases[i], &names);
			names_put_in_order(&names);
			check_order(&w.session, &names);
			names_release(&names);
			close_world(&w);
		}
}

/* Order costs time, so it is left out where it says nothing. */
static void places_of_nothing_are_not_put_in_order(void **state)
{
	const struct names_case c = { MANY, false, true };
	struct names names;
	struct world w = { 0 };

	(void)state;
	open_world(&w, &c, 2);
	names_init(&names, &w.session, NULL, SYMBOLS_FUNCTIONS);
	assert_null(names.places);
	names_release(&names);
	names_init(&names, &w.session, NULL, SYMBOLS_LINES);
	assert_non_null(names.places);
	names_release(&names);
	close_world(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(places_are_named),
		cmocka_unit_test(places_of_nothing_are_not_put_in_order),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
