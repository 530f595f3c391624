# SPDX-License-Identifier: Apache-2.0
"""Inputs of the comparisons: programs and captures, made on first use."""

import pathlib
import shutil
import subprocess
import sys

import measure

BENCH = pathlib.Path(__file__).resolve().parent
ROOT = BENCH.parent / "tests" / "data" / "root"

N_FUNCTIONS = 4000

FUNCTION = """\
__attribute__((noinline)) static int function_{n}(int x)
{{
	for (int i = 0; i < x; i++)
		x += x * {factor} ^ x >> {shift};
	return x * {n};
}}
"""

MAIN = """\
static int (*const functions[])(int) = {{ {names} }};
int main(int argc, char **argv)
{{
	int sum = argc;
	for (unsigned i = 0; i < sizeof(functions) / sizeof(*functions); i++)
		sum += functions[i](sum);
	return argv[0] == 0 || sum;
}}
"""

# A function that is in every list of the program's functions.
A_FUNCTION = "function_7"


def parse_size(text):
    suffixes = {"K": 10, "M": 20, "G": 30}
    shift = suffixes.get(text[-1:].upper(), 0)
    return int(text[:-1] if shift else text) << shift


class Inputs:
    """Files in a directory. Existing files are reused."""

    def __init__(self, directory, build):
        self.directory = directory
        self.make_capture = build / "tests" / "tools" / "make-capture"
        self.make_family = build / "tests" / "tools" / "make-family"
        self.cyclops = build / "cyclops"

    def _need_space(self, size):
        free = shutil.disk_usage(self.directory).free
        if free < size + (1 << 30):
            measure.fail(f"{self.directory}: {size >> 20} MB are to be written, "
                         f"{free >> 20} MB are free (TMPDIR or --dir name another place)")

    def _run(self, command, into):
        """Runs `command` to write a file, which gets its final name when it is complete."""
        if into.exists():
            return into
        partial = into.with_name(into.name + ".partial")
        print(f"making {into.name}", file=sys.stderr, flush=True)
        measure.run([*command, partial], self.directory)
        partial.rename(into)
        return into

    def program(self):
        """An AArch64 program of many functions, with symbols."""
        source = self.directory / "program.c"
        numbers = range(N_FUNCTIONS)
        source.write_text(
            "".join(FUNCTION.format(n=n, factor=n + 3, shift=n % 7 + 1) for n in numbers)
            + MAIN.format(names=", ".join(f"function_{n}" for n in numbers)))
        return self._run(["aarch64-linux-gnu-gcc", "-O2", "-g", "-static", source, "-o"],
                         self.directory / "program")

    def spe(self, size):
        """A capture with so much SPE data (such as "128M") of that program."""
        capture = self.directory / f"spe-{size}.data"
        if not capture.exists():
            self._need_space(parse_size(size))
        return self._run([self.make_capture, "--bytes", size, "--only-perf61", "--symbols",
                          "--binary", self.program(), "--output"], capture)

    def samples(self, amount):
        """A capture with so many samples (such as "1M"), each with a branch stack of 32 entries."""
        capture = self.directory / f"samples-{amount}.data"
        if not capture.exists():
            self._need_space(parse_size(amount) << 10)
        return self._run([self.make_capture, "--samples", amount, "--records", "16", "--branches", "--branch-entries", "32",
                          "--only-perf61", "--symbols", "--binary", self.program(), "--output"], capture)

    def shared(self, size):
        """A capture of loads and stores to some 200 000 lines that threads share."""
        capture = self.directory / f"shared-{size}.data"
        if not capture.exists():
            self._need_space(parse_size(size))
        return self._run([self.make_capture, "--bytes", size, "--only-perf61", "--sharing", "--data",
                          "7300K", "--symbols", "--binary", self.program(), "--output"], capture)

    def families(self):
        """Names of the families of captures that make-family knows."""
        usage = subprocess.run([self.make_family], capture_output=True, text=True, check=False).stderr
        return [line.split()[0] for line in usage.splitlines()[1:]]

    def family(self, name, n_records):
        """A capture of one of them."""
        capture = self.directory / f"family-{name}-{n_records}.data"
        if not capture.exists():
            self._need_space(n_records * 200)
        return self._run([self.make_family, name, str(n_records)], capture)

    def branches(self):
        """A capture of the model with a million samples of taken branches, with stacks of 32 entries."""
        capture = self.directory / "branches.data"
        if not capture.exists():
            self._need_space(1 << 30)
        return self._run(["sh", "-c", 'exec "$1" model --sample pc_write_spec:1 --branch-stack=32 --root "$2" -o "$3" -- "$2/opt/demo/demo"',
                          "sh", self.cyclops, ROOT], capture)

    def big_program(self):
        """A C++ program for AArch64 with more than 50 MB of DWARF."""
        directory = self.directory / "big"
        if not (directory / "big").exists():
            self._need_space(1 << 30)
            print("making big (some minutes)", file=sys.stderr, flush=True)
            measure.run([sys.executable, BENCH / "make-big-binary.py", directory,
                         "--compiler", "aarch64-linux-gnu-g++", "--files", "20",
                         "--flags", "-g -O2 -std=c++17 -no-pie"], self.directory)
        return directory / "big"

    def recorded_program(self):
        """A C++ program for this machine with 300 MB of DWARF, and call chains that perf took of it; None: not allowed."""
        directory = self.directory / "recorded"
        program, capture = directory / "big", directory / "chains.data"
        if not program.exists():
            self._need_space(2 << 30)
            print("making a program to record (some minutes)", file=sys.stderr, flush=True)
            measure.run([sys.executable, BENCH / "make-big-binary.py", directory, "--files", "2", "--copies", "40",
                         "--rounds", "900", "--flags", "-g -O2 -std=c++17 -fno-omit-frame-pointer"], self.directory)
        if not capture.exists():
            subprocess.run(["perf", "record", "-q", "-e", "cpu-clock", "-F", "15000", "--call-graph", "fp", "-o", capture, program],
                           check=False, capture_output=True)
        return program, capture if capture.exists() else None

    def big_places(self, n_records):
        """A capture of that program with few records, most of them at distinct places."""
        return self._run([self.make_capture, "--records", str(n_records), "--kernel-share", "0",
                          "--symbols", "--binary", self.big_program(), "--output"],
                         self.directory / f"places-{n_records}.data")


def dwarf_bytes(program):
    """The size of its debug sections."""
    text = subprocess.run(["readelf", "-SW", program], check=True, capture_output=True,
                          text=True).stdout
    sizes = 0
    for line in text.splitlines():
        words = line.replace("[ ", "[").split()
        if len(words) > 5 and words[1].startswith(".debug_"):
            sizes += int(words[5], 16)
    return sizes
