#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Kinds of programs under the model, and what is said where one cannot run:
model_programs.py CYCLOPS DATA_DIR.

Static, position-independent and dynamically linked programs, ones with threads that wait for each
other, that fork, that load a library later, that a signal ends: their output and status are theirs,
their captures name their modules and are the same twice. Without the emulator or the cross compiler
the test is skipped.
"""

import collections
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Failed, csv_rows, need, run

WORK = """
static unsigned work(unsigned n)
{
	volatile unsigned sum = 0;
	for (unsigned i = 0; i < n; i++)
		sum += i ^ sum << 3;
	return sum;
}
"""

PLAIN = "#include <stdio.h>\n" + WORK + """
int main(void) { unsigned n = work(200000); printf("%u\\n", n & 1); return 3; }
"""

LATER = "#include <dlfcn.h>\n#include <stdio.h>\n" + WORK + """
int main(void)
{
	void *library = dlopen("libm.so.6", RTLD_NOW);
	double (*function)(double) = (double (*)(double))dlsym(library, "tgamma");
	double sum = 0;
	for (unsigned i = 1; i < 3000; i++)
		sum += function(i % 7 + 0.5);
	printf("%d\\n", sum > 0);
	return 3;
}
"""

FORKING = "#include <stdio.h>\n#include <sys/wait.h>\n#include <unistd.h>\n" + WORK + """
int main(void)
{
	int status = 0;
	work(100000);
	if (fork() == 0)
		_exit(work(100000) == 1 ? 6 : 5);
	wait(&status);
	work(100000);
	printf("%d\\n", WEXITSTATUS(status));
	return 3;
}
"""

THREADS = "#include <pthread.h>\n#include <stdio.h>\n" + WORK + """
enum { THREADS = 5, ROUNDS = 200 };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t changed = PTHREAD_COND_INITIALIZER;
static unsigned turn, total;
static void *run(void *number)
{
	for (unsigned i = 0; i < ROUNDS; i++) {
		work(100);
		pthread_mutex_lock(&lock);
		while (turn % THREADS != (unsigned)(unsigned long)number)
			pthread_cond_wait(&changed, &lock);
		turn++;
		total++;
		pthread_cond_broadcast(&changed);
		pthread_mutex_unlock(&lock);
		__atomic_fetch_add(&total, 0, __ATOMIC_SEQ_CST);
	}
	return 0;
}
int main(void)
{
	pthread_t threads[THREADS];
	for (unsigned long i = 0; i < THREADS; i++)
		pthread_create(&threads[i], 0, run, (void *)i);
	for (unsigned i = 0; i < THREADS; i++)
		pthread_join(threads[i], 0);
	printf("%u\\n", total);
	return 3;
}
"""

KILLED = "#include <stdlib.h>\n" + WORK + "int main(void) { work(100000); abort(); }\n"

# name, source, flags, output, exit status, modules that must have records, threads
PROGRAMS = (
    ("static", PLAIN, ["-static"], "", 3, {"program"}, 1),
    ("static-pie", PLAIN, ["-static-pie"], "", 3, {"program"}, 1),
    ("dynamic", PLAIN, ["-no-pie"], "", 3, {"program"}, 1),
    ("pie", PLAIN, ["-pie"], "", 3, {"program", "ld-linux-aarch64.so.1"}, 1),
    ("later", LATER, ["-ldl"], "1\n", 3, {"program", "libm.so.6"}, 1),
    ("forking", FORKING, ["-static"], "5\n", 3, {"program"}, 2),
    ("threads", THREADS, ["-pthread"], "1000\n", 3, {"program", "libc.so.6"}, 6),
    ("killed", KILLED, ["-static"], "", 128 + 6, set(), 0),
)

# arguments after "model", what the message must contain
ERRORS = (
    (["--", "{folder}/x86"], ("x86-64", "apt install gcc-aarch64-linux-gnu")),
    (["--", "{folder}/plain-file"], ("not executable", "chmod +x")),
    (["--", "{folder}/script"], ("a script", "interpreter")),
    (["--", "{folder}/none"], ("No such file",)),
    (["--", "{folder}"], ("directory",)),
    (["-L", "/nonexistent", "--", "{folder}/pie"],
     ("/nonexistent/lib/ld-linux-aarch64.so.1", "-L", "apt install libc6-arm64-cross")),
    (["--emulator", "/nonexistent", "--", "{folder}/static"], ("--emulator", "/nonexistent")),
    (["--emulator", "/bin/false", "--", "{folder}/static"], ("/bin/false has no plugins", "qemu-user")),
    (["--plugin", "/nonexistent", "--", "{folder}/static"], ("--plugin", "/nonexistent")),
    (["--set", "l1d_bytes=100", "--", "{folder}/static"], ("l1d", "power of two")),
    (["--set", "nothing=1", "--", "{folder}/static"], ("nothing", "docs/model.md")),
    (["--interval", "1000", "--", "{folder}/static"], ("1000", "multiple of 256")),
    (["-o", "/nonexistent/x", "--", "{folder}/static"], ("/nonexistent/x",)),
    (["--truth", "/nonexistent/x", "--", "{folder}/static"], ("/nonexistent/x",)),
    (["--event", "nothing", "--", "{folder}/static"], ("nothing", "l1d-refill")),
)


def build(folder, name, source, flags):
    (folder / f"{name}.c").write_text(source)
    run("aarch64-linux-gnu-gcc", "-O2", "-g", "-o", folder / name, folder / f"{name}.c", *flags)
    return folder / name


def model(cyclops, folder, *arguments, path=None):
    return subprocess.run([cyclops, "model", *map(str, arguments)], cwd=folder, text=True,
                          env={**ENVIRONMENT, **({"PATH": path} if path else {})}, check=False,
                          capture_output=True, stdin=subprocess.DEVNULL)


def capture(cyclops, folder, program, *options):
    """Runs it; returns (what it printed, status), and the capture's bytes."""
    done = model(cyclops, folder, "-o", "out.data", *options, "--", program)
    return (done.stdout, done.returncode), (folder / "out.data").read_bytes()


def check_modules(cyclops, folder, name, wanted, n_threads):
    samples = collections.Counter()
    threads = set()
    for row in csv_rows(cyclops, "hot", "--by", "process,thread,module", "--all", "--format", "csv", folder / "out.data"):
        samples["program" if row["module"] == name else row["module"]] += int(row["samples"])
        threads.add(row["tid"])
    print(f"{name}: {dict(samples)}, {len(threads)} threads")
    if not wanted <= set(samples) or len(threads) > n_threads:
        raise Failed(f"{name}: records in {dict(samples)} of threads {threads}, wanted {wanted}")


def check_killed(cyclops, folder, program, status):
    done = model(cyclops, folder, "-o", "out.data", "--", program)
    if done.returncode != status or f"signal {status - 128}" not in done.stderr.splitlines()[-1]:
        raise Failed(f"{program.name}: status {done.returncode}, said {done.stderr!r}")


def check_program(cyclops, folder, name, source, flags, output, status, modules, n_threads):
    program = build(folder, name, source, flags)
    if status > 128:
        check_killed(cyclops, folder, program, status)
        return
    (printed, first), (_, again), (_, other) = (
        capture(cyclops, folder, program, *seed) for seed in ([], [], ["--seed", "7"]))
    if (output and printed[0] != output) or printed[1] != status:
        raise Failed(f"{name}: printed {printed}, wanted {output!r} and status {status}")
    if first != again:
        raise Failed(f"{name}: two runs gave different captures")
    if first == other:
        raise Failed(f"{name}: another seed gave the same capture")
    capture(cyclops, folder, program)
    check_modules(cyclops, folder, name, modules, n_threads)


def check_errors(cyclops, folder):
    (folder / "plain-file").write_bytes((folder / "static").read_bytes())
    (folder / "script").write_text("#!/bin/sh\n")
    (folder / "x86").write_bytes(pathlib.Path("/bin/true").read_bytes())
    for name in ("script", "x86"):
        (folder / name).chmod(0o755)
    cases = [([word.format(folder=folder) for word in words], wanted, None) for words, wanted in ERRORS]
    cases.append((["--", str(folder / "static")], ("apt install qemu-user",), "/nonexistent"))
    for words, wanted, path in cases:
        done = model(cyclops, folder, *words, path=path)
        lines = done.stderr.splitlines()
        if done.returncode not in (1, 2) or len(lines) != 1 or not lines[0].startswith("cyclops: "):
            raise Failed(f"{words}: status {done.returncode}, said {done.stderr!r}")
        if not all(part in lines[0] for part in wanted):
            raise Failed(f"{words}: said {lines[0]!r}, wanted {wanted}")
    print(f"{len(cases)} errors say what helps")


def main():
    cyclops = os.path.realpath(sys.argv[1])
    for program in ("qemu-aarch64", "aarch64-linux-gnu-gcc"):
        need(program)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for program in PROGRAMS:
            check_program(cyclops, folder, *program)
        check_errors(cyclops, folder)


if __name__ == "__main__":
    main()
