#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Regions of libcyclops on the machine model: what each counted, against the instructions it is known to have and
against the truth.

usage: model_regions.py CYCLOPS PROGRAM.C MAP INCLUDE SOURCE... (of the library)

Without the emulator or the cross compiler the test is skipped.
"""

import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, Functions, has_model, need, run, skip

COMPILER = "aarch64-linux-gnu-gcc"
SYSROOT = "/usr/aarch64-linux-gnu"
# Region and what is around it: calls, and instructions of one call without those inside, of each thread.
KNOWN = {
    ("straight", None): [(100, 1000)],
    ("outer", None): [(10, None)],
    ('"inner" \\ Größe', "outer"): [(20, 50)],
    ("again", None): [(1, None)],
    ("again", "again"): [(3, None)],
    ("whole", None): [(1, 24002)],
    ("thread", None): [(10, 300), (20, 300), (30, 300)],
    ("child", None): [(7, 700)],
    ("exact", None): [(1, None)],
}
SAME_IN_EACH_CALL = ("INST_RETIRED", "_SPEC", "BR_RETIRED", "BR_PRED", "L1D_CACHE_RD", "L1D_CACHE_WR", "MEM_ACCESS")
GLUE = 4  # instructions between the calls of begin and end: the call of a function, arguments


def build(given, folder, sources):
    """The program with the library in it, and with a shared library, stripped."""
    flags = ["-O2", "-g", "-std=gnu17", "-D_GNU_SOURCE", '-DCYCLOPS_VERSION="test"', "-Wall", "-Wextra", "-I", given.include,
             "-I", given.include.parent / "src", "-pthread"]
    run(COMPILER, *flags, "-static", given.program, *sources, "-o", folder / "static")
    run(COMPILER, *flags, "-shared", "-fPIC", "-fvisibility=hidden", f"-Wl,--version-script={given.map}", "-s", *sources,
        "-o", folder / "libcyclops.so")
    run(COMPILER, *flags, "-s", given.program, "-L", folder, "-lcyclops", "-Wl,-rpath," + str(folder), "-o", folder / "shared")


def model(cyclops, folder, program, *options):
    done = subprocess.run([cyclops, "model", "-o", "out.data", "--counts", "counts.json", "--truth", "truth.json", *options,
                           "--", folder / program], cwd=folder, check=True, stderr=subprocess.PIPE, text=True,
                          env={**ENVIRONMENT, "QEMU_LD_PREFIX": SYSROOT, "CYCLOPS_OUT": "regions.json"})
    return done.stderr, json.loads((folder / "counts.json").read_text()), json.loads((folder / "truth.json").read_text())


def check_known(checks, counts):
    """Each region has the instructions that its source says, and one constant for begin and end."""
    paths = collections.defaultdict(list)
    for row in counts["regions"]:
        if row["event"] == "INST_RETIRED":
            paths[(row["region"], row.get("parent"))].append(row)
    checks.expect(set(paths) == set(KNOWN), f"regions {sorted(map(str, paths))}")
    for key, rows in paths.items():
        rows.sort(key=lambda row: row["calls"])
        checks.expect([row["calls"] for row in rows] == [calls for calls, _ in KNOWN[key]], f"{key}: {rows}")
        for row, (calls, each) in zip(rows, KNOWN[key]):
            checks.expect(row["recursive"] == (key == ("again", "again")), f"{key}: {row}")
            if each is None:
                continue
            rest = row["exclusive"] - calls * each
            checks.expect(rest % calls == 0 and abs(rest // calls - row["bias"]) <= GLUE,
                          f"{key}: {row['exclusive'] / calls} of a call, bias {row['bias']}, known {each}")
            checks.count("regions of known length")
    own, inside = (paths[key][0] for key in (("outer", None), ('"inner" \\ Größe', "outer")))
    checks.expect(own["count"] == own["exclusive"] + inside["count"], f"{own}, {inside}")
    # Four levels: 500 each, begin and end of the inner ones are in the outer ones.
    once, others = paths[("again", None)][0], paths[("again", "again")][0]
    checks.expect(once["exclusive"] > 500 and once["count"] > others["count"] // 3 + 500 and
                  others["exclusive"] > 3 * 500, f"{once}, {others}")


def check_truth(checks, counts, truth, program):
    """A region's count of each event is that of its instructions in the truth."""
    symbols = {line.split()[2]: int(line.split()[0], 16) for line in run("nm", program).decode().splitlines()
               if len(line.split()) == 3}
    for name, first, end, slack in (("exact", "exact_from", "exact_to", 0), ("whole", "body", "body_end", GLUE)):
        sums = collections.Counter()
        for one in truth["instructions"]:
            if symbols[first] <= int(one["pc"], 16) < symbols[end]:
                sums["INST_RETIRED "] += one["n"]
                sums.update(one["counts"])
        checks.expect(sums["INST_RETIRED "] == sums["INST_RETIRED"] > 1000, f"{name}: {sums}")
        for row in counts["regions"]:
            if row["region"] != name or row["event"] == "duration_time":
                continue
            # Stalled cycles are those of dispatch, in the truth those of what retires meanwhile.
            if row["event"].startswith("STALL_") or (slack > 0 and not row["event"].endswith(SAME_IN_EACH_CALL)):
                continue
            found = row["count"] - (row["bias"] if slack > 0 else 0)
            checks.expect(abs(found - sums[row["event"]]) <= slack,
                          f"{name}: {row['event']} {found}, by instruction {sums[row['event']]}")
            checks.count(f"events of region {name} against the truth")


def check_import(checks, given, folder, counts):
    """stat shows the regions of the file, and the whole program without them."""
    rows = json.loads(run(given.cyclops, "stat", "--import", folder / "counts.json", "--by-region", "--format", "json"))
    instructions = collections.Counter()
    for row in counts["regions"]:
        if row["event"] == "INST_RETIRED" and not row["recursive"]:
            instructions[row["region"]] += row["count"]
    checks.expect(rows["modelled"] is True, "not marked as modelled")
    checks.expect({row["region"]: row["instructions"] for row in rows["regions"]} == instructions,
                  f"{rows['regions']}, {instructions}")
    for words, wanted in ((), counts["events"]["INST_RETIRED"]["count"]), (("--region", "child"), instructions["child"]):
        answer = json.loads(run(given.cyclops, "stat", "--import", folder / "counts.json", *words, "--all", "--format", "json"))
        checks.expect(answer["events"]["INST_RETIRED"]["count"] == wanted, f"{words}: {answer['events']}")
    checks.count("imports", 3)


def of_threads(counts):
    """By thread: calls and instructions of regions without another one inside, whose begin looks for the shortest call."""
    return {(row["region"], row.get("parent"), row["thread"], row["recursive"]):
            (row["calls"], row["count"] if row["region"] not in ("outer", "again") else None)
            for row in counts["regions"] if row["event"] == "INST_RETIRED"}


def main():
    if "WITHOUT_MODEL" in os.environ or not has_model():
        skip("no machine model here")
    need(COMPILER)
    need("nm")
    cyclops, program, version_map, include, *sources = map(pathlib.Path, sys.argv[1:])
    Given = collections.namedtuple("Given", "cyclops program map include")
    cyclops = cyclops.resolve()
    given = Given(cyclops, program, version_map, include)
    checks = Checks()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        build(given, folder, sources)
        said, counts, truth = model(cyclops, folder, "static")
        checks.expect(said.startswith("no counters:"), f"cyclops_why: {said}")
        check_known(checks, counts)
        check_truth(checks, counts, truth, folder / "static")
        check_import(checks, given, folder, counts)
        # What the library itself writes there: regions that are timed.
        own = json.loads((folder / "regions.json").read_text())["regions"]
        checks.expect({row["state"] for row in own if row["event"] != "duration_time"} == {"not-supported"}, f"{own}")
        first = of_threads(counts)
        _, again, _ = model(cyclops, folder, "static")
        checks.expect(of_threads(again) == first, f"another run: {of_threads(again)}, {first}")
        # All threads on one CPU take turns.
        _, shared, _ = model(cyclops, folder, "static", "--set", "n_cpus=1")
        checks.expect(of_threads(shared) == first, f"on one CPU: {of_threads(shared)}, on several {first}")
        _, shared, _ = model(cyclops, folder, "shared")
        check_known(checks, shared)
    checks.finish()


if __name__ == "__main__":
    main()
