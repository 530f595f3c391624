/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The part of QEMU's TCG plugin interface (version 1, QEMU 4.2 and later) that the model uses.
 * Debian does not package the header; these are declarations of the facts, in our words.
 * The functions are defined by the qemu-aarch64 that loads the plugin.
 */
#ifndef CYCLOPS_MODEL_QEMU_PLUGIN_H
#define CYCLOPS_MODEL_QEMU_PLUGIN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

typedef uint64_t qemu_plugin_id_t;

/* Of the emulator that loads the plugin. */
typedef struct {
	const char *target_name; /* "aarch64" */
	struct {
		int min, cur;
	} version; /* of the interface */
	bool system_emulation;
	union {
		struct {
			int smp_vcpus, max_vcpus;
		} system;
	};
} qemu_info_t;

struct qemu_plugin_tb;	 /* a translated block: a straight run of guest instructions */
struct qemu_plugin_insn; /* one of them, valid while the block is being translated */

/* A memory access: packed facts that the qemu_plugin_mem_… functions read. */
typedef uint32_t qemu_plugin_meminfo_t;

enum qemu_plugin_cb_flags { QEMU_PLUGIN_CB_NO_REGS };
enum qemu_plugin_mem_rw { QEMU_PLUGIN_MEM_R = 1, QEMU_PLUGIN_MEM_W, QEMU_PLUGIN_MEM_RW };

typedef void (*qemu_plugin_simple_cb)(qemu_plugin_id_t);
typedef void (*qemu_plugin_vcpu_cb)(qemu_plugin_id_t, unsigned vcpu);
typedef void (*qemu_plugin_udata_cb)(qemu_plugin_id_t, void *user);
typedef void (*qemu_plugin_tb_cb)(qemu_plugin_id_t, struct qemu_plugin_tb *);
typedef void (*qemu_plugin_exec_cb)(unsigned vcpu, void *user);
typedef void (*qemu_plugin_mem_cb)(unsigned vcpu, qemu_plugin_meminfo_t, uint64_t vaddr,
				   void *user);
typedef void (*qemu_plugin_syscall_cb)(qemu_plugin_id_t, unsigned vcpu, int64_t number, uint64_t a1,
				       uint64_t a2, uint64_t a3, uint64_t a4, uint64_t a5,
				       uint64_t a6, uint64_t a7, uint64_t a8);
typedef void (*qemu_plugin_syscall_ret_cb)(qemu_plugin_id_t, unsigned vcpu, int64_t number,
					   int64_t result);

/* What the plugin exports. */
extern int qemu_plugin_version;
int qemu_plugin_install(qemu_plugin_id_t, const qemu_info_t *, int argc, char **argv);

void qemu_plugin_register_vcpu_init_cb(qemu_plugin_id_t, qemu_plugin_vcpu_cb);
void qemu_plugin_register_vcpu_exit_cb(qemu_plugin_id_t, qemu_plugin_vcpu_cb);
void qemu_plugin_register_vcpu_syscall_cb(qemu_plugin_id_t, qemu_plugin_syscall_cb);
void qemu_plugin_register_vcpu_syscall_ret_cb(qemu_plugin_id_t, qemu_plugin_syscall_ret_cb);
/* Called when all translated blocks have been thrown away. */
void qemu_plugin_register_flush_cb(qemu_plugin_id_t, qemu_plugin_simple_cb);
void qemu_plugin_register_atexit_cb(qemu_plugin_id_t, qemu_plugin_udata_cb, void *user);

/* Called for each block translated; only there instructions can be looked at and hooked. */
void qemu_plugin_register_vcpu_tb_trans_cb(qemu_plugin_id_t, qemu_plugin_tb_cb);
size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t index);
const void *qemu_plugin_insn_data(const struct qemu_plugin_insn *); /* its bytes */
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);   /* guest address */
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);	    /* our address of it */

/* Called each time the block is entered. */
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, qemu_plugin_exec_cb,
					  enum qemu_plugin_cb_flags, void *user);

/* Called behind each access of the instruction. Load and store pairs make two. */
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, qemu_plugin_mem_cb,
				      enum qemu_plugin_cb_flags, enum qemu_plugin_mem_rw,
				      void *user);
unsigned qemu_plugin_mem_size_shift(qemu_plugin_meminfo_t); /* log2 of the bytes */
bool qemu_plugin_mem_is_store(qemu_plugin_meminfo_t);

/*
 * Soon throws away all translated blocks, takes all registered calls back, and calls this one,
 * which may register them anew. Nobody executes anything meanwhile.
 */
void qemu_plugin_reset(qemu_plugin_id_t, qemu_plugin_simple_cb);

#endif
