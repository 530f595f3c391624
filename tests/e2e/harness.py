# SPDX-License-Identifier: Apache-2.0
"""What the tests of this folder share: running programs, and telling what was compared."""

import collections
import csv
import io
import os
import re
import shutil
import signal
import subprocess
import sys

SKIP = 77
PERF_TRIES = 4

# cyclops's exit status where a capture has no data of this kind: with an answer that is empty, or without one.
NO_DATA = 4

# What perf may find at home must not change its answer, and nobody can make a folder in /proc.
ENVIRONMENT = {"PATH": os.environ["PATH"], "LC_ALL": "C", "TZ": "UTC", "HOME": "/proc/nohome",
               "PERF_CONFIG": "/dev/null", "XDG_CONFIG_HOME": "/proc/nohome"}
# How a sanitizer is to behave has to come from outside.
ENVIRONMENT.update({name: value for name, value in os.environ.items() if name.endswith("SAN_OPTIONS")})

# nohup and shells' background jobs leave signals ignored, and what is started would inherit that.
for ending in (signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM):
    signal.signal(ending, signal.SIG_DFL)
signal.pthread_sigmask(signal.SIG_SETMASK, [])


class Failed(SystemExit):
    """A program did not do what it had to. A test that does not catch it fails with this text."""


def run_perf(*words, stdin=None, **options):
    """perf's end, as subprocess.run() gives it. perf 6.1 aborts in one of twenty recordings, by an
    assertion in its build-id.c: then it is asked again."""
    for _ in range(PERF_TRIES):
        done = subprocess.run(["perf", *map(str, words)], stdin=stdin or subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=ENVIRONMENT, check=False, **options)
        if done.returncode != -signal.SIGABRT:
            break
    return done


def run(*command, **options):
    """
    Output of a program, as bytes; raises Failed if it fails. An empty table of cyclops is an answer here,
    though its exit status says that there is nothing.
    """
    if command[0] == "perf":
        done = run_perf(*command[1:], **options)
    else:
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=ENVIRONMENT,
                              check=False, **options)
    if done.returncode != 0 and not (done.returncode == NO_DATA and done.stdout):
        words = " ".join(str(word) for word in command)
        raise Failed(f"{words}: exit status {done.returncode}: {done.stderr.decode()[-400:]}")
    return done.stdout


def csv_rows(*command, **options):
    """Rows of a program's csv output, as run() gives it, by name of the column."""
    text = run(*command, **options).decode(errors="surrogateescape")
    return list(csv.DictReader(io.StringIO(text)))


def folded(*command):
    """A program's output with each white space as one blank, to look for sentences in."""
    return " ".join(run(*command).decode().split())


class Functions:
    """The functions of a program, by address."""

    def __init__(self, program):
        lines = [line.split() for line in run("nm", "-S", program).decode().splitlines()]
        self.ranges = {f[3]: range(int(f[0], 16), int(f[0], 16) + int(f[1], 16))
                       for f in lines if len(f) == 4}

    def find(self, pc):
        return next((name for name, where in self.ranges.items() if pc in where), None)


def environment_of_guests():
    """
    For programs that are recorded: meson has malloc() fill memory with MALLOC_PERTURB_, which is for
    cyclops and would be writes of theirs.
    """
    return {name: value for name, value in os.environ.items() if name != "MALLOC_PERTURB_"}


def skip(why):
    """Ends the test as skipped."""
    print(f"skipped: {why}")
    sys.exit(SKIP)


def need(program):
    """Ends the test as skipped where a program is absent."""
    if shutil.which(program) is None:
        skip(f"{program} is not installed")


def has_model():
    """Is there the emulator, and can it load this build's plugin? One with sanitizers it cannot: tests/e2e/meson.build."""
    return shutil.which("qemu-aarch64") is not None and "WITHOUT_MODEL" not in os.environ


def has_kernels(cyclops):
    """Can microbenchmarks run on the model? Their program is built where a compiler for AArch64 is."""
    return has_model() and os.path.exists(os.path.join(os.path.dirname(cyclops), "src/kernel/runner/cyclops-kernel-aarch64"))


def real_captures():
    """Files and folders that are captures, below the folder that CYCLOPS_CAPTURES names."""
    found = []
    for root, folders, files in os.walk(os.path.abspath(os.environ.get("CYCLOPS_CAPTURES", os.devnull))):
        for name in [name for name in folders if os.path.isfile(os.path.join(root, name, "data"))]:
            folders.remove(name)
            found.append(os.path.join(root, name))
        for name in files:
            path = os.path.join(root, name)
            with open(path, "rb") as file:
                if file.read(8) == b"PERFILE2":
                    found.append(path)
    return sorted(found)


def commands(cyclops):
    """
    Names of all commands, as the program lists them. What is done with each of them stands in tables
    of the tests, and table_of() sees that none is forgotten: this is the one place that reads the list.
    """
    return [line.split("\t")[0] for line in run(cyclops, "--list-commands").decode().splitlines()]


# Formats of export that are no profile for another tool.
NO_PROFILES = ("csv", "json", "parquet", "spe-parser", "bolt", "bolt-pre-aggregated", "autofdo", "prefetch")


def export_formats(cyclops):
    """All that `export --format` takes, as its error message lists them."""
    done = subprocess.run([cyclops, "export", "--format", "no-such-format", os.devnull], stdin=subprocess.DEVNULL,
                          capture_output=True, env=ENVIRONMENT, check=False)
    return re.search(r"wanted (.*)", done.stderr.decode())[1].split(", ")


def table_of(cyclops, table, others=()):
    """
    The table's entries in the order of commands(), as (name, entry). A command that is neither in the
    table nor among the others fails, and so does a name that is no command.
    """
    known = commands(cyclops)
    for name in known:
        if (name in table) == (name in others):
            raise Failed(f"what is to be tested of 'cyclops {name}'? It belongs into one of the test's tables")
    for name in (*table, *others):
        if name not in known:
            raise Failed(f"the test knows a command '{name}', which cyclops does not list")
    return [(name, table[name]) for name in known if name in table]


class Checks:
    """Counts comparisons, prints those that fail, says at the end how much was compared."""

    SHOWN = 10  # failures in full

    def __init__(self):
        self.counts = collections.Counter()
        self.failures = 0

    def fail(self, what):
        self.failures += 1
        if self.failures <= self.SHOWN:
            print("FAIL", what, flush=True)

    def expect(self, holds, what):
        if not holds:
            self.fail(what)
        return holds

    def expect_failure(self, why, *command):
        """The command fails, and says why."""
        try:
            run(*command)
        except Failed as failure:
            return self.expect(why in str(failure), f"not '{why}': {failure}")
        return self.expect(False, f"did not fail: {' '.join(map(str, command))}")

    def count(self, what, n=1):
        self.counts[what] += n

    def equal(self, what, ours, theirs, name="expected"):
        """Compares two lists as bags; shows what only one of them has."""
        self.count(what, len(theirs))
        if ours == theirs:
            return True
        left, right = collections.Counter(ours), collections.Counter(theirs)
        if left == right:
            return True
        self.fail(f"{what}: {len(ours)} rows, {name} has {len(theirs)}")
        if self.failures <= self.SHOWN:
            for side, rest in (("cyclops", left - right), (name, right - left)):
                for row in sorted(rest.elements(), key=repr)[:3]:
                    print(f"     only {side}: {str(row)[:300]}")
        return False

    def finish(self):
        """Prints the figures; exits."""
        for what, n in self.counts.items():
            print(f"{n:>10} {what}")
        print(f"{self.failures} failed" if self.failures else "all equal")
        if not self.counts:
            print("nothing was compared")
        sys.exit(1 if self.failures or not self.counts else 0)
