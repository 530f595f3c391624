#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Runs what takes longer than `make test` may: many seeds, much damage, long fuzzing, other peers.

usage: soak.py [--scale F] [--list] [NAME...]

Each entry is one of the tests with larger amounts; its small twin is in `make test`. --scale 0.1 takes a
tenth of the amounts, names take those entries alone. What an entry needs and is not there has it skipped
by name. Outputs are in build-soak/. Ends with a count.
"""

import argparse
import importlib.util
import os
import pathlib
import subprocess
import sys
import time

ROOT = pathlib.Path(__file__).resolve().parent.parent
E2E = ROOT / "tests" / "e2e"
ADVICE = ROOT / "tests" / "advice"
CORPUS = ROOT / "tests" / "fuzz" / "corpus"
DATA = ROOT / "tests" / "data"
LOGS = ROOT / "build-soak"
SKIP = 77
# Tests that sample, count or wait. They must pass on a busy machine.
TIMED = ["e2e/record", "e2e/unwind", "e2e/run-live", "e2e/stat-live", "e2e/arguments", "model/elapsed", "model/statistics",
         "model/estimates", "vm/record", "vm/stat"]
LAST_WORDS = 6


def load_run_tests():
    spec = importlib.util.spec_from_file_location("run_tests", ROOT / "scripts" / "run-tests.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


run_tests = load_run_tests()


class Build:
    """One of the builds of `make test`, by what is in it."""

    def __init__(self, name):
        self.folder = ROOT / f"build-{name}"
        self.cyclops = self.folder / "cyclops"
        self.maker = self.folder / "tests" / "tools" / "make-capture"

    def e2e(self, name):
        return self.folder / "tests" / "e2e" / name


GCC, SANITIZE, THREADS, CLANG = Build("gcc"), Build("sanitize"), Build("threads"), Build("clang")
# Those of `make test`, and one without sanitizers by the other compiler.
BUILDS = [*run_tests.BUILDS, ("clang", "clang", ["-Dwerror=true"], [])]


def script(name, *words):
    return [sys.executable, E2E / name, *words]


def meson(build, *words):
    return ["meson", "test", "-C", build.folder, "--no-rebuild", "--quiet", "--print-errorlogs", "--timeout-multiplier", "10",
            *words]


# Name: the same test in `make test`, the build, the command for an amount, which --scale reduces.
ENTRIES = {
    "differential": ("e2e/differential", GCC, 200, lambda n: script(
        "differential.py", "--seeds", n, "--records", 5000, GCC.cyclops, GCC.maker)),
    "c2c-perf": ("e2e/c2c-perf", GCC, 200, lambda n: script("c2c_perf.py", "--seeds", n, GCC.cyclops, GCC.maker)),
    "c2c-verdicts": ("e2e/c2c-verdicts", GCC, 30, lambda n: script(
        "c2c_verdicts.py", "--seeds", n, GCC.cyclops, GCC.e2e("write-accesses"))),
    "elapsed": ("model/elapsed", GCC, 20, lambda n: script(
        "elapsed_truth.py", GCC.cyclops, DATA, ROOT / "kernels", n)),
    "measure": ("measure/regions", GCC, 5000000, lambda n: [
        "env", f"CYCLOPS_MEASURE_CALLS={n}", GCC.folder / "tests" / "unit" / "measure" / "measure-regions-test"]),
    "estimates": ("model/estimates", GCC, 200, lambda n: script("estimate_truth.py", GCC.cyclops, DATA, n)),
    "cycles": ("model/cycles", GCC, 200, lambda n: script("cycles_truth.py", GCC.cyclops, DATA, n)),
    "branches": ("model/branches", GCC, 100000, lambda n: script("model_branches.py", GCC.cyclops, ROOT / "kernels", n)),
    "parquet": ("e2e/parquet", GCC, 100, lambda n: script(
        "parquet.py", "--captures", n, GCC.cyclops, GCC.maker, GCC.folder / "tests/tools/parquet-rows")),
    "parquet-engines": ("e2e/parquet-engines", GCC, 100, lambda n: script(
        "parquet_engines.py", "--captures", n, "--packages", LOGS / "parquet-engines", GCC.cyclops, GCC.maker,
        GCC.folder / "tests/tools/make-family")),
    "parquet-text": ("parquet/limits", GCC, 1024, lambda n: [
        "env", f"CYCLOPS_TEXT_MIB={n}", GCC.folder / "tests/unit/parquet/parquet-limits-test"]),
    "profile-tools": ("e2e/profiles", GCC, 1, lambda n: script("profiles.py", "--tools", GCC.cyclops, GCC.maker, DATA)),
    "profile-readers": ("e2e/profiles", GCC, 1, lambda n: script("profile_readers.py", GCC.cyclops, DATA)),
    "callers": ("model/callers", GCC, 300, lambda n: script("model_callers.py", "--all", GCC.cyclops, n)),
    "feedback": ("model/feedback", GCC, 40, lambda n: script("model_feedback.py", GCC.cyclops, ROOT / "kernels", n)),
    "feedback-gain": ("model/feedback", GCC, 300, lambda n: script("feedback_gain.py", GCC.cyclops, n)),
    "export-memory": ("e2e/export-memory", GCC, 1000000, lambda n: script(
        "export_memory.py", "--samples", n, "--memory", "8M", "--limit", "64", "--limit-of-answers", "64", GCC.cyclops,
        GCC.folder / "tests/tools/make-family", DATA)),
    "prefetch": ("e2e/prefetch", GCC, 1, lambda n: script(
        "prefetch.py", "--clang", "clang-19", GCC.cyclops, GCC.e2e("write-samples"))),
    "prefetch-gain": ("e2e/prefetch", GCC, 10, lambda n: script(
        "prefetch_gain.py", "--runs", n, GCC.cyclops, GCC.e2e("write-samples"))),
    "x86": ("e2e/x86-vs-objdump", GCC, 1, lambda n: script(
        "x86_vs_objdump.py", "--all", GCC.e2e("disassemble"), GCC.e2e("access-of"))),
    "layouts": ("e2e/layouts", GCC, 400, lambda n: script("layouts_vs_gdb.py", GCC.e2e("layouts"), n)),
    "symbols": ("e2e/symbols", GCC, 20000, lambda n: script("symbols_vs_addr2line.py", GCC.e2e("resolve"), n)),
    "dwarf": ("e2e/big-dwarf", GCC, 40, lambda n: script(
        "big_dwarf.py", "--files", 2, "--copies", n, "--places", 11000, "--cpu", 2, "--memory", 96, GCC.cyclops, GCC.maker)),
    "stat-import": ("e2e/stat-import", GCC, 1, lambda n: script("stat_import.py", GCC.cyclops, "--all")),
    "java": ("e2e/c2c-java", GCC, 1, lambda n: script(
        "c2c_java.py", "--all", GCC.cyclops, GCC.e2e("write-accesses"))),
    "what-if": ("model/what-if", GCC, 1, lambda n: script("model_what_if.py", GCC.cyclops, DATA, "--all")),
    "loop-causes": ("model/loop-causes", GCC, 1, lambda n: script("loop_causes.py", "--all", GCC.cyclops)),
    "sharing-programs": ("model/sharing-programs", GCC, 1, lambda n: script(
        "sharing_programs.py", GCC.cyclops, E2E / "sharing", "--all")),
    "time-shares": ("model/time-shares", GCC, 1, lambda n: script("time_shares.py", "--all", GCC.cyclops, DATA)),
    "statistics": ("model/statistics", GCC, 50, lambda n: script("model_statistics.py", GCC.cyclops, DATA, n)),
    "schema": ("e2e/schema", GCC, 1, lambda n: script("schema.py", "--all", GCC.cyclops, ROOT / "docs/schema", DATA)),
    "determinism": ("e2e/determinism", GCC, 1, lambda n: script("determinism.py", "--all", GCC.cyclops, GCC.maker)),
    "latency-model": ("model/latency", GCC, 1, lambda n: script("model_latency.py", "--all", GCC.cyclops)),
    "debian": ("model/debian", GCC, 1, lambda n: script("model_debian.py", "--all", GCC.cyclops, ROOT / "build-debian")),
    "latency": ("e2e/latency", GCC, 3, lambda n: script(
        "latency_lmbench.py", "--rounds", n, GCC.cyclops, GCC.e2e("latency-chase"))),
    "blocks": ("e2e/blocks-of-binaries", GCC, 1, lambda n: script(
        "blocks_of_binaries.py", "--debian", ROOT / "build-debian" / "binaries", GCC.cyclops, GCC.e2e("write-samples"), DATA)),
    "advice": ("advice/court", GCC, 1, lambda n: [sys.executable, ADVICE / "court.py", "--renamed", GCC.cyclops]),
    "advice-debian": ("advice/court", GCC, 1, lambda n: [
        sys.executable, ADVICE / "real_programs.py", GCC.cyclops, ROOT / "build-debian"]),
    "html": ("e2e/html-pages", GCC, 50000, lambda n: script(
        "html_pages.py", "--captures", "--everything", "--rows", n, GCC.cyclops, GCC.e2e("write-samples"), GCC.folder / "viewer" / "packages", DATA)),
    "linux-kernels": ("vm/stat", GCC, 1, lambda n: [
        sys.executable, ROOT / "tests/vm/linux_kernels.py", LOGS / "linux-kernels", GCC.cyclops, GCC.folder / "tests/corpus/dump-samples"]),
    "dist": ("e2e/dist", None, 1, lambda n: script("dist.py", "--whole", ROOT)),
    "container": ("e2e/dist", None, 1, lambda n: script("container.py", ROOT)),
    "fleet": ("e2e/collect", GCC, 100000000, lambda n: script("fleet_truth.py", "--rows", n, "--compact", GCC.cyclops)),
    "engines": ("e2e/collect", GCC, 10000000, lambda n: script("fleet_engines.py", "--rows", n, "--hosts", 1000, "--compact", "--master", "local-cluster[2,1,1024]", GCC.cyclops)),
    "store": ("e2e/collect", GCC, 50, lambda n: script(
        "fleet_store.py", "--captures", n, "--kills", 20, GCC.cyclops, GCC.maker, DATA)),
    "collectors": ("e2e/collect", GCC, 100, lambda n: script(
        "collect.py", "--kills", n, GCC.cyclops, GCC.maker, DATA, ROOT / "docs/man/cyclops-fleet.1")),
    "kernels": ("model/kernels", GCC, 1, lambda n: script("kernel_model.py", "--all", GCC.cyclops)),
    "kernel-instructions": ("model/kernel-instructions", GCC, 1, lambda n: script(
        "kernel_instructions.py", "--all", GCC.cyclops)),
    "kills": ("e2e/record", GCC, 200, lambda n: script(
        "record.py", "--kills", n, GCC.cyclops, GCC.folder / "tests/corpus/dump-samples", GCC.e2e("record-program"))),
    "robustness": ("e2e/robustness", SANITIZE, 20000, lambda n: script(
        "robustness.py", "--cases", n, SANITIZE.e2e("damage-sessions"), SANITIZE.maker, CORPUS / "capture",
        CORPUS / "session")),
    "hostile": ("corpus/hostile", GCC, 1000000, lambda n: [
        GCC.folder / "tests/corpus/damage-captures", "--hostile", n, CORPUS / "capture", CORPUS / "session", DATA / "samples"]),
    "hostile-commands": ("e2e/hostile-captures", GCC, 20000, lambda n: [
        GCC.e2e("damage-sessions"), "--hostile", n, CORPUS / "capture", CORPUS / "session", DATA / "samples"]),
    "hostile-symbols": ("corpus/hostile-symbols", GCC, 100000, lambda n: [
        GCC.folder / "tests/corpus/damage-symbols", "--hostile", n, CORPUS / "symbol", DATA / "root"]),
    "damage": ("corpus/damage", SANITIZE, 100000, lambda n: [
        SANITIZE.folder / "tests/corpus/damage-captures", n, CORPUS / "capture"]),
    "threads": ("threads/session", THREADS, 300000, lambda n: [
        "sh", "-ec", '"$1" --records "$2" --samples 2000 --cpus 3 --chunk 256K --output "$3"; "$4" "$3"', "sh",
        THREADS.maker, n, LOGS / "busy.data", THREADS.folder / "tests/fuzz/replay-session"]),
    "plugin": ("plugin/sanitized", SANITIZE, 1, lambda n: script(
        "model_sanitized.py", "--all", "clang", SANITIZE.cyclops, SANITIZE.folder / "model/cyclops-model.so", DATA)),
    "clang": ("gcc: all tests", CLANG, 1, lambda n: meson(CLANG, "--no-suite", "vm")),
    "sanitize": ("sanitize: without suite once", SANITIZE, 1, lambda n: meson(
        SANITIZE, "--suite", "once", "--no-suite", "qemu", "--no-suite", "vm")),
    "busy": ("the same tests, once", GCC, 3, lambda n: meson(GCC, "--logbase", "busy", "--repeat", n, *TIMED)),
    "fuzz": ("fuzz/*", None, 600, lambda n: ["sh", ROOT / "scripts/fuzz.sh", n]),
    "new-perf": ("e2e/differential", GCC, 200, lambda n: script(
        "newer_perf.py", "--seeds", n, GCC.cyclops, GCC.maker)),
    "perf-shapes": ("e2e/perf-shapes", GCC, 1, lambda n: script("perf_shapes.py", "--all", GCC.cyclops)),
    "new-perf-sources": ("e2e/newer-perf-sources", GCC, 10, lambda n: script(
        "newer_perf_sources.py", "--seeds", n, "--records", 240, GCC.cyclops, GCC.maker)),
    "new-perf-records": ("e2e/newer-perf-sources", GCC, 10, lambda n: script(
        "newer_perf_records.py", "--seeds", n, GCC.cyclops, GCC.maker)),
    "new-perf-neighbours": ("e2e/neighbours", GCC, 1, lambda n: script("neighbours.py", GCC.cyclops)),
    "new-perf-branches": ("e2e/branches-perf", GCC, 1, lambda n: script(
        "branches_perf.py", GCC.cyclops, GCC.e2e("write-samples"), GCC.maker)),
    "new-perf-mem-samples": ("e2e/mem-samples-perf", GCC, 1, lambda n: script(
        "mem_samples_perf.py", GCC.cyclops, GCC.e2e("write-samples"))),
    "new-perf-stat": ("e2e/stat-import", GCC, 1, lambda n: script("stat_import.py", GCC.cyclops)),
}
LEAST = {"busy": 1, "fuzz": 5}


def prepare(builds):
    """Makes the builds that are needed, as in `make test`. Returns the names of failed ones."""
    failed = set()
    for name, compiler, options, _ in BUILDS:
        folder = ROOT / f"build-{name}"
        if folder in builds and not run_tests.make_build(folder, compiler, options):
            failed.add(folder)
    return failed


def newer_perf():
    """The folder with a newer perf. None, and the reason is printed, if it is not available."""
    done = subprocess.run([ROOT / "scripts/new-perf.sh", ROOT / "build-new-perf"], stdout=subprocess.PIPE, text=True,
                          check=False)
    return done.stdout.strip() if done.returncode == 0 else None


def load_machine(name):
    """Runs twice as many busy processes as CPUs beside the tests."""
    n = 2 * os.cpu_count() if name == "busy" else 0
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(n)]


def run(name, amount, environment):
    """Runs an entry, returns its exit status."""
    command = [str(word) for word in ENTRIES[name][3](amount)]
    with open(LOGS / f"{name}.log", "w", encoding="utf-8") as log:
        others = load_machine(name)
        try:
            return subprocess.run(command, cwd=ROOT, env=environment, stdin=subprocess.DEVNULL, stdout=log,
                                  stderr=subprocess.STDOUT, check=False).returncode
        finally:
            for other in others:
                other.kill()
                other.wait()


def environment_of(name, perf_folder):
    environment = run_tests.environment_of("gcc")
    if perf_folder:
        environment["PATH"] = f"{perf_folder}:{environment['PATH']}"
    return environment


def soak(names, scale):
    LOGS.mkdir(exist_ok=True)
    passed, failures, skipped = 0, [], []
    broken = prepare({ENTRIES[name][1].folder for name in names if ENTRIES[name][1]})
    if "busy" in names:
        run_tests.build_arm64()
    perf_folder = newer_perf() if any(name.startswith("new-perf") for name in names) else None
    for name in names:
        _, build, amount, _ = ENTRIES[name]
        wants_perf = name.startswith("new-perf")
        if wants_perf and not perf_folder:
            skipped.append(name)
            print(f"{name}: skipped: no newer perf", flush=True)
            continue
        amount = max(LEAST.get(name, 1), int(amount * scale))
        begin = time.monotonic()
        status = 1 if build and build.folder in broken else run(
            name, amount, environment_of(name, perf_folder if wants_perf else None))
        word = "passed" if status == 0 else "skipped" if status == SKIP else "FAILED"
        print(f"{name} ({amount}): {word}, {time.monotonic() - begin:.0f} s", flush=True)
        if status == 0:
            passed += 1
        else:
            (skipped if status == SKIP else failures).append(name)
    for name in failures:
        log = LOGS / f"{name}.log"
        print(f"\nFAILED {name}: {log}")
        for line in log.read_text(errors="replace").splitlines()[-LAST_WORDS:] if log.exists() else ():
            print(f"    {line}")
    if skipped:
        print(f"\nskipped: {', '.join(skipped)}")
    print(f"\n{passed} passed, {len(failures)} failed")
    return 1 if failures else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--scale", type=float, default=1)
    parser.add_argument("--list", action="store_true", help="names, amounts and the twins in `make test`")
    parser.add_argument("names", nargs="*", metavar="NAME")
    args = parser.parse_args()
    if args.list:
        for name, (twin, _, amount, _) in ENTRIES.items():
            print(f"{name:22} {amount:>7}  {twin}")
        return 0
    unknown = [name for name in args.names if name not in ENTRIES]
    if unknown:
        parser.error(f"there is no {', '.join(unknown)}; --list says what there is")
    return soak(args.names or list(ENTRIES), args.scale)


if __name__ == "__main__":
    sys.exit(main())
