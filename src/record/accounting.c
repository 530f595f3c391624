/* SPDX-License-Identifier: Apache-2.0 */
#include "record/accounting.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#include "capture/format/sample.h"
#include "cpu/cpu.h"
#include "pmu/machine.h"
#include "record/machine_info.h"

#define BIT(n) ((uint64_t)1 << (n))

enum { LEAST_PERIOD = 101, TREE_PERIOD = 2000003 };

static bool is_prime(uint64_t n)
{
	for (uint64_t d = 2; d * d <= n; d++)
		if (n % d == 0)
			return false;
	return n > 1;
}

/* The first prime from a number on: a loop of any other length never keeps step with it. */
static uint64_t next_prime(uint64_t n)
{
	while (!is_prime(n))
		n++;
	return n;
}

uint64_t accounting_period(const struct cycle_template *t, int node, uint64_t cycles_period)
{
	const struct cycle_node *n = &t->nodes[node];
	const struct cycle_node *cycles = &t->nodes[t->cycles];
	double of_cycles = (double)cycles_period, penalty = cycle_node_penalty(t, node, 0);
	double of_tree = cycles->period > 0 ? (double)cycles->period : TREE_PERIOD;
	double wanted = of_cycles;

	if (penalty > 1)
		wanted = of_cycles / penalty;
	else if (penalty <= 0 && !n->is_cycles && n->period > 0)
		wanted = (double)n->period * of_cycles / of_tree;
	if (wanted > of_cycles)
		wanted = of_cycles;
	return next_prime(wanted < LEAST_PERIOD ? LEAST_PERIOD : (uint64_t)llround(wanted));
}

/* Does the kernel take it? It may also be that this user may not, which is said later. */
static bool is_taken(const struct kernel *kernel, const struct attr *wanted, const char *name)
{
	struct attr attr = *wanted;
	const struct event_request request = {
		.attr = &attr, .name = name, .cpu = EVENT_ANY_CPU, .group_fd = EVENT_NO_GROUP
	};
	int fd;

	attr_set(&attr, ATTR_DISABLED);
	attr_set(&attr, ATTR_EXCLUDE_KERNEL);
	attr_set(&attr, ATTR_EXCLUDE_HV);
	fd = kernel->open(kernel->context, &request);
	if (fd >= 0)
		kernel->close(kernel->context, fd);
	return fd >= 0 || fd == -EACCES || fd == -EPERM;
}

bool accounting_reads_inherited(const struct kernel *kernel)
{
	struct attr attr = {
		.type = ATTR_TYPE_SOFTWARE,
		.config = SOFTWARE_DUMMY,
		.sample_period = 1,
		.sample_type = BIT(SAMPLE_READ) | BIT(SAMPLE_TID),
		.read_format = BIT(READ_TIME_ENABLED) | BIT(READ_TIME_RUNNING) | BIT(READ_ID),
	};

	attr_set(&attr, ATTR_INHERIT);
	return is_taken(kernel, &attr, "dummy");
}

static struct attr attr_of_node(const struct accounting *a, int node)
{
	const struct cycle_node *n = &a->tree->nodes[node];
	struct attr attr = {
		.type = a->core->is_arm ? a->core->type : (uint32_t)ATTR_TYPE_RAW,
		.config = n->code,
		.sample_period = accounting_period(
			a->tree, node,
			a->cycles_period > 0 ? a->cycles_period
					     : a->tree->nodes[a->tree->cycles].period),
	};

	attr.flags |= (uint64_t)n->precise << ATTR_PRECISE_IP;
	return attr;
}

static bool is_here(const struct accounting *a, int node)
{
	struct attr attr = attr_of_node(a, node);

	if (a->core->is_arm && !pmu_has_event(a->core, a->tree->nodes[node].code))
		return false;
	attr.flags &= ~(BIT(ATTR_PRECISE_IP) | BIT(ATTR_PRECISE_IP + 1)); /* given up if need be */
	return is_taken(a->kernel, &attr, a->tree->nodes[node].name);
}

static void add_node(const struct accounting *a, int node, struct record_events *events)
{
	const struct cycle_node *n = &a->tree->nodes[node];
	struct record_event *e = vec_add(&events->list);

	*e = (struct record_event){
		.name = arena_strndup(&events->names, n->name, strlen(n->name)),
		.attr = attr_of_node(a, node),
		.pmu = a->core,
		.leader = events->list.n - 1,
		.has_period = true,
		.wants_precise = n->precise > 0,
		.is_of_account = true,
		.follows_no_children = !a->follows_children,
	};
}

static void note_missing(const struct text *names, struct diags *diags)
{
	struct text text = { 0 };

	text_format(&text, "not recorded, as this machine does not have or count them: %.*s",
		    (int)names->n, names->bytes);
	text_char(&text, '\0');
	diags_add(diags, DIAG_NOTE, ERR_NOWHERE, 0, text.bytes);
	text_release(&text);
}

int accounting_add(const struct accounting *a, struct record_events *events,
		   struct accounting_plan *out, struct diags *diags, struct err *err)
{
	const struct cycle_template *t = a->tree;
	struct text missing = { 0 };
	bool has_cycles = is_here(a, t->cycles);

	*out = (struct accounting_plan){ .n_free = a->n_free };
	if (!has_cycles)
		return err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
			       "--cycles: this machine cannot sample %s (cyclops doctor says why)",
			       t->nodes[t->cycles].name);
	for (size_t i = 0; i < t->n_nodes; i++) {
		const struct cycle_node *n = &t->nodes[i];

		if (n->kind != NODE_EVENT || (!a->with_all && !cycle_node_is_needed(t, (int)i)))
			continue;
		if (!is_here(a, (int)i)) {
			text_part(&missing);
			text_str(&missing, n->name);
			continue;
		}
		add_node(a, (int)i, events);
		out->n_events++;
		out->n_counters += (int)i != t->cycles; /* which have one of their own */
	}
	if (missing.n > 0)
		note_missing(&missing, diags);
	text_release(&missing);
	return 0;
}

int accounting_tree(const struct pmu *core, const char *root, struct cycle_template **out,
		    struct err *err)
{
	uint32_t first = core->cpus.n > 0 ? core->cpus.items[0].first : 0;
	uint64_t midr = machine_midr(root, first);
	struct catalog *catalog = NULL;
	const struct cpu *cpu;
	struct text cpuid = { 0 };
	int rc = catalog_open(NULL, &catalog, err);

	*out = NULL;
	if (rc == 0) {
		cpu = midr != 0 ? catalog_cpu_of_midr(catalog, midr) : NULL;
		machine_x86_id(root, &cpuid);
		text_char(&cpuid, '\0');
		rc = cycle_template_of_cpu(cpu != NULL ? cpu_id(cpu) : "", cpuid.bytes, out, err);
		if (rc < 0)
			err_set(err, ERR_UNSUPPORTED, ERR_NOWHERE,
				"--cycles: there is no cycle accounting tree for this CPU%s%s; "
				"'cyclops "
				"list penalties' has all",
				cpu != NULL || cpuid.n > 1 ? ": " : "",
				cpu != NULL ? cpu_id(cpu) : cpuid.bytes);
	}
	text_release(&cpuid);
	catalog_free(catalog);
	return rc;
}

void accounting_sum_up(const struct accounting_plan *p, double least, double most, struct text *out)
{
	text_format(out, "%u events need %u counter%s beside that of cycles", p->n_events,
		    p->n_counters, p->n_counters == 1 ? "" : "s");
	if (p->n_free > 0)
		text_format(out, "; %u %s free", p->n_free, p->n_free == 1 ? "is" : "are");
	if (most > 0 && least > 0.995)
		text_str(out, ": each was counted all of the time");
	else if (most > 0)
		text_format(out, ": each was counted %.0f to %.0f %% of the time", 100 * least,
			    100 * most);
}
