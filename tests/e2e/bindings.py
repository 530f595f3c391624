# SPDX-License-Identifier: Apache-2.0
"""
The examples of bindings/: each language measures "fill", which touches 8 MiB, and "add" three times.

usage: bindings.py ROOT SHARED C_COMPILER

A language whose compiler is not installed is left out, and said so.
"""

import json
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile

import harness
from harness import Checks

PAGES = (8 << 20) // 4096
FIELDS_C = """
#include <stddef.h>
#include <stdio.h>
#include "cyclops/measure.h"
int main(void)
{
	printf("%zu %zu %zu %zu\\n", sizeof(struct cyclops_options), offsetof(struct cyclops_options, max_paths),
	       sizeof(struct cyclops_count), offsetof(struct cyclops_count, bias));
}
"""


class Bindings:
    def __init__(self, root, shared, cc, work):
        self.root, self.shared, self.cc, self.work = root, shared, cc, work
        self.examples = root / "bindings" / "examples"
        self.include = root / "include"
        self.library = work / "lib"
        self.library.mkdir()
        for name in "libcyclops.so", "libcyclops.so.0":
            (self.library / name).symlink_to(shared)
        self.environment = {"PATH": os.environ["PATH"], "LC_ALL": "C", "HOME": os.environ.get("HOME", str(work)),
                            "LD_LIBRARY_PATH": str(self.library), "CARGO_NET_OFFLINE": "true"}

    def run(self, *command, **environment):
        done = subprocess.run([str(word) for word in command], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, cwd=self.work, check=False,
                              env={**self.environment, **environment})
        if done.returncode != 0:
            raise harness.Failed(f"{command}: exit status {done.returncode}: {done.stdout[-2000:]}")
        return done.stdout

    def link(self):
        return ["-L", self.library, "-lcyclops"]

    def c(self):
        self.run(*shlex.split(self.cc), "-Wall", "-Wextra", "-Werror", "-DCYCLOPS_MEASURE", "-I", self.include,
                 self.examples / "example.c", *self.link(), "-o", "c-example")
        return [self.work / "c-example"]

    def cxx(self):
        compile_ = ["c++", "-std=c++11", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I", self.include,
                    self.examples / "example.cc"]
        self.run(*compile_, "-o", "plain-example")  # nothing is left, so the library is not needed
        self.run(self.work / "plain-example")
        self.run(*compile_, "-DCYCLOPS_MEASURE", *self.link(), "-o", "cxx-example")
        return [self.work / "cxx-example"]

    def python(self):
        self.environment["PYTHONPATH"] = str(self.root / "bindings" / "python")
        self.environment["PYTHONDONTWRITEBYTECODE"] = "1"
        return [sys.executable, self.examples / "example.py"]

    def fortran(self):
        self.run("gfortran", "-std=f2008", "-Wall", "-Werror", self.root / "bindings/fortran/cyclops_measure.f90",
                 self.examples / "example.f90", *self.link(), "-o", "fortran-example")
        return [self.work / "fortran-example"]

    def rust(self):
        self.run("rustc", "--edition", "2018", "-D", "warnings", "--crate-type", "rlib", "--crate-name", "cyclops_measure",
                 "-L", self.library, self.root / "bindings/rust/src/lib.rs", "-o", "libcyclops_measure.rlib")
        self.run("rustc", "--edition", "2018", "-D", "warnings", "--extern", "cyclops_measure=libcyclops_measure.rlib",
                 "-L", self.library, self.examples / "example.rs", "-o", "rust-example")
        return [self.work / "rust-example"]


LANGUAGES = {"c": None, "cxx": "c++", "python": None, "fortran": "gfortran", "rust": "rustc"}


def is_usable(compiler):
    """Is the compiler there, and does it start? That of rustup is a stand-in until it has a toolchain."""
    if compiler is None:
        return True
    return shutil.which(compiler) is not None and \
        subprocess.run([compiler, "--version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False).returncode == 0


def check_example(checks, bindings, name):
    command = getattr(bindings, name)()
    out = bindings.work / f"{name}.json"
    bindings.run(*command, CYCLOPS_OUT=str(out), CYCLOPS_EVENTS="page-faults")
    answer = json.loads(out.read_text())
    rows = {(row["region"], row["event"]): row for row in answer["regions"]}
    checks.expect({region for region, _ in rows} == {"fill", "add"}, f"{name}: {sorted(rows)}")
    for region, calls in ("fill", 1), ("add", 3):
        row = rows[(region, "duration_time")]
        checks.expect(row["calls"] == calls and row["min"] > 0, f"{name}: {row}")
        row = rows[(region, "page-faults")]
        if row["state"] != "counted":
            print(f"{name}: not counted: {answer['run'][0].get('why')}")
            continue
        # with huge pages a fault has 512 pages of memory
        least = PAGES // 512 if region == "fill" else 0
        checks.expect(row["count"] >= least, f"{name}: {row}")
    checks.count(f"{name} examples")


def check_python(checks, bindings):
    """What the example does not use, and that the structures are those of C."""
    (bindings.work / "fields.c").write_text(FIELDS_C)
    bindings.run(*shlex.split(bindings.cc), "-I", bindings.include, "fields.c", "-o", "fields")
    wanted = bindings.run(bindings.work / "fields").split()
    script = """
import ctypes, threading
import cyclops_measure as module
o, c = module._Options, module._Count
print(ctypes.sizeof(o), o.max_paths.offset, ctypes.sizeof(c), c.bias.offset)
with module.Measure(events="page-faults,nonsense", max_regions=2) as m:
    assert m.error and "nonsense" in m.why, m.why
    assert m.events == ["duration_time", "cycles", "page-faults", "nonsense"], m.events
    with m.region("a"):
        with m.region("b"):
            pass
    thread = threading.Thread(target=m.region("a")(lambda: None))
    thread.start()
    thread.join()
    count = m.count("a", "duration_time")
    assert count.calls == 2 and count.count > 0 and count.coverage == 1, count
    assert m.count("b", 0).raw == m.count("b", 0).exclusive_raw
    try:
        m.region("c")
    except module.Error as error:
        assert "room for 2" in str(error), error
    else:
        raise AssertionError("a third region")
    m.reset()
    assert m.count("a", 0).calls == 0
"""
    found = bindings.run(sys.executable, "-c", script).split()
    checks.expect(found == wanted, f"structures of Python {found}, of C {wanted}")
    checks.count("structures", 2)


def main():
    root, shared = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    if any(b"san_init" in line for line in harness.run("nm", "-D", shared).splitlines()):
        harness.skip("the library is instrumented: other languages cannot load it")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        bindings = Bindings(root, shared, sys.argv[3], pathlib.Path(folder))
        for name, compiler in LANGUAGES.items():
            if not is_usable(compiler):
                print(f"left out: {name}: {compiler} is not installed")
                continue
            check_example(checks, bindings, name)
        check_python(checks, bindings)
    checks.finish()


if __name__ == "__main__":
    main()
