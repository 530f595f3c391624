#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Runs everything: checks of the tree, then all tests in several builds. Ends with a count.

usage: run-tests.py [--check BUILD]

--check runs what takes no minute, in a build that is there: unit tests and each command once.
"""

import argparse
import concurrent.futures
import json
import os
import pathlib
import shutil
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent

# Captures beside the source tree are used, unless the environment names others.
CAPTURES = ROOT.parent / "shared" / "captures"
NEIGHBOURS = ROOT.parent / "shared" / "neighbours"
GOODA_SAMPLE = ROOT.parent / "shared" / "reference" / "cycle-accounting" / "westmere-sample"

CHECKS = [
    ["python3", "scripts/check-layers.py"],
    ["sh", "scripts/check-spdx.sh"],
    ["sh", "scripts/check-format.sh"],
    ["python3", "scripts/check-catalog.py"],
    ["python3", "scripts/check-terms.py"],
    ["python3", "scripts/check-docs.py"],
    ["python3", "scripts/release-notes.py", "--check"],
]

# Suites of whole programs test behaviour, which does not depend on the compiler:
# only `make soak` runs them with clang, too.
ONCE = ["--no-suite", "vm", "--no-suite", "qemu", "--no-suite", "once"]

# Clang warns before it optimises and instruments, so its sanitizers' build warns of what a plain one does.
# Gcc's would warn of things that cannot be.
# The viewer of --html is the same in each build: one is enough. Reports of sanitizers want lines, and no variables; what
# they find does not depend on optimisation, which takes three quarters of the time to compile: rooms that work on each record
# have it (meson.build). A check that ends the program takes less code than one that may return.
CLANG = ["-Dwerror=true", "-Db_lundef=false", "-Dhtml=disabled", "-Dc_args=-g1 -fno-sanitize-recover=all", "-Doptimization=0"]

# Small twins of other tests, for `make check`.
TWINS = ["--no-suite", "twin"]

# name, compiler, meson options, arguments of `meson test`
BUILDS = [
    ("gcc", "gcc", ["-Dwerror=true"], TWINS),
    # qemu cannot load a plugin that wants the sanitizer first
    ("sanitize", "clang", [*CLANG, "-Db_sanitize=address,undefined"], [*ONCE, *TWINS]),
    ("threads", "clang", [*CLANG, "-Db_sanitize=thread"], ["--suite", "threads"]),
]
# Of these builds, no more is built than these suites take.
SUITES = {"threads": {"threads"}}

# Tests at a time: more than there are CPUs, because some wait: for timers, for perf, and for probes, which the kernel sets slowly.
N_TESTS = os.cpu_count() + 2

# How much of a failed test's output is repeated at the end.
LAST_WORDS = 6

# Failed tests: name and end of output, printed before the counts, at the end of the log.
failures = []


def run(command, **options):
    print("+", " ".join(map(str, command)), flush=True)
    return subprocess.run(command, cwd=ROOT, **options).returncode


def check_tree():
    with concurrent.futures.ThreadPoolExecutor() as pool:
        failed = [command[1] for command, status in zip(CHECKS, pool.map(run, CHECKS)) if status != 0]
    failures.extend((f"tree: {name}", []) for name in failed)
    return len(CHECKS) - len(failed), len(failed), 0


def build_arm64():
    """Gets what the virtual machine boots. Without it the tests that need it are skipped."""
    failed = run(["sh", "scripts/build-arm64.sh", "--vm"]) != 0
    return (0, 0, 1) if failed else (1, 0, 0)


def last_words(test):
    """The end of a failed test's output, errors last."""
    lines = [line.strip() for stream in ("stdout", "stderr")
             for line in test.get(stream, "").splitlines() if line.strip()]
    return lines[-LAST_WORDS:]


def count(log, build):
    """Passed, failed and skipped tests of a meson log; keeps failed ones for the summary."""
    passed = failed = skipped = 0
    for line in log.read_text().splitlines():
        test = json.loads(line)
        if test["result"] in ("OK", "EXPECTEDFAIL"):
            passed += 1
        elif test["result"] == "SKIP":
            skipped += 1
        else:
            failed += 1
            failures.append((f"{build}: {test['name']}: {test['result']}", last_words(test)))
    return passed, failed, skipped


def build_failed(name, step):
    failures.append((f"{name}: {step} failed", []))
    return 0, 1, 0


def say_failures():
    for what, words in failures:
        print(f"\nFAILED {what}")
        for line in words:
            print(f"    {line}")
    print()


def check(build):
    """Runs the suites that this build is for. The build exists, but its tests may not be built."""
    log = build / "meson-logs" / "testlog.json"
    options = json.loads(subprocess.run(["meson", "introspect", "--buildoptions", build], cwd=ROOT, check=True,
                                        stdout=subprocess.PIPE).stdout)
    if any(option["name"] == "tests" and option["value"] != "enabled" for option in options):
        run(["meson", "configure", build, "-Dtests=enabled"])
    log.unlink(missing_ok=True)
    if run(["ninja", "-C", build, "--quiet"]) == 0:
        run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--quiet", "--timeout-multiplier", "10",
             "--suite", "unit", "--suite", "smoke", "--suite", "docs", "--suite", "fuzz"])
    results = count(log, build.name) if log.exists() else build_failed(build.name, "ninja or meson test")
    say_failures()
    passed, failed, skipped = results
    print(f"{passed} passed, {failed} failed" + (f", {skipped} skipped" if skipped else ""))
    return 1 if failed else 0


def environment_of(compiler):
    environment = dict(os.environ, CC=compiler, ASAN_OPTIONS="detect_leaks=1:abort_on_error=1",
                       UBSAN_OPTIONS="halt_on_error=1:print_stacktrace=1",
                       TSAN_OPTIONS="halt_on_error=1")
    # Hundreds of programs are linked: lld takes a third of the time that ld takes. Its threads cost more than they save
    # where other programs compile.
    if shutil.which("ld.lld"):
        environment |= {"CC_LD": "lld", "LDFLAGS": "-Wl,--threads=1"}
    if CAPTURES.is_dir():
        environment.setdefault("CYCLOPS_CAPTURES", str(CAPTURES))
    if NEIGHBOURS.is_dir():
        environment.setdefault("CYCLOPS_NEIGHBOURS", str(NEIGHBOURS))
    if GOODA_SAMPLE.is_dir():
        environment.setdefault("CYCLOPS_GOODA_SAMPLE", str(GOODA_SAMPLE))
    return environment


def targets_of(build, suites):
    """What the tests of suites need, as files below the build."""
    info = build / "meson-info"
    files = {target["id"]: target["filename"] for target in json.loads((info / "intro-targets.json").read_text())}
    tests = [test for test in json.loads((info / "intro-tests.json").read_text())
             if suites & {name.split(":")[-1] for name in test["suite"]}]
    return sorted({os.path.relpath(path, build) for test in tests for target in test["depends"] for path in files[target]})


def make_build(build, compiler, options, suites=None):
    """Configures, and builds all, or what the tests of `suites` need. Returns whether that succeeded."""
    environment = environment_of(compiler)
    # Sanitizers describe each variable and each check by its address: to relocate those of the whole program, and to read the
    # memory that this writes, is a third of what it takes to start.
    if any(option.startswith("-Db_sanitize=") for option in options):
        environment["LDFLAGS"] = f"{environment.get('LDFLAGS', '')} -no-pie -Wno-unused-command-line-argument"
    setup = ["meson", "setup", build, "-Dtests=enabled", *options]
    if build.exists():
        setup.append("--reconfigure")
    if run(setup, env=environment, stdout=subprocess.DEVNULL) != 0:
        build_failed(build.name, "meson setup")
        return False
    targets = targets_of(build, suites) if suites else []
    if run(["ninja", "-C", build, "--quiet", *targets], env=environment) != 0:
        build_failed(build.name, "ninja")
        return False
    return True


def test_build(name, compiler, options, arguments):
    """Runs the tests of a build."""
    build = ROOT / f"build-{name}"
    log = build / "meson-logs" / "testlog.json"
    log.unlink(missing_ok=True)
    # a busy machine is not a failure: no test measures time, a limit only ends what hangs
    run(["meson", "test", "-C", build, "--no-rebuild", "--print-errorlogs", "--quiet",
         "--num-processes", str(N_TESTS), "--timeout-multiplier", "10", *arguments], env=environment_of(compiler))
    return count(log, name) if log.exists() else build_failed(name, "meson test")


def timed(what, step, *arguments):
    """Outcome of a step. Says how long it took: where the time of `make test` goes."""
    begin = time.monotonic()
    outcome = step(*arguments)
    print(f"= {what}: {time.monotonic() - begin:.0f} s", flush=True)
    return outcome


def test():
    results = {"tree": check_tree()}
    # Downloads, configuring and linking leave CPUs idle: all is built at a time. Tests then have the machine.
    with concurrent.futures.ThreadPoolExecutor() as pool:
        arm64 = pool.submit(timed, "build arm64", build_arm64)
        builds = [pool.submit(timed, f"build {name}", make_build, ROOT / f"build-{name}", compiler, options, SUITES.get(name))
                  for name, compiler, options, _ in BUILDS]
    results["arm64"] = arm64.result()
    # The tests of `threads` are few and long: beside those of `sanitize`, no CPU is idle.
    tests = {name: (name, *rest) if build.result() else None for (name, *rest), build in zip(BUILDS, builds)}
    for names in (("gcc",), ("sanitize", "threads")):
        with concurrent.futures.ThreadPoolExecutor() as pool:
            done = {name: pool.submit(timed, f"test {name}", test_build, *tests[name]) for name in names if tests[name]}
        results |= {name: done[name].result() if name in done else (0, 1, 0) for name in names}
    say_failures()
    for name, (passed, failed, skipped) in results.items():
        print(f"{name:10} {passed} passed, {failed} failed, {skipped} skipped")
    passed, failed, skipped = (sum(column) for column in zip(*results.values()))
    print(f"\n{passed} passed, {failed} failed, {skipped} skipped")
    return 1 if failed else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", metavar="BUILD", type=pathlib.Path)
    args = parser.parse_args()
    return check(args.check.resolve()) if args.check else test()


if __name__ == "__main__":
    sys.exit(main())
