/* SPDX-License-Identifier: Apache-2.0 */
#include "tree.h"

#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <setjmp.h>
#include <stdarg.h>
#include <cmocka.h>

#define DEVICES "/sys/bus/event_source/devices"

const struct tree_file tree_neoverse_n1[] = {
	{ DEVICES "/armv8_pmuv3_0/type", "8" },
	{ DEVICES "/armv8_pmuv3_0/cpus", "0-3" },
	{ DEVICES "/armv8_pmuv3_0/format/event", "config:0-15" },
	{ DEVICES "/armv8_pmuv3_0/format/long", "config1:0" },
	{ DEVICES "/armv8_pmuv3_0/format/broken", "config9:0" },
	{ DEVICES "/armv8_pmuv3_0/events/cpu_cycles", "event=0x0011" },
	{ DEVICES "/armv8_pmuv3_0/events/inst_retired", "event=0x0008" },
	{ DEVICES "/armv8_pmuv3_0/events/l1d_cache", "event=0x0004" },
	{ DEVICES "/armv8_pmuv3_0/caps/slots", "0x00000008" },
	{ DEVICES "/software/type", "1" },
	{ DEVICES "/arm_spe_0/type", "9" },
	{ DEVICES "/arm_spe_0/cpumask", "0-3" },
	{ DEVICES "/arm_spe_0/format/min_latency", "config2:0-11" },
	{ DEVICES "/arm_spe_0/format/load_filter", "config:33" },
	{ DEVICES "/arm_spe_0/caps/min_interval", "1024" },
	{ DEVICES "/arm_cmn_0/type", "10" },
	{ DEVICES "/arm_cmn_0/cpumask", "0" },
	{ DEVICES "/arm_cmn_0/format/eventid", "config:16-23" },
	{ DEVICES "/arm_cmn_0/format/type", "config:0-15" },
	{ DEVICES "/arm_cmn_0/format/nodeid", "config1:0-15,32-47" },
	{ DEVICES "/arm_cmn_0/events/dtc_cycles", "type=0x3" },
	{ DEVICES "/arm_cmn_0/events/hnf_cache_miss", "type=0x5,eventid=0x1" },
	{ DEVICES "/arm_cmn_0/events/watch", "type=0x7,nodeid=?" },
	{ DEVICES "/arm_cmn_1/type", "11" },
	{ DEVICES "/arm_cmn_1/cpumask", "2" },
	{ DEVICES "/arm_cmn_1/events/dtc_cycles", "type=0x3" },
	{ DEVICES "/arm_cmn_1/format/type", "config:0-15" },
	{ DEVICES "/arm_cmn_1/events/dtc_cycles.unit", "Mcycles" },
	{ DEVICES "/arm_cmn_1/events/dtc_cycles.scale", "1e-6" },
	{ "/sys/kernel/tracing/events/sched/sched_switch/id", "316" },
	{ NULL, NULL },
};

const struct tree_file tree_big_little[] = {
	{ DEVICES "/armv8_cortex_a53/type", "8" },
	{ DEVICES "/armv8_cortex_a53/cpus", "0-3" },
	{ DEVICES "/armv8_cortex_a53/format/event", "config:0-15" },
	{ DEVICES "/armv8_cortex_a53/events/cpu_cycles", "event=0x0011" },
	{ DEVICES "/armv8_cortex_a72/type", "9" },
	{ DEVICES "/armv8_cortex_a72/cpus", "4-5" },
	{ DEVICES "/armv8_cortex_a72/format/event", "config:0-15" },
	{ DEVICES "/armv8_cortex_a72/events/cpu_cycles", "event=0x0011" },
	{ DEVICES "/armv8_cortex_a72/events/inst_spec", "event=0x001b" },
	{ NULL, NULL },
};

const struct tree_file tree_without_pmu[] = {
	{ DEVICES "/software/type", "1" },
	{ DEVICES "/breakpoint/type", "5" },
	{ NULL, NULL },
};

/* Makes the directories of a path, up to its last slash. */
static void make_directories(char *path, size_t root_length)
{
	for (char *slash = strchr(path + root_length + 1, '/'); slash != NULL;
	     slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(path, 0777);
		*slash = '/';
	}
}

void tree_add(const struct tree *tree, const char *path, const char *text)
{
	char whole[512];
	FILE *file;

	snprintf(whole, sizeof(whole), "%s%s", tree->root, path);
	make_directories(whole, strlen(tree->root));
	if (text == NULL) {
		mkdir(whole, 0777);
		return;
	}
	file = fopen(whole, "w");
	assert_non_null(file);
	fprintf(file, "%s\n", text);
	assert_int_equal(fclose(file), 0);
}

void tree_make(struct tree *tree, const struct tree_file *files)
{
	snprintf(tree->root, sizeof(tree->root), "/tmp/cyclops-tree-XXXXXX");
	assert_non_null(mkdtemp(tree->root));
	for (; files != NULL && files->path != NULL; files++)
		tree_add(tree, files->path, files->text);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *walk)
{
	(void)st;
	(void)type;
	(void)walk;
	return remove(path);
}

void tree_remove(struct tree *tree)
{
	assert_int_equal(nftw(tree->root, remove_one, 8, FTW_DEPTH | FTW_PHYS), 0);
}
