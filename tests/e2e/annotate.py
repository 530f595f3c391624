#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks `cyclops annotate`: on profiles with known answers, and against perf annotate.

usage: annotate.py CYCLOPS MAKE_CAPTURE DATA
"""

import json
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

import perf_file
import spe_bytes
from harness import Checks, Failed, run, run_perf

HERE = pathlib.Path(__file__).parent
TEXT = 0x85000
WIDTH = 100

# The files of a made-up capture are those of this machine.
HERE_TOO = ["--symfs", "/"]

# Events of SPE records.
RETIRED, L1D_REFILL, NOT_TAKEN, MISPREDICTED = 1 << 1, 1 << 3, 1 << 6, 1 << 7

# Published: share of all mispredictions by instruction (9727 samples), of L1D refills (1886).
MISSES = {0x85024: 25, 0x8502C: 81, 0x85044: 9462, 0x85058: 10}
REFILLS = {0x85114: 725, 0x8511C: 86}
N_MISSES, N_REFILLS = 9727, 1886


def tools_for_arm():
    return [name for name in ("aarch64-linux-gnu-as", "aarch64-linux-gnu-ld")
            if shutil.which(name) is None]


def build(folder):
    """The program with the published code."""
    run("aarch64-linux-gnu-as", "-o", folder / "memcpy.o", HERE / "memcpy_cases.s")
    program = folder / "memcpy"
    run("aarch64-linux-gnu-ld", "-Ttext", hex(TEXT), "-e", "other", "-o", program,
        folder / "memcpy.o", "--build-id=none", "-z", "max-page-size=0x1000")
    return program


def record(pc, thread, kind, payload, events, total=None):
    packets = spe_bytes.code(spe_bytes.PC, pc, 0) + spe_bytes.context(1, thread)
    packets += spe_bytes.operation(kind, payload) + spe_bytes.events(events)
    if total is not None:
        packets += spe_bytes.counter(spe_bytes.TOTAL, total)
        packets += spe_bytes.counter(spe_bytes.ISSUE, total // 2)
    packets += spe_bytes.END
    return packets + bytes(-len(packets) % 8)


def branches(pc, thread, n, n_taken, n_missed):
    """Records of a branch: the first `n_taken` taken, the first `n_missed` mispredicted."""
    for i in range(n):
        events = RETIRED | (0 if i < n_taken else NOT_TAKEN) | (MISPREDICTED if i < n_missed else 0)
        yield record(pc, thread, spe_bytes.BRANCH, 0x01, events, 5)


def loads(pc, thread, n, n_missed):
    for i in range(n):
        missed = i < n_missed
        yield record(pc, thread, spe_bytes.LDST, 0x04, RETIRED | (L1D_REFILL if missed else 0),
                     200 if missed else 8)


def published(thread):
    """Records that add up to the published shares."""
    found = []
    for pc, n in MISSES.items():
        found += branches(pc, thread, 2 * n, 2 * n * 48 // 100, n)
    found += branches(0x8505C, thread, 300, 100, N_MISSES - sum(MISSES.values()))
    # The loop runs ten times for each time it is entered.
    found += branches(0x8512C, thread, 1000, 900, 0)
    for pc, n in REFILLS.items():
        found += loads(pc, thread, 1000, n)
    found += loads(0x85100, thread, 2000, N_REFILLS - sum(REFILLS.values()))
    return found


def put_records(path, make):
    """Puts other records into the trace data of a capture."""
    data = bytearray(path.read_bytes())
    [chunk] = perf_file.chunks(bytes(data))
    trace = b"".join(make)
    assert len(trace) <= chunk.size, (len(trace), chunk.size)
    data[chunk.start:chunk.end] = trace.ljust(chunk.size, b"\0")
    path.write_bytes(bytes(data))


def answer(cyclops, *words):
    return json.loads(run(cyclops, "annotate", "--format", "json", *words))


def rows_of(document, table="instructions"):
    """{address: row}."""
    return {int(row["address"], 16): row for row in document[table]}


def event_share(row, event):
    return next((e["share"] for e in row["events"] if e["event"] == event), 0.0)


def check_published(checks, cyclops, make_capture, folder):
    program = build(folder)
    capture = folder / "memcpy.data"
    run(make_capture, "--output", capture, "--binary", program, "--records", "40000", "--cpus", "1",
        "--chunk", "64M", "--symbols")
    thread = thread_of(cyclops, capture)
    put_records(capture, published(thread))
    document = answer(cyclops, *HERE_TOO, "-i", capture, "__GI___memcpy_simd")
    rows = rows_of(document)
    checks.expect(set(range(0x85010, 0x8505C, 4)) <= set(rows), "instructions are missing")
    for pc, n in MISSES.items():
        share = event_share(rows[pc], "MISPRED")
        checks.expect(abs(share - n / N_MISSES) < 1e-9, f"{pc:#x}: {share} of mispredictions")
        checks.count("published shares")
    for pc, n in REFILLS.items():
        share = event_share(rows[pc], "L1D-REFILL")
        checks.expect(abs(share - n / N_REFILLS) < 1e-9, f"{pc:#x}: {share} of refills")
        checks.count("published shares")
    tbz = rows[0x85044]
    checks.expect(tbz["instruction"] == "tbz w2, #3, 0x8505c", tbz["instruction"])
    checks.expect(tbz["flow"] == "branch" and tbz["target"] == "0x8505c", "flow of tbz")
    checks.expect(abs(tbz["taken"] - 0.48) < 1e-3, f"tbz is taken {tbz['taken']}")
    checks.expect(abs(tbz["mispredicted"] - 0.5) < 1e-9, f"{tbz['mispredicted']} mispredicted")
    ldp = rows[0x85114]
    checks.expect(ldp["instruction"] == "ldp q0, q1, [x1, #80]", ldp["instruction"])
    checks.expect(ldp["total_p50_cycles"] == 200 and ldp["issue_p50_cycles"] == 100, "median")
    mean = (725 * 200 + 275 * 8) / 1000
    checks.expect(abs(ldp["total_mean_cycles"] - mean) < 1e-9, f"mean {ldp['total_mean_cycles']}")
    [loop] = [l for l in document["loops"] if l["start"] == "0x85110"]
    checks.expect(loop["end"] == "0x8512c" and loop["instructions"] == 8, f"loop {loop}")
    checks.expect(abs(loop["iterations"] - 10) < 1e-9, f"iterations {loop['iterations']}")
    check_text(checks, cyclops, capture)
    check_symbols(checks, cyclops, capture)
    check_without_file(checks, cyclops, capture, program)
    check_stripped(checks, cyclops, capture, program)


def thread_of(cyclops, capture):
    """The thread that the capture's records name."""
    rows = run(cyclops, "export", "--table", "spe", "--format", "csv", capture).decode().splitlines()
    names, first = rows[0].split(","), rows[1].split(",")
    return int(first[names.index("tid")])


def check_text(checks, cyclops, capture):
    """The listing fits, says the shares, and draws arrows between the right lines."""
    text = run(cyclops, "annotate", *HERE_TOO, "-i", capture, "-e", "mispredicted", "-e", "l1d-refill",
               "__GI___memcpy_simd").decode()
    lines = text.splitlines()
    checks.expect(max(map(len, lines)) <= WIDTH, "lines are too long")
    [tbz] = [line for line in lines if "0x85044" in line and "tbz" in line]
    checks.expect("97.3 %" in tbz, tbz)
    [ldp] = [line for line in lines if "0x85114" in line and "ldp" in line]
    checks.expect("38.4 %" in ldp, ldp)
    listing = lines[:next(i for i, line in enumerate(lines) if line.startswith("Loops"))]
    [head] = [line for line in listing if line.split()[:1] == ["0x85110"]]
    [back] = [line for line in listing if line.split()[:1] == ["0x8512c"]]
    checks.expect(">" in head and "'" in back, f"arrow of the loop: {head} {back}")
    checks.count("lines of text", len(lines))


def refused(cyclops, *words):
    done = subprocess.run([cyclops, "annotate", *words], capture_output=True, text=True, check=False)
    return done.stderr if done.returncode == 2 else f"exit status {done.returncode}"


def check_symbols(checks, cyclops, capture):
    """Every way to name the function leads to it."""
    for symbol in ("__GI___memcpy_simd@memcpy", "__GI___memcpy_simd+0x34", "0x85044", "memcpy_alias", "memcpy_alias@memcpy",
                   "memcpy_alias+0x34", None):
        words = [*HERE_TOO, "-i", capture] + ([symbol] if symbol else [])
        function = answer(cyclops, *words)["function"][0]
        checks.expect(function["function"] == "__GI___memcpy_simd", f"{symbol}: {function}")
        checks.count("ways to name a function")
    selected = [run(cyclops, "hot", "--format", "csv", *HERE_TOO, "--select", f"sym=={name}", capture)
                for name in ("__GI___memcpy_simd", "memcpy_alias")]
    checks.expect(selected[0] == selected[1] and selected[0].count(b"\n") > 1, f"--select by the other name: {selected}")
    for name in ("memcpy_alia", "memcpy_alias@other"):
        checks.expect("no records in" in refused(cyclops, *HERE_TOO, "-i", capture, name), f"{name} is a name")
    message = refused(cyclops, *HERE_TOO, "-i", capture, "__GI___memcpy")
    checks.expect("did you mean '__GI___memcpy_simd'" in message, message)
    message = refused(cyclops, "-i", capture, "-e", "nonsense")
    checks.expect("--event: 'nonsense' is neither" in message, message)


def check_without_file(checks, cyclops, capture, program):
    """Addresses with records are left, and it is said why."""
    program.rename(program.with_name("gone"))
    document = answer(cyclops, *HERE_TOO, "-i", capture)
    found = sum(row.get("spe_records") or 0 for row in document["instructions"])
    checks.expect("was not found" in document["function"][0]["shortage"], "shortage")
    wanted = sum(2 * n for n in MISSES.values()) + 300 + 1000 + 4000
    checks.expect(found == wanted, f"{found} records without the file, not {wanted}")
    program.with_name("gone").rename(program)


def check_stripped(checks, cyclops, capture, program):
    """Code without symbols is shown as far as its section goes, and any range on demand."""
    whole = program.with_name("whole")
    program.rename(whole)
    run("aarch64-linux-gnu-strip", "-o", program, whole)
    document = answer(cyclops, *HERE_TOO, "-i", capture)
    found = {address: row.get("spe_records") or 0 for address, row in rows_of(document).items()}
    wanted = sum(2 * n for n in MISSES.values()) + 300 + 1000 + 4000
    checks.expect(sum(found.values()) == wanted, f"{sum(found.values())} records in stripped code, not {wanted}")
    checks.expect(min(found) >= TEXT and not document["function"][0].get("shortage"), "instructions of stripped code")
    text = run(cyclops, "annotate", *HERE_TOO, "-i", capture).decode()
    checks.expect("0xSTART..0xEND" in text and f"at {min(found):#x}" in text, "what to do without symbols")
    for start, end in [(0x85040, 0x85060), (0x85044, 0x85048), (0x85100, 1 << 40), (0, 0x85048), (0x85000, 0x85004)]:
        part = answer(cyclops, *HERE_TOO, "-i", capture, f"{start:#x}..{end:#x}")
        shown = {address: row.get("spe_records") or 0 for address, row in rows_of(part).items()}
        checks.expect(all(start <= address < end for address in shown), f"range {start:#x}..{end:#x}: {sorted(shown)}")
        known = {address: n for address, n in found.items() if start <= address < end}
        checks.expect(known == {address: n for address, n in shown.items() if address in found},
                      f"range {start:#x}..{end:#x}: counts")
        checks.count("ranges of addresses")
    checks.expect("no records in '0x10..0x20'" in refused(cyclops, *HERE_TOO, "-i", capture, "0x10..0x20"), "range without records")
    whole.rename(program)


PERF_HEAD = re.compile(r" Disassembly of .* for (?P<event>\S+) \(")
PERF_LINE = re.compile(r"\s+(?P<percent>\d+\.\d+)\s+:\s+(?P<address>[0-9a-f]+):\s")


def perf_shares(event, *words):
    """{address: per cent} of perf annotate; it prints one event after the other."""
    text = run("perf", "annotate", "--stdio", *words).decode(errors="replace")
    found, is_wanted = {}, False
    for line in text.splitlines():
        if match := PERF_HEAD.search(line):
            is_wanted = match["event"] == event
        elif (match := PERF_LINE.match(line)) and is_wanted:
            found[int(match["address"], 16)] = float(match["percent"])
    return found


def compare_shares(checks, what, ours, theirs):
    """Shares 0 … 1 against per cent with two decimals."""
    hot = {address for address, percent in theirs.items() if percent > 0}
    checks.expect(hot, f"{what}: perf shows nothing")
    for address in hot | {a for a, share in ours.items() if share >= 0.00006}:
        if abs(100 * ours.get(address, 0) - theirs.get(address, 0)) > 0.0051:
            checks.fail(f"{what} {address:#x}: {ours.get(address)}, perf {theirs.get(address)} %")
        checks.count(f"{what}: instructions as perf annotate")


DEMO_FUNCTIONS = ("count_kinds", "multiply_naive", "chase_l2", "prepare", "multiply_interchanged")

# Our event, perf's, and perf's letter for --itrace.
DEMO_EVENTS = [("MISPRED", "branch-miss", "b"), ("L1D-REFILL", "l1d-miss", "f"),
               ("TLB-REFILL", "tlb-miss", "t")]


def check_demo(checks, cyclops, data):
    """SPE records of the demo, by function."""
    objdump = shutil.which("aarch64-linux-gnu-objdump")
    common = ["--symfs", data / "root", "-i", data / "demo.data"]
    for function in DEMO_FUNCTIONS:
        rows = rows_of(answer(cyclops, *common, function))
        total = sum(row.get("spe_records") or 0 for row in rows.values())
        ours = {a: (row.get("spe_records") or 0) / total for a, row in rows.items()}
        theirs = perf_shares("instructions", "--itrace=i1i", *common, "-s", function, "--objdump", objdump)
        compare_shares(checks, f"{function}, records", ours, theirs)
        for event, name, letter in DEMO_EVENTS:
            shares = {a: event_share(row, event) for a, row in rows.items()}
            if any(shares.values()):
                theirs = perf_shares(name, f"--itrace={letter}", *common, "-s", function,
                                     "--objdump", objdump)
                compare_shares(checks, f"{function}, {event}", shares, theirs)


PROGRAM = """
#include <stdint.h>
volatile uint64_t sink;
static inline uint64_t step(uint64_t x) { return x * 6364136223846793005u + 1442695040888963407u; }
__attribute__((noinline)) uint64_t mix(unsigned n)
{
	uint64_t x = 1, odd = 0;
	for (unsigned i = 0; i < n; i++) {
		x = step(x);
		if (x >> 63)
			odd += x & 3;
		else
			odd ^= x / (i | 1);
	}
	return odd;
}
__attribute__((noinline)) double divide(unsigned n)
{
	double d = 1;
	for (unsigned i = 1; i < n; i++)
		d += 1.0 / (d + i);
	return d;
}
int main(void)
{
	uint64_t x = 1;
	/* Turns differ in length, so that they do not keep step with the clock that samples. */
	for (int i = 0; i < 150; i++) {
		unsigned n = (unsigned)(x >> 45);
		sink += mix(n) + (uint64_t)divide(n);
		x = step(x);
	}
	return 0;
}
"""


def check_samples(checks, cyclops, folder):
    """Samples of a clock on this machine, where that is allowed."""
    source = folder / "mix.c"
    source.write_text(PROGRAM)
    run("cc", "-O2", "-g", "-o", folder / "mix", source)
    capture = folder / "mix.data"
    done = run_perf("record", "-q", "-e", "cpu-clock:u", "-F", "4000", "-o", capture, folder / "mix")
    message = refused(cyclops, "-i", capture, "nobody")
    if done.returncode != 0 or "mix" not in message or "divide" not in message:
        print("samples not compared: perf record is not permitted here, or has none")
        return
    for function in ("mix", "divide"):
        document = answer(cyclops, "-i", capture, function)
        rows = rows_of(document)
        ours = {a: sum(e["share"] for e in row["events"]) for a, row in rows.items()}
        compare_shares(checks, f"{function}, cpu-clock", ours,
                       perf_shares("cpu-clock:u", "-i", capture, "-s", function))
    inlined = [row for row in rows_of(answer(cyclops, "-i", capture, "mix")).values()
               if row.get("source_function") == "step"]
    checks.expect(inlined and all("mix at " in row["inlined"] for row in inlined), "inline chain")
    text = run(cyclops, "annotate", "-i", capture, "mix").decode()
    checks.expect("x = step(x);" in text or "odd += x & 3;" in text, "no source lines")


def check_names_twice(checks, cyclops, folder):
    """A function of two programs is listed twice, and each can be chosen."""
    for name in ("one", "two"):
        (folder / name).write_bytes((folder / "mix").read_bytes())
        (folder / name).chmod(0o755)
    capture = folder / "twice.data"
    done = run_perf("record", "-q", "-e", "cpu-clock:u", "-F", "4000", "-o", capture,
                    "sh", "-c", f"{folder}/one; {folder}/two")
    message = refused(cyclops, "-i", capture, "mix")
    if done.returncode != 0 or "mix" not in message:
        return
    checks.expect("mix@one" in message and "mix@two" in message, message)
    for name in ("one", "two"):
        [function] = answer(cyclops, "-i", capture, f"mix@{name}")["function"]
        checks.expect(function["module"] == name, f"{name}: {function}")
        checks.count("functions of the same name")


def check_workers(checks, cyclops, data):
    """The answer is the same for any number of them."""
    words = ["--symfs", data / "root", data / "demo.data"]
    for form in ("text", "json", "csv"):
        one, four = (run(cyclops, "annotate", "--format", form, "-j", n, *words) for n in "14")
        checks.expect(one == four, f"{form} differs with the number of workers")
        checks.count("forms the same for 1 and 4 workers")


def main():
    cyclops, make_capture, data = map(pathlib.Path, sys.argv[1:])
    cyclops, data = cyclops.resolve(), data.resolve()
    checks = Checks()
    check_workers(checks, cyclops, data)
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        missing = tools_for_arm()
        if missing:
            print(f"published cases left out: no {missing[0]}")
        else:
            check_published(checks, cyclops, make_capture.resolve(), folder)
        if shutil.which("perf") is None:
            print("perf annotate left out: perf is not installed")
        else:
            if shutil.which("aarch64-linux-gnu-objdump"):
                check_demo(checks, cyclops, data)
            check_samples(checks, cyclops, folder)
            check_names_twice(checks, cyclops, folder)
    checks.finish()


main()
