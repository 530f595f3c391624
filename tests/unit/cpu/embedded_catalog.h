/* SPDX-License-Identifier: Apache-2.0 */
/* The catalog that is built in, as the state of tests. Include after cmocka.h. */
#ifndef CYCLOPS_TESTS_CPU_EMBEDDED_CATALOG_H
#define CYCLOPS_TESTS_CPU_EMBEDDED_CATALOG_H

#include "cpu/cpu.h"

static inline int open_embedded(void **state)
{
	struct catalog *catalog = NULL;
	struct err err = { 0 };

	if (catalog_open(NULL, &catalog, &err) < 0)
		fail_msg("%s", err.text);
	*state = catalog;
	return 0;
}

static inline int close_catalog(void **state)
{
	catalog_free(*state);
	return 0;
}

#endif
