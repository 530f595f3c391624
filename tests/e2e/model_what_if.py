#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What programs gain on the machine model if one resource is perfect: the cause that is known wins.

usage: model_what_if.py CYCLOPS DATA_DIR [--all]

An idealisation that is another value of a parameter gives the cycles of that value, exactly, however
it is timed: by a replica of the machine, in a run of its own, for all functions or for one. Programs
that read are compiled here; without the cross compiler these cases are left out. Without --all there
are fewer programs.
"""

import json
import os
import shutil
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, need

COMPILER = "aarch64-linux-gnu-gcc"

# Each is a cause of its own: none contains another one.
CAUSES = ("dram", "dram-bandwidth", "llc-hits", "l2-hits", "page-walks", "branch-prediction", "instruction-side",
          "coherence", "ordering", "arithmetic", "outstanding-misses")

# Idealisation, and the parameters that mean the same.
EQUALS = [
    ("dram", ["dram_cycles=101"]),
    ("huge-pages", ["huge_pages=1"]),
    ("no-prefetchers", ["prefetch_distance=0", "prefetch_next_line=0"]),
    ("dram+huge-pages", ["dram_cycles=101", "huge_pages=1"]),
]

# The same of arithmetic, for a program that has no other latencies than these.
ARITHMETIC_EQUALS = [
    ("division", ["latency_divide=2", "latency_divide_long=4", "latency_float_divide=3", "latency_float_root=3",
                  "busy_divide=1", "busy_divide_long=3", "busy_float_divide=1", "busy_float_root=1"]),
    ("arithmetic-latency", [f"latency_{name}=1" for name in (
        "alu_shifted", "extract", "multiply", "multiply_long", "multiply_high", "divide", "divide_long", "float_add",
        "float_multiply", "float_divide", "float_root", "convert", "convert_to_vector", "move_to_vector",
        "move_to_general", "vector")]),
]

# Program, the cause that gains most, by at least so much, and the function that does. The causes of some are
# asked about by no other check.
SOME_PROGRAMS = [
    ("copies", "branch-prediction", 0.7, "copy_all"),
    ("pages", "llc-hits", 0.5, "visit"),
    ("sharing", "coherence", 0.2, None),
]
PROGRAMS = [
    *SOME_PROGRAMS,
    ("chase", "dram", 0.3, "chase_memory"),
    ("multiply", "arithmetic", 0.3, "multiply_naive"),
]

# Cause and the functions of a program that it is asked for one by one.
SOME_PARTS = [
    ("pages", "llc-hits", ("visit", "fill", "kernel_main")),
    ("copies", "branch-prediction", ("copy_all", "prepare")),
]
PARTS = [
    *SOME_PARTS,
    ("chase", "dram", ("chase_memory", "chase_system_cache", "chase_l2", "link_nodes", "kernel_main")),
    ("chase", "page-walks", ("chase_memory", "chase_system_cache", "link_nodes")),
    ("multiply", "arithmetic", ("multiply_naive", "multiply_interchanged", "prepare")),
]
HAS_ALL = "--all" in sys.argv

# Reads its standard input twice over, and ends as the argument says.
READER = r"""
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
int main(int argc, char **argv)
{
	long sum = 0, n = 0;
	for (int c; (c = getchar()) != EOF; n++)
		sum += c * n % 7;
	printf("%ld bytes, %ld\n", n, sum);
	fflush(stdout);
	if (argc > 1 && argv[1][0] == 'k')
		raise(SIGKILL);
	return argc > 1 ? atoi(argv[1]) : 0;
}
"""


# A chain of fmadd in two processes: they run at the same time, so each idealisation is a run.
FORKER = r"""
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>
static volatile double x = 1;
__attribute__((noinline)) static void chain(int n)
{
	double y = x;
	for (int i = 0; i < n; i++)
		y = y * 1.0000001 + 0.1;
	x = y;
}
int main(void)
{
	int status = 1;
	pid_t child = fork();
	chain(child == 0 ? 20000 : 60000);
	if (child == 0)
		_exit(0);
	waitpid(child, &status, 0);
	return WEXITSTATUS(status);
}
"""

# Chains of all kinds of divisions, and divisions that do not wait for each other.
DIVIDER = r"""
#include <math.h>
int main(int argc, char **argv)
{
	unsigned long a = 1UL << 60, sum = 0;
	unsigned b = 1u << 30;
	double x = 7, y = 3;
	(void)argv;
	for (int i = 0; i < 20000; i++) {
		a = a / (argc + 2UL) + (1UL << 59);
		b = b / (argc + 2u) * 5 + (1u << 29);
		x = sqrt(x / y + i);
		y = (float)y / (float)(argc + 2) + i;
		sum += (1UL << 40) / (unsigned long)(i + argc) * a;
	}
	return (double)a + b + x + y + (double)sum < 0;
}
"""

# Rings of nodes that lie far apart, followed CHAINS at a time.
FOLLOWER = r"""
#include <stdint.h>
#include <stdlib.h>
enum { RINGS = 16, NODES = 1 << 13, STEP = 64 * 41 + 17 };
struct node { struct node *next; char rest[56]; };
int main(void)
{
	struct node *nodes = aligned_alloc(64, RINGS * NODES * sizeof(*nodes)), *at[CHAINS];
	for (uint32_t i = 0; i < RINGS * NODES; i++)
		nodes[i].next = &nodes[i / NODES * NODES + (i + STEP) % NODES];
	for (int ring = 0; ring < RINGS; ring += CHAINS) {
		for (int c = 0; c < CHAINS; c++)
			at[c] = &nodes[(ring + c) * NODES];
		for (int i = 0; i < NODES; i++)
			for (int c = 0; c < CHAINS; c++)
				at[c] = at[c]->next;
		for (int c = 0; c < CHAINS; c++)
			if (at[c] != &nodes[(ring + c) * NODES])
				return 1;
	}
	return 0;
}
"""


# Adds to numbers that are in the L1D, one or four at a time.
ADDER = r"""
static unsigned short numbers[4096];
#ifdef VECTORS
typedef unsigned short number __attribute__((vector_size(8), may_alias));
#else
typedef unsigned short number;
#endif
__attribute__((noinline)) static void add(number *all, unsigned short by, int n)
{
	for (int i = 0; i < n; i++)
		all[i] += by;
}
extern __typeof__(add) increase __attribute__((alias("add")));
int main(int argc, char **argv)
{
	(void)argv;
	for (int round = 0; round < 100; round++)
		add((number *)numbers, (unsigned short)(round + argc), sizeof(numbers) / sizeof(number) - (argc > 9));
	return 0;
}
"""


def build(folder, name, text, *flags):
    source, program = os.path.join(folder, name + ".c"), os.path.join(folder, name)
    with open(source, "w", encoding="utf-8") as file:
        file.write(text)
    subprocess.run([COMPILER, "-O2", "-g", "-static", "-fno-math-errno", *flags, source, "-o", program, "-lm"], check=True)
    return program


def run_model(cyclops, folder, *words, **options):
    return subprocess.run([cyclops, "model", *words], env=ENVIRONMENT, cwd=folder, capture_output=True, check=False,
                          **options)


def cycles_of(cyclops, folder, program, *words):
    done = run_model(cyclops, folder, "--counts", "counts.json", *words, "--", program)
    assert done.returncode == 0, done.stderr
    with open(os.path.join(folder, "counts.json"), encoding="utf-8") as file:
        return json.load(file)["events"]["CPU_CYCLES"]["count"]


def time_of(cyclops, folder, program):
    """Cycles from the beginning to the end, whoever runs."""
    cycles_of(cyclops, folder, program)
    with open(os.path.join(folder, "counts.json"), encoding="utf-8") as file:
        return json.load(file)["time_ns"] * 2.8


def what_if(cyclops, folder, program, names, *words):
    """Rows of the table by name, and those of functions."""
    done = run_model(cyclops, folder, "--what-if", names, "--all", "--format", "json", *words, "--", program)
    assert done.returncode == 0, done.stderr
    answer = json.loads(done.stdout)
    assert answer["modelled"] is True
    return {row["name"]: row for row in answer["what_if"]}, answer.get("what_if_functions", [])


def check_equal(checks, cyclops, folder, path, equals):
    """Returns the rows by name."""
    program = os.path.basename(path)
    rows, _ = what_if(cyclops, folder, path, ",".join(name for name, _ in equals))
    checks.expect(rows["now"]["cycles"] == cycles_of(cyclops, folder, path), f"{program}: now")
    for name, parameters in equals:
        sets = [word for parameter in parameters for word in ("--set", parameter)]
        wanted = cycles_of(cyclops, folder, path, *sets)
        checks.expect(rows[name]["cycles"] == wanted, f"{program}: {name} {rows[name]['cycles']}, not {wanted}")
        checks.count("idealisations that are a parameter")
    return rows


def check_equals(checks, cyclops, kernels, folder):
    for program in ("chase", "stride", "multiply") if HAS_ALL else ("stride",):
        check_equal(checks, cyclops, folder, os.path.join(kernels, program), EQUALS)


def check_divisions(checks, cyclops, folder):
    rows = check_equal(checks, cyclops, folder, build(folder, "divider", DIVIDER), ARITHMETIC_EQUALS)
    checks.expect(rows["division"]["gain"] > 0.3, f"divider: {rows['division']}")


def check_overlap(checks, cyclops, folder):
    """What n chains at a time are said to gain is what they do gain."""
    numbers = (2, 4, 8) if HAS_ALL else (4,)
    rows, _ = what_if(cyclops, folder, build(folder, "follower", FOLLOWER, "-DCHAINS=1"),
                      ",".join([*(f"overlap-{n}" for n in numbers), "overlap-2+overlap-4", "overlap-8"]))
    for n in numbers:
        applied = cycles_of(cyclops, folder, build(folder, f"follower-{n}", FOLLOWER, f"-DCHAINS={n}"))
        said = rows[f"overlap-{n}"]["cycles"]
        checks.expect(abs(said - applied) <= 0.1 * applied, f"overlap-{n} says {said}, {n} chains take {applied}")
        checks.count("numbers of chains")
    checks.expect(rows["overlap-2+overlap-4"]["cycles"] == rows["overlap-8"]["cycles"], f"follower: {rows}")


def check_instructions(checks, cyclops, folder):
    """What a quarter of the instructions is said to gain is what vectors of four do gain."""
    program = build(folder, "adder", ADDER)
    names = ["instructions-1", "instructions-0.25", "instructions-2", "instructions-0.25@add", "instructions-0.25@increase"]
    rows, _ = what_if(cyclops, folder, program, ",".join(names))
    now, cycles = rows["now"]["cycles"], {name: rows[name]["cycles"] for name in names}
    applied = cycles_of(cyclops, folder, build(folder, "vectors", ADDER, "-DVECTORS"))
    checks.expect(cycles["instructions-1"] == now, f"as many instructions: {cycles}, not {now}")
    checks.expect(abs(cycles["instructions-0.25"] - applied) <= 0.1 * applied, f"{cycles}, vectors take {applied}")
    checks.expect(1.8 * now <= cycles["instructions-2"] <= 2.1 * now, f"twice as many: {cycles}, {now}")
    checks.expect(cycles["instructions-0.25"] <= cycles["instructions-0.25@add"] < 0.4 * now, f"{cycles}, {now}")
    # of two names of one function
    checks.expect(cycles["instructions-0.25@increase"] == cycles["instructions-0.25@add"], f"{cycles}")


def check_causes(checks, cyclops, kernels, folder):
    for program, cause, least, function in PROGRAMS if HAS_ALL else SOME_PROGRAMS:
        rows, functions = what_if(cyclops, folder, os.path.join(kernels, program), ",".join(CAUSES))
        gains = {name: rows[name]["gain"] for name in CAUSES}
        best = max(gains, key=gains.get)
        checks.expect(best == cause and gains[cause] >= least, f"{program}: {best}, not {cause}: {gains}")
        checks.expect(min(gains.values()) > -0.02, f"{program}: {gains}")
        if function is not None:
            first = max((row for row in functions if row["name"] == cause), key=lambda row: row["gain"])
            checks.expect(first["function"] == function, f"{program}: {cause} gains in {first}")
            checks.expect(function in rows[cause]["functions"], f"{program}: mostly in {rows[cause]}")
        checks.count("programs with a cause")
    rows, _ = what_if(cyclops, folder, os.path.join(kernels, "steady"), ",".join(("l1d", *CAUSES, "units+width")))
    for name in ("l1d", *CAUSES):
        checks.expect(rows[name]["gain"] < 0.05, f"steady: {name} gains {rows[name]['gain']}")
    gain = rows["units+width"]["gain"]  # three sums a cycle, four instructions: one limit is close behind the other
    checks.expect(gain > 0.5, f"steady: units and width gain {gain}")


def check_parts(checks, cyclops, kernels, folder):
    """A resource that is perfect for one function gains no more than for all, and for all of them as much."""
    for program, cause, names in PARTS if HAS_ALL else SOME_PARTS:
        wanted = ",".join([cause] + [f"{cause}@{name}" for name in names])
        rows, _ = what_if(cyclops, folder, os.path.join(kernels, program), wanted)
        parts = [rows[f"{cause}@{name}"]["gain"] for name in names]
        checks.expect(max(parts) <= rows[cause]["gain"] + 0.005, f"{program}: {parts}, all {rows[cause]['gain']}")
        checks.expect(abs(sum(parts) - rows[cause]["gain"]) <= 0.01,
                      f"{program}: {parts} are {sum(parts)}, all {rows[cause]['gain']}")
        # In a run of its own it is the same as beside others.
        alone, _ = what_if(cyclops, folder, os.path.join(kernels, program), f"{cause}@{names[0]}")
        checks.expect(alone[f"{cause}@{names[0]}"]["cycles"] == rows[f"{cause}@{names[0]}"]["cycles"],
                      f"{program}: {cause}@{names[0]} alone")
        checks.count("functions", len(names))


def check_sums(checks, cyclops, kernels, folder):
    """Cycles of blocks add up to those of each run."""
    for program in ("chase", "sharing") if HAS_ALL else ("sharing",):
        done = run_model(cyclops, folder, "--what-if", "dram,l1d,coherence", "--gains", "gains.json", "--",
                         os.path.join(kernels, program))
        checks.expect(done.returncode == 0 and done.stdout == b"", f"{program}: {done.stdout} {done.stderr}")
        with open(os.path.join(folder, "gains.json"), encoding="utf-8") as file:
            gains = json.load(file)
        for i, row in enumerate(gains["runs"]):
            total = sum(block[i + 1] for block in gains["blocks"])
            checks.expect(abs(total - row["cpu_cycles"]) <= 0.01 * row["cpu_cycles"],
                          f"{program}: {row}, blocks have {total}")
            checks.count("runs by block")


def check_threads(checks, cyclops, kernels, folder):
    """Each run is one of its own; the answer is the same each time."""
    answers = [what_if(cyclops, folder, os.path.join(kernels, "sharing"), "coherence,coherence@compare")
               for _ in range(2)]
    checks.expect(answers[0] == answers[1], f"threads: {answers}")
    rows = answers[0][0]
    # The same program with the members on lines of their own: what was predicted comes true.
    padded = time_of(cyclops, folder, os.path.join(kernels, "padded"))
    checks.expect(abs(rows["coherence"]["cycles"] - padded) <= 0.05 * padded, f"threads: {rows}, padded {padded}")
    checks.expect(rows["coherence"]["gain"] >= 0.2 and rows["coherence@compare"]["gain"] > 0.05, f"threads: {rows}")


def check_program(checks, cyclops, folder):
    """Input comes to all runs, output once; how the program ends is how the command does."""
    program, text = build(folder, "reader", READER), os.path.join(folder, "input")
    with open(text, "wb") as file:
        file.write(b"to be or not to be\n" * 4000)
    words = ["--what-if", "dram,dram@main,arithmetic@main,branch-prediction@main"]
    outputs = []
    for piped in (False, True):
        with open(text, "rb") as file:
            source = {"input": file.read()} if piped else {"stdin": file}
            done = run_model(cyclops, folder, *words, "--format", "csv", "--table", "what_if", "--", program, "3",
                             **source)
        checks.expect(done.returncode == 3, f"status {done.returncode}: {done.stderr}")
        checks.expect(done.stdout.startswith(b"76000 bytes") and done.stdout.count(b" bytes, ") == 1,
                      f"output: {done.stdout}")
        outputs.append(done.stdout)
        names = {line.split(",")[0] for line in done.stdout.decode().splitlines()[2:]}
        checks.expect(names == {"now", *words[1].split(",")}, f"rows: {done.stdout}")
        checks.count("kinds of input")
    checks.expect(outputs[0] == outputs[1], f"a file and a pipe differ: {outputs}")
    done = run_model(cyclops, folder, *words, "--", program, "k", input=b"x")
    errors = done.stderr.decode().splitlines()
    checks.expect(done.returncode == 1 and len(errors) == 1 and "did not end by itself" in errors[0],
                  f"killed: {done.returncode} {errors}")


def check_processes(checks, cyclops, folder):
    names = ["arithmetic", "arithmetic-latency", "dram", "arithmetic@chain", "dram@chain"]
    rows, _ = what_if(cyclops, folder, build(folder, "forker", FORKER), ",".join(names))
    checks.expect(set(rows) == {"now", *names}, f"processes: {list(rows)}")
    checks.expect(rows["arithmetic-latency"]["gain"] > 0.4, f"processes: {rows}")
    checks.expect(rows["arithmetic@chain"]["gain"] > 0.4 and rows["dram@chain"]["gain"] < 0.01, f"processes: {rows}")


def check_errors(checks, cyclops, kernels, folder):
    chase = os.path.join(kernels, "chase")
    for words, status, text in ((["--what-if=drma", "--", chase], 2, "did you mean dram?"),
                                (["--what-if", "dram@chase_memroy", "--", chase], 2, "did you mean chase_memory?"),
                                (["--what-if", "dram", "x", "--", chase], 2, "'x': put -- before the program"),
                                (["--what-if", "--set", "l3=1", "--", chase], 1, "no parameter 'l3'"),
                                (["--what-if", "--", "/bin/no-such"], 1, "/bin/no-such")):
        done = run_model(cyclops, folder, *words)
        checks.expect(done.returncode == status and text in done.stderr.decode() and done.stderr.count(b"\n") == 1,
                      f"{words}: {done.returncode} {done.stderr}")
        checks.count("errors")
    names = run_model(cyclops, folder, "--what-if=list").stdout.decode()
    checks.expect([line.split()[0] for line in names.splitlines()][:4] == ["l1d", "l2", "llc", "dram"], names)
    done = subprocess.run([cyclops, "run", "--what-if", "--", chase], cwd=folder, capture_output=True, check=False)
    checks.expect(done.returncode == 2 and b"add --model" in done.stderr, f"run: {done.stderr}")


def check_run(checks, cyclops, kernels, folder):
    """Of one thread, where replicas are asked, and of two, which run again."""
    for program in ("chase", "sharing"):
        done = subprocess.run([cyclops, "run", "--model", "--what-if", "dram", "--format", "json", "--folder", f"all-{program}",
                               "--", os.path.join(kernels, program)], env=ENVIRONMENT, cwd=folder, capture_output=True, check=False)
        checks.expect(done.returncode == 0, f"run: {done.stderr}")
        answer = json.loads(done.stdout)
        checks.expect({row["name"] for row in answer["what_if"]} == {"now", "dram"} and "findings" in answer,
                      f"run: {list(answer)}")
    checks.expect(os.path.exists(os.path.join(folder, "all-chase", "gains.json")), "run: no gains.json")


def main():
    if len(sys.argv) != 3 + HAS_ALL:
        sys.exit(__doc__)
    need("qemu-aarch64")
    checks = Checks()
    cyclops = os.path.abspath(sys.argv[1])
    kernels = os.path.join(os.path.abspath(sys.argv[2]), "root", "opt", "kernels")
    with tempfile.TemporaryDirectory() as folder:
        for check in (check_equals, check_causes, check_parts, check_sums, check_threads, check_errors, check_run):
            check(checks, cyclops, kernels, folder)
        if shutil.which(COMPILER) is not None:
            check_program(checks, cyclops, folder)
            check_processes(checks, cyclops, folder)
            check_divisions(checks, cyclops, folder)
            check_overlap(checks, cyclops, folder)
            check_instructions(checks, cyclops, folder)
    checks.finish()


if __name__ == "__main__":
    main()
