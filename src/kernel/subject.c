/* SPDX-License-Identifier: Apache-2.0 */
#include "kernel/subject.h"

#include "doctor/doctor.h"

static int open_model(struct subject *s, const struct subject_options *o, struct err *err)
{
	s->is_modelled = true;
	s->model = (struct on_model){
		.model = o->model[0] != '\0' ? o->model : NULL,
		.sets = o->sets->items,
		.emulator = o->emulator,
		.plugin = o->plugin,
		.runner = o->runner,
	};
	if (on_model_init(&s->model, err) < 0)
		return -1;
	s->measurer = on_model_measurer(&s->model);
	s->sizes = s->model.sizes;
	s->architecture = ON_AARCH64;
	s->cpu = catalog_cpu_find(s->catalog, s->model.cpu);
	return cpu_pmu_open(s->catalog, s->cpu, 0, &s->facts, err);
}

/* Sysfs has the sizes of caches, not those of TLBs. */
static void know_tlbs(struct subject *s, const struct subject_options *o)
{
	if (s->facts != NULL) {
		s->sizes.dtlb_pages = s->facts->dtlb_entries;
		s->sizes.l2tlb_pages = s->facts->l2tlb_entries;
	}
	if (o->l1_tlb > 0)
		s->sizes.dtlb_pages = o->l1_tlb;
	if (o->l2_tlb > 0)
		s->sizes.l2tlb_pages = o->l2_tlb;
}

static int open_machine(struct subject *s, const struct subject_options *o, struct err *err)
{
	struct doctor_trial trial;
	int rc = 0;

	doctor_try(&trial);
	here_init(&s->here, "", s->catalog, NULL, trial.error == 0);
	machine_read(&s->machine, "");
	s->sizes = on_machine_sizes("");
	s->architecture = MICROBENCHMARK_ARCHITECTURE;
	s->cpu = s->here.cpu;
	if (here_why_not(&s->here) == NULL) {
		const struct cpu_list *cpus = &s->here.core->cpus;

		s->midr = machine_midr("", cpus->n > 0 ? cpus->items[0].first : 0);
		if (s->cpu == NULL)
			s->cpu = catalog_cpu_stand_in(s->catalog, s->midr);
		rc = cpu_pmu_open(s->catalog, s->cpu, s->midr, &s->facts, err);
		s->on_machine.core = s->here.core;
		s->on_machine.n_counters = trial.n_free;
	}
	s->on_machine.kernel = &kernel_linux;
	s->on_machine.pmus = &s->here.pmus;
	s->on_machine.facts = s->facts;
	s->measurer = on_machine_measurer(&s->on_machine);
	know_tlbs(s, o);
	return rc;
}

int subject_open(struct subject *s, const struct subject_options *o, struct err *err)
{
	*s = (struct subject){ 0 };
	if (catalog_open(o->catalog, &s->catalog, err) < 0)
		return -1;
	return o->model != NULL ? open_model(s, o, err) : open_machine(s, o, err);
}

void subject_release(struct subject *s)
{
	cpu_pmu_free(s->facts);
	if (!s->is_modelled && s->catalog != NULL) {
		here_release(&s->here);
		machine_release(&s->machine);
	}
	catalog_free(s->catalog);
}

const char *subject_why_not(const struct subject *s)
{
	return s->is_modelled ? NULL : here_why_not(&s->here);
}
