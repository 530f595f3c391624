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
        rustc = ["rustc", "--edition", "2018", "-D", "warnings", "-L", self.library, "-L", "."]
        sys_crate = ["--extern", "cyclops_measure_sys=libcyclops_measure_sys.rlib"]
        self.run(*rustc, "--crate-type", "rlib", "--crate-name", "cyclops_measure_sys",
                 self.root / "bindings/rust/sys/src/lib.rs", "-o", "libcyclops_measure_sys.rlib")
        self.run(*rustc, "--crate-type", "rlib", "--crate-name", "cyclops_measure", *sys_crate,
                 self.root / "bindings/rust/src/lib.rs", "-o", "libcyclops_measure.rlib")
        self.run(*rustc, "--extern", "cyclops_measure=libcyclops_measure.rlib", self.examples / "example.rs", "-o", "rust-example")
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


def check_wheel(checks, bindings):
    """A wheel, as pip builds and installs it, without the network."""
    source, dist, venv = bindings.work / "python", bindings.work / "dist", bindings.work / "venv"
    for module in "pip", "setuptools", "venv":
        if subprocess.run([sys.executable, "-c", f"import {module}"], stderr=subprocess.DEVNULL, check=False).returncode != 0:
            print(f"left out: wheel: Python has no {module}")
            return
    shutil.copytree(bindings.root / "bindings/python", source, ignore=shutil.ignore_patterns("build", "*.egg-info", "__pycache__"))
    # Without the network if setuptools can make wheels; the older one needs a package for that.
    pip = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP", "http"))}
    pip.update({"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore", "PIP_RETRIES": "0", "PIP_DEFAULT_TIMEOUT": "20"})
    build = [sys.executable, "-m", "pip", "wheel", "--no-deps", "-w", dist, source]
    try:
        bindings.run(*build, "--no-build-isolation", **pip)
    except harness.Failed as failure:
        if "bdist_wheel" not in str(failure) and "'wheel'" not in str(failure):
            raise
        try:
            bindings.run(*build, **pip)
        except harness.Failed as other:
            print("left out: wheel: pip gets no setuptools that makes one: " + str(other)[-200:].replace("\n", " "))
            return
    wheels = sorted(path.name for path in dist.iterdir())
    checks.expect(len(wheels) == 1 and wheels[0].endswith("-py3-none-any.whl"), f"wheels: {wheels}")
    bindings.run(sys.executable, "-m", "venv", venv)
    bindings.run(venv / "bin/python", "-m", "pip", "install", "--no-deps", "--no-index", dist / wheels[0], **pip)
    out = bindings.work / "wheel.json"
    bindings.run(venv / "bin/python", "-I", bindings.examples / "example.py", CYCLOPS_OUT=str(out), CYCLOPS_EVENTS="page-faults")
    regions = {row["region"] for row in json.loads(out.read_text())["regions"]}
    checks.expect(regions == {"fill", "add"}, f"of the wheel: {regions}")
    where = bindings.run(venv / "bin/python", "-I", "-c", "import cyclops_measure; print(cyclops_measure.__file__)")
    checks.expect(str(venv) in where, f"the wheel is not what was measured: {where}")
    checks.count("wheels")


def check_cargo(checks, bindings):
    """Both crates, built and tested by cargo, which is told to stay away from the network."""
    if not is_usable("cargo"):
        print("left out: cargo: it is not installed")
        return
    crates = bindings.work / "rust"
    shutil.copytree(bindings.root / "bindings/rust", crates, ignore=shutil.ignore_patterns("target", "Cargo.lock"))
    said = bindings.run("cargo", "test", "--offline", "--quiet", "--manifest-path", crates / "Cargo.toml",
                        CYCLOPS_LIB_DIR=str(bindings.library), CARGO_TARGET_DIR=str(bindings.work / "target"),
                        RUSTFLAGS="-D warnings")
    checks.expect("3 passed" in said and "0 failed" in said, f"cargo test: {said}")
    checks.count("tests of crates", 3)


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
        check_wheel(checks, bindings)
        check_cargo(checks, bindings)
    checks.finish()


if __name__ == "__main__":
    main()
