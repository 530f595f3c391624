/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A plugin of qemu-aarch64 that does nothing where the machine model is called: at each block and memory
 * access; with each=instruction at each instruction instead of each block. What a program takes with it is
 * the limit of any model that is called there.
 */
#include <string.h>

#include "model/qemu_plugin.h"

/* Called each time before the instruction is executed. The model does not use it. */
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, qemu_plugin_exec_cb,
					    enum qemu_plugin_cb_flags, void *user);

int qemu_plugin_version = 1;
static bool calls_instructions;

static void on_code(unsigned vcpu, void *user)
{
	(void)vcpu, (void)user;
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t va, void *user)
{
	(void)vcpu, (void)info, (void)va, (void)user;
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	(void)id;
	if (!calls_instructions)
		qemu_plugin_register_vcpu_tb_exec_cb(tb, on_code, QEMU_PLUGIN_CB_NO_REGS, NULL);
	for (size_t i = 0; i < qemu_plugin_tb_n_insns(tb); i++) {
		struct qemu_plugin_insn *in = qemu_plugin_tb_get_insn(tb, i);

		if (calls_instructions)
			qemu_plugin_register_vcpu_insn_exec_cb(in, on_code, QEMU_PLUGIN_CB_NO_REGS,
							       NULL);
		qemu_plugin_register_vcpu_mem_cb(in, on_access, QEMU_PLUGIN_CB_NO_REGS,
						 QEMU_PLUGIN_MEM_RW, NULL);
	}
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	(void)info;
	calls_instructions = argc == 1 && strcmp(argv[0], "each=instruction") == 0;
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	return 0;
}
