#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What an answer rests on: a part of the records, a file whose end is missing, a CPU or a kind of trace that is not
known, a program that goes on behind its last sample.

usage: answers.py CYCLOPS DATA_DIR
"""

import json
import os
import re
import struct
import subprocess
import sys
import tempfile

import perf_file
from harness import ENVIRONMENT, NO_DATA, Checks, run

EXIT, AUX, AUXTRACE_INFO, CORESIGHT, TRUNCATED = 4, 11, 70, 3, 1  # types of records and traces; a flag of AUX
FEATURES = slice(72, perf_file.HEADER_BYTES)  # the header's bits of what is behind the records
EXIT_TIME, AUX_FLAGS = 24, 24  # where they stand in their records
ATTRS, CONFIG = 16, 8  # where the header has the size and place of its attrs, and these their config
JITTER, ONLY_LOADS = 1 << 16, 1 << 33  # of SPE
CUT = 100000  # bytes: most records of the capture are in them, its features are not
DEEP = "sym==chase_memory && op=load && tot>200"


def answer_of(cyclops, data, *words):
    """The sentences that an answer begins with, each on a line."""
    done = subprocess.run([cyclops, *words, "--symfs", os.path.join(data, "root")], env={**ENVIRONMENT, "COLUMNS": "400"},
                          capture_output=True, text=True, check=False)
    if done.returncode not in (0, NO_DATA):
        raise SystemExit(f"{words}: {done.stderr}")
    lines = done.stdout.split("\n\n", maxsplit=1)[0].splitlines()
    return lines[1:] if lines and lines[0].startswith("modelled: ") else lines


def check_cut(checks, cyclops, data, folder):
    """Without the end of the file no level is known: loads of 200 cycles are memory latency all the same."""
    path = os.path.join(folder, "cut.data")
    with open(os.path.join(data, "samples/chase.data"), "rb") as whole, open(path, "wb") as cut:
        cut.write(whole.read(CUT))
    unknown, known = answer_of(cyclops, data, "report", path), answer_of(cyclops, data, "report", "--cpu", "neoverse-n1", path)
    checks.expect(unknown[0].startswith("Memory latency in ") and " chase_system_cache (chase.c:36), accessing struct node.next: " in unknown[0], f"{unknown}")
    checks.expect(known[0] == unknown[0].replace("Memory", "LLC"), f"{known}; {unknown}")
    checks.expect(unknown[1] == known[1] and "accumulators" not in unknown[1], f"{known}; {unknown}")
    checks.expect(unknown[-1] == "Doubt: the CPU is not known (the end of the file is missing), so data sources are not known: "
                  "give --cpu NAME.", f"{unknown}")
    checks.expect(not any("Doubt" in line for line in known), f"{known}")
    checks.count("captures without an end")


def check_other_trace(checks, cyclops, data, folder):
    """A capture of another kind of trace, and of nothing else, is said to be one; no buffer of it is SPE's."""
    path = os.path.join(folder, "etm.data")
    with open(os.path.join(data, "samples/chase.data"), "rb") as file:
        bytes_of = bytearray(file.read())
    bytes_of[FEATURES] = bytes(FEATURES.stop - FEATURES.start)  # which name the PMU
    for position, kind, _ in perf_file.records(bytes_of):
        if kind == AUXTRACE_INFO:
            struct.pack_into("<I", bytes_of, position + perf_file.RECORD_HEADER.size, CORESIGHT)
        if kind == AUX:
            struct.pack_into("<Q", bytes_of, position + AUX_FLAGS, TRUNCATED)
    with open(path, "wb") as file:
        file.write(bytes_of)
    report, quality = (" ".join(answer_of(cyclops, data, command, path)) for command in ("report", "quality"))
    checks.expect(report == "No samples: the capture has CoreSight ETM traces only, which cyclops does not decode.", report)
    checks.expect("SPE buffer" not in report + quality, f"{report}; {quality}")
    checks.count("captures of another trace")


def check_elapsed(checks, cyclops, data, folder):
    """A program that only waits at its end ran until it ended, not until its last sample."""
    path, later = os.path.join(folder, "late.data"), 300_000_000
    with open(os.path.join(data, "samples/chase.data"), "rb") as file:
        bytes_of = bytearray(file.read())
    for position, kind, _ in perf_file.records(bytes_of):
        if kind == EXIT:
            time = struct.unpack_from("<Q", bytes_of, position + EXIT_TIME)[0]
            old, new = (struct.pack("<Q", ns) for ns in (time, time + later))
            size = perf_file.RECORD_HEADER.unpack_from(bytes_of, position)[2]
            bytes_of[position:position + size] = bytes_of[position:position + size].replace(old, new)
    with open(path, "wb") as file:
        file.write(bytes_of)
    before, after = (json.loads(run(cyclops, "report", "--format", "json", name))["capture"][0]["duration_ns"]
                     for name in (os.path.join(data, "samples/chase.data"), path))
    checks.expect(after - before == later, f"{before} ns, then {after}")
    checks.count("captures with a late end")


def check_advice(checks, cyclops, data):
    """What gains nothing is not advised: the core has no room for lines that are asked for sooner; stores are in order already."""
    path = os.path.join(data, "samples/stride-ahead.data")
    findings = json.loads(run(cyclops, "report", "--format", "json", "--symfs", os.path.join(data, "root"), path))["findings"]
    told = [(row["kind"], row["function"], row["remedy_id"]) for row in findings]
    checks.expect(told == [("dram-bandwidth", "walk", "shorter-stride"), ("store-bound", "fill", "shorter-stride")], f"{told}")
    checks.count("captures with advice")


def set_filter(path, filtered):
    """A copy whose header says that loads alone were recorded, which its records contradict."""
    with open(path, "rb") as file:
        bytes_of = bytearray(file.read())
    entry_bytes, first, size = struct.unpack_from("<QQQ", bytes_of, ATTRS)
    for at in range(first, first + size, entry_bytes):
        config = struct.unpack_from("<Q", bytes_of, at + CONFIG)[0]
        if config & JITTER:
            struct.pack_into("<Q", bytes_of, at + CONFIG, config | ONLY_LOADS)
    with open(filtered, "wb") as file:
        file.write(bytes_of)


def check_unproven(checks, cyclops, data, folder):
    """Where the time of an iteration is not known, a chain of operations is possible and no more, and stands behind what was seen."""
    filtered = os.path.join(folder, "filtered.data")
    for name, first, kinds in (
            ("multiply", "Possible dependency chain in multiply_naive (multiply.c:29): ", ["dependency-chain", "hot-function"]),
            ("padded", "Possible store-to-load forwarding in count_up (sharing.c:40), accessing account.count: ", ["store-forwarding", "hot-function"]),
            ("chase", "DRAM latency in chase, ", ["dram-latency", "llc-bound", "dependency-chain", "hot-function"])):
        path = os.path.join(data, f"samples/{name}.data")
        set_filter(path, filtered)
        answer = answer_of(cyclops, data, "report", filtered)
        findings = json.loads(run(cyclops, "report", "--format", "json", "--symfs", os.path.join(data, "root"), filtered))["findings"]
        told = [row["kind"] for row in findings]
        checks.expect(answer[0].startswith(first) and told == kinds, f"{answer}; {told}")
        checks.expect(any("not proven: " in line for line in answer) == first.startswith("Possible"), f"{answer}")
        checks.expect(not any("not proven" in line or "ossible" in line for line in answer_of(cyclops, data, "report", path)), name)
        checks.count("captures whose times are not known")


def check_others(checks, cyclops, captures):
    """Of two structs that two threads share, and a loop of hits in the L2 whose chain takes longer than the loop does."""
    spe = os.path.join(captures, "spe")
    findings = json.loads(run(cyclops, "report", "--format", "json", "--symfs", os.path.join(spe, "root"),
                              os.path.join(spe, "sharing.data")))["findings"]
    told = [row["kind"] for row in findings]
    checks.expect(told[:2] == ["false-sharing", "dependency-chain"], f"{told}")
    checks.count("captures of others")


def check_program(checks, cyclops, data, folder):
    """The command that simulates names the program as it is found here, in whatever folder who reads it is."""
    cyclops, data = os.path.abspath(cyclops), os.path.abspath(data)
    path, root = os.path.join(data, "samples/chase.data"), os.path.join(data, "root")
    for words, cwd, there in ((["--symfs", root], folder, os.path.join(root, "opt/kernels/chase")),
                              (["--symfs", os.path.relpath(root, folder)], folder, os.path.relpath(root, folder) + "/opt/kernels/chase")):
        done = subprocess.run([cyclops, "report", *words, path], cwd=cwd, env={**ENVIRONMENT, "COLUMNS": "400"},
                              capture_output=True, text=True, check=True)
        programs = [line.split(" -- ")[1] for line in done.stdout.splitlines() if "--what-if" in line]
        checks.expect(programs == [there] and os.path.exists(os.path.join(cwd, there)), f"{words}: {programs}")
        checks.count("programs as they are here")


def check_data(checks, cyclops, data):
    """A finding of a loop names the data, as addr does; not where the instruction is no access, or its data have no name."""
    for name, wanted in (("samples/chase", ["struct node.next", "struct node.next", None]), ("samples/stride", ["array[]", "array[]"]),
                         ("samples/multiply", [None, None]), ("demo", ["struct node.next", "nodes[].next", None])):
        options = ["--format", "json", "--symfs", os.path.join(data, "root"), os.path.join(data, f"{name}.data")]
        told = [row.get("data") for row in json.loads(run(cyclops, "report", *options))["loops"]]
        objects = [row["object"] for row in json.loads(run(cyclops, "addr", *options))["objects"]]
        checks.expect(told == wanted, f"{name}: {told}")
        checks.expect(all(one is None or any(re.split(r"[.\[]", one)[0] in each for each in objects) for one in told), f"{told}; {objects}")
        checks.count("captures whose data have names")


def check_selected(checks, cyclops, data):
    """A share is of the records that were selected, and the sentence says so."""
    path = os.path.join(data, "samples/chase.data")
    for command in ("report", "hot", "mem", "quality"):
        part, whole = (answer_of(cyclops, data, command, *words, path) for words in (("--select", DEEP), ()))
        checks.expect(part[0].startswith("Of the selected records: "), f"{command}: {part}")
        checks.expect(not any("selected" in line for line in whole), f"{command}: {whole}")
        checks.count("commands that were given --select")


def main():
    cyclops, data = sys.argv[1:]
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_cut(checks, cyclops, data, folder)
        check_other_trace(checks, cyclops, data, folder)
        check_elapsed(checks, cyclops, data, folder)
        check_unproven(checks, cyclops, data, folder)
        check_program(checks, cyclops, data, folder)
    if "CYCLOPS_CAPTURES" in os.environ:
        check_others(checks, cyclops, os.environ["CYCLOPS_CAPTURES"])
    else:
        print("captures of others: skipped, CYCLOPS_CAPTURES is not set")
    check_selected(checks, cyclops, data)
    check_advice(checks, cyclops, data)
    check_data(checks, cyclops, data)
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
