/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The model as a plugin of qemu-aarch64: callbacks of the emulator call the machine. Most callbacks
 * have no user pointer, so the file has one global object.
 */
#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/text.h"
#include "model/call.h"
#include "model/emulator_time.h"
#include "model/machine.h"
#include "model/qemu_plugin.h"
#include "model/shared_memory.h"

/* Most instructions in a block: those of a page. */
enum { MAX_BLOCK = 1024 };

/*
 * Limit of decoded blocks, at which the translations are dropped. A program that generates code all
 * the time gets there long before the emulator drops its translations; others need ten megabytes of
 * code for it.
 */
enum { MOST_BLOCK_BYTES = 128 << 20 };

/* Most threads at the same time. Further ones are not modelled. */
enum { MAX_THREADS = 4096 };

static struct plugin {
	struct config config;
	struct machine *machine;	     /* of all processes: in shared memory */
	struct process *process;	     /* this one; NULL: not modelled */
	struct thread *threads[MAX_THREADS]; /* by number of the emulator's CPU */
	struct thread *cloning;		     /* it makes a thread */
	struct thread *forking;		     /* it makes a process */
	struct thread *forked;		     /* the thread of that process; NULL: not there yet */
	unsigned forking_vcpu;
	atomic_bool is_over; /* this process is not modelled any more */
	bool is_child;	     /* another process completes the capture */
	bool is_resetting;   /* translations are about to be dropped */
} plugin;

/* A deadline in the guest's memory, which is in the host's time during the system call. */
struct deadline {
	void *at;	 /* address in this process; NULL: none */
	int64_t time[2]; /* the guest's value, in modelled time */
};

/* The guest thread of this host thread. Each block sets it, so no function looks for its place. */
static _Thread_local struct thread *current __attribute__((tls_model("initial-exec")));
static _Thread_local struct deadline deadline;

int qemu_plugin_version = 1;

/* The thread of a virtual CPU of the emulator; NULL: not modelled, or not any more. */
static struct thread *thread_of(unsigned vcpu)
{
	if (plugin.is_over || vcpu >= MAX_THREADS || atomic_load(&plugin.machine->journal->is_over))
		return NULL;
	return plugin.threads[vcpu];
}

static bool get_modelled_time(struct modelled_time *out)
{
	const struct params *p = &plugin.config.params;
	const struct thread *t = current;
	uint64_t cycle;

	if (t == NULL || plugin.is_over)
		return false;
	cycle = thread_time(current);
	out->elapsed_ns = cycle * 1000 / p->core_mhz;
	out->busy_ns = (cycle - t->core->counts->n[COUNT_IDLE_CYCLES]) * 1000 / p->core_mhz;
	return true;
}

/* The guest's memory may be read-only. */
static bool write_guest(void *at, const void *bytes, size_t size)
{
	const struct iovec from = { .iov_base = (void *)(uintptr_t)bytes, .iov_len = size };
	const struct iovec to = { .iov_base = at, .iov_len = size };

	return process_vm_writev(getpid(), &from, 1, &to, 1, 0) == (ssize_t)size;
}

/* Replaces the deadline of a call by one in the host's time. */
static void convert_deadline(const struct call *call)
{
	enum { NS_PER_SECOND = 1000000000 };
	struct modelled_time now;
	int64_t time[2], ns;

	if (call->deadline == 0 || !get_modelled_time(&now))
		return;
	deadline.at = (void *)(uintptr_t)(call->deadline + plugin.process->described.guest_base);
	memcpy(deadline.time, deadline.at, sizeof(deadline.time));
	ns = deadline.time[1] + emulator_time_ahead(call->clock, &now);
	time[0] = deadline.time[0] + ns / NS_PER_SECOND;
	time[1] = ns % NS_PER_SECOND;
	if (time[1] < 0) {
		time[1] += NS_PER_SECOND;
		time[0]--;
	}
	if (!write_guest(deadline.at, time, sizeof(time)))
		deadline.at = NULL;
}

static void print_error(const struct err *err)
{
	fprintf(stderr, "cyclops: %s\n", err->text);
}

/*
 * Translated code has a pointer to the CPU state in a callee-saved register of the host. Callbacks
 * are called from that code, so this one passes the register on as one more argument.
 */
void cyclops_model_on_block(unsigned vcpu, void *user);
void cyclops_model_on_block_of(unsigned vcpu, void *user, const void *cpu_state);

#if defined(__x86_64__)
__asm__(".text\n"
	".globl cyclops_model_on_block\n"
	".type cyclops_model_on_block, @function\n"
	"cyclops_model_on_block:\n"
	"	mov %rbp, %rdx\n"
	"	jmp cyclops_model_on_block_of\n");
#elif defined(__aarch64__)
__asm__(".text\n"
	".globl cyclops_model_on_block\n"
	".type cyclops_model_on_block, %function\n"
	"cyclops_model_on_block:\n"
	"	mov x2, x19\n"
	"	b cyclops_model_on_block_of\n");
#else
void cyclops_model_on_block(unsigned vcpu, void *user)
{
	cyclops_model_on_block_of(vcpu, user, NULL);
}
#endif

void cyclops_model_on_block_of(unsigned vcpu, void *user, const void *cpu_state)
{
	struct thread *t = thread_of(vcpu);

	current = t;
	if (t != NULL)
		thread_enter(t, user, cpu_state);
}

static void on_access(unsigned vcpu, qemu_plugin_meminfo_t info, uint64_t vaddr, void *user)
{
	struct thread *t = thread_of(vcpu);

	if (t != NULL)
		thread_access(t, user, vaddr, 1u << qemu_plugin_mem_size_shift(info));
}

/* The instruction words of a block. Returns their number. */
static size_t read_words(const struct qemu_plugin_tb *tb, uint32_t words[MAX_BLOCK])
{
	size_t n = qemu_plugin_tb_n_insns(tb);

	if (n > MAX_BLOCK)
		n = MAX_BLOCK;
	for (size_t i = 0; i < n; i++)
		memcpy(&words[i], qemu_plugin_insn_data(qemu_plugin_tb_get_insn(tb, i)),
		       sizeof(words[i]));
	return n;
}

/* The emulator has dropped all translations. No thread executes code meanwhile. */
static void on_flush(qemu_plugin_id_t id)
{
	(void)id;
	if (!plugin.is_over)
		machine_forget_blocks(plugin.machine, plugin.process);
}

static void on_syscall(qemu_plugin_id_t id, unsigned vcpu, int64_t number, uint64_t a1, uint64_t a2,
		       uint64_t a3, uint64_t a4, uint64_t a5, uint64_t a6, uint64_t a7, uint64_t a8)
{
	const uint64_t arguments[CALL_ARGUMENTS] = { a1, a2, a3, a4, a5 };
	struct thread *t = thread_of(vcpu);
	struct call call;

	(void)id, (void)a6, (void)a7, (void)a8;
	if (t == NULL)
		return;
	call = call_read(number, arguments, plugin.process->described.guest_base);
	if (call.makes_thread)
		plugin.cloning = t;
	current = t;
	convert_deadline(&call);
	thread_call(t, &call);
	if (call.makes_process) {
		plugin.forking = t;
		plugin.forking_vcpu = vcpu;
	}
	if (!call.ends_process)
		return;
	plugin.is_over = true;
	if (plugin.is_child)
		machine_exit(t);
	else
		machine_stop(plugin.machine);
}

static void on_syscall_return(qemu_plugin_id_t id, unsigned vcpu, int64_t number, int64_t result)
{
	struct thread *t = thread_of(vcpu);

	(void)id;
	if (deadline.at != NULL)
		write_guest(deadline.at, deadline.time, sizeof(deadline.time));
	deadline.at = NULL;
	if (t == NULL)
		return;
	if (t == plugin.forking) {
		machine_forked(t, result < 0 ? plugin.forked : NULL);
		plugin.forking = plugin.forked = NULL;
	}
	thread_return(t, call_returned(number));
}

/* Called by the thread that makes the new one; for the first one before the program starts. */
static void on_vcpu_init(qemu_plugin_id_t id, unsigned vcpu)
{
	(void)id;
	if (!plugin.is_over && vcpu < MAX_THREADS)
		plugin.threads[vcpu] = machine_thread(plugin.machine, plugin.cloning);
	if (plugin.process == NULL && plugin.threads[vcpu] != NULL)
		plugin.process = plugin.threads[vcpu]->process;
}

static void on_vcpu_exit(qemu_plugin_id_t id, unsigned vcpu)
{
	struct thread *t = thread_of(vcpu);

	(void)id;
	if (t == NULL)
		return;
	plugin.threads[vcpu] = NULL;
	current = NULL;
	thread_exit(t);
}

static void on_end(qemu_plugin_id_t id, void *user)
{
	struct err err;

	(void)id, (void)user;
	if (plugin.is_child) {
		for (unsigned i = 0; i < MAX_THREADS && !plugin.is_over; i++) {
			struct thread *t = thread_of(i);

			plugin.is_over = t != NULL;
			if (t != NULL)
				machine_exit(t);
		}
		return;
	}
	plugin.is_over = true;
	machine_stop(plugin.machine);
	if (machine_finish(plugin.machine, &err) < 0)
		print_error(&err);
}

static void on_fork(void)
{
	if (plugin.forking != NULL)
		plugin.forked = machine_fork(plugin.forking);
}

/* In the child: the thread that called fork is its only one. */
static void on_fork_in_child(void)
{
	plugin.is_child = true;
	current = plugin.forked;
	memset(plugin.threads, 0, sizeof(plugin.threads));
	if (plugin.forked == NULL) {
		plugin.is_over = true;
		return;
	}
	plugin.process = plugin.forked->process;
	plugin.threads[plugin.forking_vcpu] = plugin.forked;
	machine_begin_child(plugin.forked);
	plugin.forking = plugin.forked = NULL;
}

/* Reads a descriptor to its end. */
static int read_all(int fd, struct text *out, struct err *err)
{
	ssize_t n;

	do {
		n = read(fd, text_room(out, 4096), 4096);
		if (n < 0 && errno != EINTR)
			return err_set(err, ERR_IO, ERR_NOWHERE, "cannot read the settings: %s",
				       strerror(errno));
		out->n += n > 0 ? (size_t)n : 0;
	} while (n != 0);
	return 0;
}

static int read_config(int argc, char **argv, struct config *out, struct err *err)
{
	static const char key[] = "settings=";
	struct text text = { 0 };
	int fd;

	if (argc != 1 || strncmp(argv[0], key, sizeof(key) - 1) != 0)
		return err_set(err, ERR_USAGE, ERR_NOWHERE,
			       "this plugin is started by 'cyclops model'");
	fd = atoi(argv[0] + sizeof(key) - 1);
	if (read_all(fd, &text, err) < 0) {
		text_release(&text);
		return -1;
	}
	close(fd);
	return config_read(text.bytes, text.n, out, err);
}

static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb);

static void register_calls(qemu_plugin_id_t id)
{
	qemu_plugin_register_vcpu_init_cb(id, on_vcpu_init);
	qemu_plugin_register_vcpu_exit_cb(id, on_vcpu_exit);
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translation);
	qemu_plugin_register_flush_cb(id, on_flush);
	qemu_plugin_register_vcpu_syscall_cb(id, on_syscall);
	qemu_plugin_register_vcpu_syscall_ret_cb(id, on_syscall_return);
	qemu_plugin_register_atexit_cb(id, on_end, NULL);
}

/* All translations are dropped, and callbacks with them. */
static void on_reset(qemu_plugin_id_t id)
{
	register_calls(id);
	plugin.is_resetting = false;
}

/* The emulator holds a lock here, so that one block is translated at a time. */
static void on_translation(qemu_plugin_id_t id, struct qemu_plugin_tb *tb)
{
	uint32_t words[MAX_BLOCK];
	size_t n = read_words(tb, words);
	struct qemu_plugin_insn *first;
	struct block *block;
	uint64_t pc;

	if (plugin.is_over || n == 0)
		return;
	first = qemu_plugin_tb_get_insn(tb, 0);
	pc = qemu_plugin_insn_vaddr(first);
	plugin.process->described.guest_base =
		(uint64_t)(uintptr_t)qemu_plugin_insn_haddr(first) - pc;
	block = blocks_get(&plugin.process->blocks, pc, words, n);
	block->is_new = true;
	if (plugin.process->blocks.size_bytes > MOST_BLOCK_BYTES && !plugin.is_resetting) {
		plugin.is_resetting = true;
		qemu_plugin_reset(id, on_reset);
	}
	qemu_plugin_register_vcpu_tb_exec_cb(tb, cyclops_model_on_block, QEMU_PLUGIN_CB_NO_REGS,
					     block);
	for (size_t i = 0; i < n; i++)
		qemu_plugin_register_vcpu_mem_cb(qemu_plugin_tb_get_insn(tb, i), on_access,
						 QEMU_PLUGIN_CB_NO_REGS, QEMU_PLUGIN_MEM_RW,
						 &block->insns[i]);
}

int qemu_plugin_install(qemu_plugin_id_t id, const qemu_info_t *info, int argc, char **argv)
{
	struct err err;

	if (strcmp(info->target_name, "aarch64") != 0 || info->system_emulation) {
		fprintf(stderr, "cyclops model: wanted qemu-aarch64, found %s\n",
			info->target_name);
		return -1;
	}
	if (shared_memory_open(&err) < 0 || read_config(argc, argv, &plugin.config, &err) < 0 ||
	    machine_init(plugin.machine = mem_zalloc(1, sizeof(*plugin.machine)), &plugin.config,
			 &err) < 0) {
		print_error(&err);
		_exit(EXIT_FAILURE); /* returning -1 would make the emulator print a second error */
	}
	if (plugin.config.journal > 0)
		close((int)plugin.config.journal); /* the program must not inherit it */
	emulator_time_install(get_modelled_time);  /* else the guest has this machine's time */
	pthread_atfork(on_fork, NULL, on_fork_in_child);
	register_calls(id);
	return 0;
}
