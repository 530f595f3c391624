/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A filter of our own rather than one of libseccomp: it is a list of numbers, needs no library in a static program, and
 * has three answers. What reading, computing and writing files takes is allowed. What only an intruder would call
 * kills the process. All else fails with ENOSYS: C libraries that try something newer first go on without it.
 */
#include "sandbox/filter.h"

#include <stddef.h>

#if defined(__x86_64__) || defined(__aarch64__)

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdint.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "base/alloc.h"
#include "base/vec.h"
#include "sandbox/sanitized.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41 /* the C library names its memory */
#endif

#ifdef __x86_64__
#define ARCHITECTURE AUDIT_ARCH_X86_64
#else
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

static const int allowed[] = {
	/* the most frequent first: each is compared in turn, once per process where the kernel keeps answers */
	SYS_read,
	SYS_pread64,
	SYS_write,
	SYS_futex,
	SYS_madvise,
	SYS_munmap,

	SYS_close,
	SYS_fstat,
	SYS_newfstatat,
	SYS_lseek,
	SYS_mremap,
	SYS_brk,
	SYS_readv,
	SYS_preadv,
	SYS_writev,
	SYS_pwrite64,
	SYS_pwritev,
	SYS_statfs,
	SYS_fstatfs,
	SYS_faccessat,
	SYS_readlinkat,
	SYS_getcwd,
	SYS_getdents64,
	SYS_dup,
	SYS_dup3,
	SYS_fcntl,
	SYS_ftruncate,
	SYS_fallocate,
	SYS_fsync,
	SYS_fdatasync,
	SYS_fadvise64,
	SYS_readahead,
	SYS_flock,
	SYS_mkdirat,
	SYS_unlinkat,
	SYS_renameat2,
	SYS_linkat,
	SYS_fchmod,
	SYS_fchown,
	SYS_umask,
	SYS_msync,
	SYS_mincore,
	SYS_membarrier,
	SYS_memfd_create,
	SYS_rt_sigaction,
	SYS_rt_sigprocmask,
	SYS_rt_sigreturn,
	SYS_rt_sigtimedwait,
	SYS_sigaltstack,
	SYS_exit,
	SYS_exit_group,
	SYS_set_robust_list,
	SYS_get_robust_list,
	SYS_set_tid_address,
	SYS_gettid,
	SYS_getpid,
	SYS_getppid,
	SYS_getuid,
	SYS_geteuid,
	SYS_getgid,
	SYS_getegid,
	SYS_getrandom,
	SYS_clock_gettime,
	SYS_clock_getres,
	SYS_clock_nanosleep,
	SYS_nanosleep,
	SYS_gettimeofday,
	SYS_sched_yield,
	SYS_sched_getaffinity,
	SYS_getcpu,
	SYS_getrusage,
	SYS_times,
	SYS_sysinfo,
	SYS_uname,
	SYS_restart_syscall,
	SYS_ppoll,
	SYS_pselect6,
	SYS_wait4,
	SYS_waitid,
	SYS_prlimit64,
	SYS_renameat,
#ifdef SYS_getrlimit
	SYS_getrlimit,
#endif
#ifdef SYS_statx
	SYS_statx,
#endif
#ifdef SYS_rseq
	SYS_rseq,
#endif
#ifdef SYS_faccessat2
	SYS_faccessat2,
#endif
#ifdef SYS_close_range
	SYS_close_range,
#endif
#ifdef __x86_64__
	SYS_stat,
	SYS_lstat,
	SYS_access,
	SYS_readlink,
	SYS_mkdir,
	SYS_unlink,
	SYS_rename,
	SYS_link,
	SYS_dup2,
	SYS_poll,
	SYS_select,
	SYS_time,
	SYS_arch_prctl,
	SYS_getdents,
#endif
#if IS_SANITIZED
	SYS_ptrace,
	SYS_clone,
	SYS_execve,
	SYS_pipe2,
	SYS_personality,
	SYS_kill,
	SYS_tgkill,
	SYS_prctl,
	SYS_sched_setaffinity,
	SYS_setrlimit,
	SYS_mmap,
	SYS_mprotect,
#ifdef __x86_64__
	SYS_fork,
	SYS_vfork,
	SYS_pipe,
#endif
#endif
};

static const int killing[] = {
	SYS_socket,
	SYS_socketpair,
	SYS_connect,
	SYS_bind,
	SYS_listen,
	SYS_accept,
	SYS_accept4,
	SYS_sendto,
	SYS_sendmsg,
	SYS_recvfrom,
	SYS_recvmsg,
	SYS_execveat,
	SYS_process_vm_readv,
	SYS_process_vm_writev,
	SYS_perf_event_open,
	SYS_bpf,
	SYS_init_module,
	SYS_finit_module,
	SYS_delete_module,
	SYS_kexec_load,
	SYS_mount,
	SYS_umount2,
	SYS_pivot_root,
	SYS_chroot,
	SYS_setns,
	SYS_unshare,
	SYS_setuid,
	SYS_setgid,
	SYS_setreuid,
	SYS_setregid,
	SYS_setresuid,
	SYS_setresgid,
	SYS_setgroups,
	SYS_capset,
	SYS_keyctl,
	SYS_add_key,
	SYS_request_key,
	SYS_userfaultfd,
	SYS_reboot,
	SYS_swapon,
	SYS_swapoff,
	SYS_settimeofday,
	SYS_clock_settime,
	SYS_symlinkat,
	SYS_mknodat,
	SYS_fchmodat,
	SYS_fchownat,
	SYS_setxattr,
	SYS_lsetxattr,
	SYS_fsetxattr,
	SYS_open_by_handle_at,
	SYS_rt_sigqueueinfo,
	SYS_rt_tgsigqueueinfo,
	SYS_tkill,
#ifdef SYS_io_uring_setup
	SYS_io_uring_setup,
	SYS_io_uring_enter,
	SYS_io_uring_register,
#endif
#ifdef SYS_pidfd_open
	SYS_pidfd_open,
#endif
#ifdef SYS_pidfd_getfd
	SYS_pidfd_getfd,
#endif
#ifdef __x86_64__
	SYS_symlink,
	SYS_mknod,
	SYS_chmod,
	SYS_chown,
	SYS_lchown,
	SYS_iopl,
	SYS_ioperm,
#endif
#if !IS_SANITIZED
	SYS_execve,
	SYS_ptrace,
#ifdef __x86_64__
	SYS_fork,
	SYS_vfork,
#endif
#endif
};

_Static_assert(COUNT(allowed) < 255 && COUNT(killing) < 255, "answer_calls()");

typedef VEC_OF(struct sock_filter) program;

static void add(program *p, uint16_t code, uint32_t k, uint8_t if_true, uint8_t if_false)
{
	*vec_add(p) = (struct sock_filter){ code, if_true, if_false, k };
}

static void load(program *p, size_t offset)
{
	add(p, BPF_LD | BPF_W | BPF_ABS, (uint32_t)offset, 0, 0);
}

static void answer(program *p, uint32_t action)
{
	add(p, BPF_RET | BPF_K, action, 0, 0);
}

/* The lower half of an argument: both architectures are little-endian. */
static size_t argument(unsigned i)
{
	return offsetof(struct seccomp_data, args) + i * sizeof(uint64_t);
}

/* At most 254 calls, as a jump reaches 255 instructions. Any of them jumps to the answer behind the list. */
static void answer_calls(program *p, const int *calls, size_t n, uint32_t action)
{
	for (size_t i = 0; i < n; i++)
		add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)calls[i], (uint8_t)(n - i), 0);
	add(p, BPF_JMP | BPF_JA, 1, 0, 0);
	answer(p, action);
}

/* Of a call, the values of one argument that are allowed; with others it has the other answer. */
static void check_values(program *p, int call, unsigned which, const uint32_t *values, size_t n,
			 uint32_t otherwise)
{
	add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, (uint8_t)(2 * n + 2));
	load(p, argument(which));
	for (size_t i = 0; i < n; i++) {
		add(p, BPF_JMP | BPF_JEQ | BPF_K, values[i], 0, 1);
		answer(p, SECCOMP_RET_ALLOW);
	}
	answer(p, otherwise);
}

/* The same for bits of an argument: all of `wanted`, or none of `refused`, whichever is not 0. */
static void check_bits(program *p, int call, unsigned which, uint32_t wanted, uint32_t refused,
		       uint32_t otherwise)
{
	bool wants = wanted != 0;

	add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 4);
	load(p, argument(which));
	add(p, BPF_JMP | BPF_JSET | BPF_K, wants ? wanted : refused, wants ? 0 : 1, wants ? 1 : 0);
	answer(p, SECCOMP_RET_ALLOW);
	answer(p, otherwise);
}

/*
 * Which files may be opened is Landlock's matter. But no file that is there is opened for writing, wherever it is:
 * what is written has no name yet (O_TMPFILE), or is made then and there (O_EXCL). openat2() keeps its flags in
 * memory, which no filter sees, so it is not there.
 */
static void check_flags(program *p, int call, unsigned which)
{
	const uint32_t writes = O_WRONLY | O_RDWR | O_TRUNC | O_CREAT, is_new = O_CREAT | O_EXCL;

	add(p, BPF_JMP | BPF_JEQ | BPF_K, (uint32_t)call, 0, 7);
	load(p, argument(which));
	add(p, BPF_JMP | BPF_JSET | BPF_K, writes, 0, 3);
	add(p, BPF_JMP | BPF_JSET | BPF_K, O_TMPFILE & ~O_DIRECTORY, 2, 0);
	add(p, BPF_ALU | BPF_AND | BPF_K, is_new, 0, 0);
	add(p, BPF_JMP | BPF_JEQ | BPF_K, is_new, 0, 1);
	answer(p, SECCOMP_RET_ALLOW);
	answer(p, SECCOMP_RET_ERRNO | EACCES);
}

static void check_opening(program *p, bool writes_in_place)
{
	const int at = SYS_openat;
#ifdef SYS_open
	const int by_path = SYS_open;
#endif

	if (writes_in_place) {
		answer_calls(p, &at, 1, SECCOMP_RET_ALLOW);
#ifdef SYS_open
		answer_calls(p, &by_path, 1, SECCOMP_RET_ALLOW);
#endif
		return;
	}
	check_flags(p, at, 2);
#ifdef SYS_open
	check_flags(p, by_path, 1);
#endif
}

static void check_arguments(program *p)
{
	/* What isatty() and the width of a terminal need; others could type into it. */
	static const uint32_t terminal[] = { TCGETS, TIOCGWINSZ, FIONREAD };
	static const uint32_t process[] = { PR_SET_NAME, PR_GET_NAME, PR_SET_VMA, PR_GET_DUMPABLE };
	const uint32_t self[] = { (uint32_t)getpid() };

	check_values(p, SYS_ioctl, 1, terminal, COUNT(terminal), SECCOMP_RET_ERRNO | ENOTTY);
	if (IS_SANITIZED)
		return;
	check_bits(p, SYS_mmap, 2, 0, PROT_EXEC, SECCOMP_RET_ERRNO | EPERM);
	check_bits(p, SYS_mprotect, 2, 0, PROT_EXEC, SECCOMP_RET_ERRNO | EPERM);
	check_values(p, SYS_prctl, 0, process, COUNT(process), SECCOMP_RET_ERRNO | EINVAL);
	check_bits(p, SYS_clone, 0, CLONE_THREAD, 0, SECCOMP_RET_KILL_PROCESS);
	check_values(p, SYS_kill, 0, self, 1, SECCOMP_RET_KILL_PROCESS);
	check_values(p, SYS_tgkill, 0, self, 1, SECCOMP_RET_KILL_PROCESS);
}

static void make_filter(program *p, bool writes_in_place)
{
	load(p, offsetof(struct seccomp_data, arch));
	add(p, BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0);
	answer(p, SECCOMP_RET_KILL_PROCESS);
	load(p, offsetof(struct seccomp_data, nr));
	answer_calls(p, allowed, COUNT(allowed), SECCOMP_RET_ALLOW);
	answer_calls(p, killing, COUNT(killing), SECCOMP_RET_KILL_PROCESS);
	check_opening(p, writes_in_place);
	check_arguments(p);
	answer(p, SECCOMP_RET_ERRNO | ENOSYS);
}

#endif

bool filter_is_there(void)
{
#ifdef ARCHITECTURE
	uint32_t action = SECCOMP_RET_KILL_PROCESS;

	return syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0, &action) == 0;
#else
	return false;
#endif
}

bool filter_install(bool writes_in_place)
{
#ifdef ARCHITECTURE
	program p = { 0 };
	struct sock_fprog given;
	bool is_done;

	make_filter(&p, writes_in_place);
	given = (struct sock_fprog){ .len = (unsigned short)p.n, .filter = p.items };
	is_done = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, SECCOMP_FILTER_FLAG_TSYNC,
			  &given) == 0;
	vec_release(&p);
	return is_done;
#else
	(void)writes_in_place;
	return false;
#endif
}
