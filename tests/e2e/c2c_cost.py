#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What contention costs, of captures whose truth is known: c2c_cost.py CYCLOPS WRITE-ACCESSES.

Latencies are given, so shares are worked out here again: access latency (total less issue) of the
loads that waited, over that of local hits, of that of all loads. Loads from beyond the own caches
count only where others' writes explain them.
"""

import json
import statistics
import subprocess
import sys
import tempfile

from harness import Checks, run
from spe_notes import L1D_REFILL, LOADS, STORES, configured

LD, ST, ATOMIC = 0x00, 0x01, 0x06
L1, PEER, SYS_CACHE, REMOTE, DRAM = 0x0, 0x9, 0xB, 0xD, 0xE
BASE, OTHERS = 0x10000000, 0x10100000
PID, PC = 500, 0x400100
WAITS = {PEER: 100, SYS_CACHE: 200, REMOTE: 300, DRAM: 400}


class Case:
    """Records as (thread, time, address, operation, source, latency after issue, issue)."""

    def __init__(self):
        self.records = []

    def add(self, thread, times, address, op, source=L1, issue=300):
        access = WAITS.get(source, 4)
        self.records += [(thread, time, address, op, source, access, issue) for time in times]
        return self

    def background(self, n, lines=64):
        """Another thread, on lines of its own."""
        for i in range(n):
            self.add(9, [1000 + i], OTHERS + 64 * (i % lines), LD)
        return self

    def contend(self, writes=range(1000, 2000, 50), reloads=range(1010, 2000, 25), peers=range(1020, 2000, 100)):
        """Thread 0 writes, thread 1 reads other bytes."""
        self.add(0, writes, BASE, ST)
        self.add(1, range(1015, 2000, 10), BASE + 32, LD)
        self.add(1, reloads, BASE + 32, LD, SYS_CACHE)
        return self.add(1, peers, BASE + 32, LD, PEER)

    def lines(self, with_issue):
        for thread, time, address, op, source, access, issue in sorted(self.records):
            issued = f" {issue:x}" if with_issue else ""
            yield f"{thread} {PID} {PID + thread} {time:x} {PC:x} {address:x} {op:x} {source:x} {access + issue:x} 0 0{issued}"

    def share(self, waiting, with_issue=True):
        """What loads from these sources cost."""
        loads = [(source, access + (0 if with_issue else issue), address)
                 for _, _, address, op, source, access, issue in self.records if op != ST]
        hit = statistics.median_low([cycles for source, cycles, _ in loads if source == L1])
        lost = sum(cycles - hit for source, cycles, address in loads if source in waiting and address // 64 == BASE // 64)
        return max(lost, 0) / sum(cycles for _, cycles, _ in loads)


def answer_of(tools, case, *options, with_issue=True, filters=None):
    with tempfile.NamedTemporaryFile(suffix=".data") as file:
        subprocess.run([tools[1], file.name, "/program"], input="\n".join(case.lines(with_issue)).encode(), check=True)
        if filters:
            data = configured(open(file.name, "rb").read(), **filters)
            open(file.name, "wb").write(data)
        return run(tools[0], "c2c", "--all", *options, file.name).decode()


def ask(tools, case, *options, **how):
    return json.loads(answer_of(tools, case, "--format", "json", *options, **how))


def told(tools, case, *options, **how):
    """What people are told first."""
    lines = answer_of(tools, case, "--table", "sharing", "--width", "2000", *options, **how).splitlines()
    return next(line.removeprefix("answer").strip() for line in lines if line.startswith("answer "))


def line_of(answer):
    return next((line for line in answer["lines"] if int(line["address"], 16) == BASE), {})


def notes(answer):
    return " ".join(answer["notes"].get("sharing", []))


def check_costs(tools, checks):
    """Name: case, sources of loads that wait."""
    start = Case().contend(writes=range(0, 100, 5)).add(0, [1500], BASE, LD).background(200)
    seldom = Case().add(0, range(1000, 2000, 150), BASE, ST).add(1, range(1010, 2000, 200), BASE + 32, LD, SYS_CACHE)
    own = Case().add(1, range(1000, 2000, 10), BASE, LD).add(0, range(1000, 2000, 50), BASE + 32, ST)
    own.add(0, range(1010, 2000, 50), BASE + 32, LD, SYS_CACHE).add(1, range(1005, 2000, 100), BASE, LD, PEER)
    cases = {
        "reloads beside contended loads": (Case().contend().background(200), {PEER, SYS_CACHE}),
        "reloads alone": (Case().contend(peers=()).background(200), {SYS_CACHE}),
        "from memory": (Case().contend(peers=()).add(1, range(1012, 2000, 50), BASE + 32, LD, DRAM), {SYS_CACHE, DRAM}),
        "written at the start alone": (start, {PEER}),
        "four writes": (Case().contend(writes=range(1000, 2000, 250)).background(200), {PEER}),
        "seldom used": (seldom.background(100000, 40000), set()),
        "by the only writer": (own.background(200), {PEER}),
    }
    for name, (case, waiting) in cases.items():
        answer = ask(tools, case)
        line = line_of(answer)
        expected = case.share(waiting)
        reloads = sum(source in waiting - {PEER} for _, _, _, _, source, _, _ in case.records)
        checks.expect(abs(line.get("share", 0) - expected) < 1e-9, f"{name}: share {line.get('share')}, expected {expected}")
        checks.expect(line.get("reloads") == reloads, f"{name}: {line.get('reloads')} reloads, expected {reloads}")
        checks.expect(abs(line.get("reload_share", 0) - case.share(waiting - {PEER})) < 1e-9, f"{name}: reload_share {line}")
        listed = any(f["line"] == line["line"] for f in answer["findings"])
        checks.expect(listed == bool(waiting), f"{name}: listed {listed}")
        checks.expect(answer["lines"] == sorted(answer["lines"], key=lambda l: -l["share"]), f"{name}: order")
        checks.count("costs")


def check_mode(tools, checks):
    """Nothing is HITM here, so in that mode loads from other cores are reloads, and that is said."""
    case = Case().contend().background(200)
    answer = ask(tools, case, "--mode", "tot")
    line = line_of(answer)
    peers = sum(r[4] == PEER for r in case.records)
    sharing, finding = answer["sharing"][0], answer["findings"][0]
    checks.expect("--mode tot counts nothing here" in notes(answer), f"mode tot: {answer['notes']}")
    checks.expect((sharing["contended_loads"], sharing["peer_loads"], sharing["has_hitm"]) == (0, peers, False),
                  f"mode tot: {sharing}")
    checks.expect((finding["contended_loads"], finding["reloads"]) == (0, line["reloads"]), f"mode tot: {finding}")
    checks.expect("--mode" not in notes(ask(tools, case)), "mode peer needs no words")
    checks.expect(abs(line["share"] - case.share({PEER, SYS_CACHE})) < 1e-9, f"mode tot: {line}")
    checks.expect(line["reloads"] == sum(r[4] in (PEER, SYS_CACHE) for r in case.records), f"mode tot: {line['reloads']}")


def check_words(tools, checks):
    both = Case().contend().background(200)
    answer = ask(tools, both)
    checks.expect(abs(answer["sharing"][0]["share"] - both.share({PEER, SYS_CACHE})) < 1e-9, f"answer: {answer['sharing']}")
    finding = answer["findings"][0]
    contended, reloads = (sum(r[4] == source for r in both.records) for source in (PEER, SYS_CACHE))
    expected = {"contended_loads": contended, "contended_mean_cycles": 100, "reloads": reloads, "local_hit_cycles": 4,
                "waiting_loads": contended + reloads}
    found = {name: finding.get(name) for name in expected}
    checks.expect(found == expected, f"cost: {found}, expected {expected}")
    checks.expect(answer["sharing"][0]["latency_is_total"] is False, "latency: issue was recorded")

    total = ask(tools, both, with_issue=False)
    share = both.share({PEER, SYS_CACHE}, with_issue=False)
    checks.expect(abs(line_of(total)["share"] - share) < 1e-9, f"without issue: {line_of(total)['share']}, expected {share}")
    checks.expect(total["sharing"][0]["latency_is_total"] and "the time of issue was not recorded" in notes(total),
                  f"without issue: {total['sharing']}")
    checks.count("words")


def check_sockets(tools, checks):
    """What comes from another socket is said, and what would help; a few such loads are no reason to."""
    for n_local, n_remote in ((10, 0), (10, 30), (100, 1)):
        case = Case().contend(reloads=(), peers=range(1020, 1020 + n_local)).background(200)
        case.add(1, range(1500, 1500 + n_remote), BASE + 32, LD, REMOTE)
        answer = ask(tools, case)
        finding, n = answer["findings"][0], n_local + n_remote
        checks.expect((finding["contended_loads"], finding["remote_loads"]) == (n, n_remote), f"sockets: {finding}")
        checks.expect(answer["sharing"][0]["remote_loads"] == n_remote, f"sockets: {answer['sharing']}")
        advice = f"{100 * n_remote / n:.0f} % of the contended loads cross sockets"
        checks.expect((advice in finding["fix"]) == (n_remote > n_local), f"sockets: {finding['fix']}")
        checks.count("sockets")


def check_atomics(tools, checks):
    """Atomics write, and those that waited for their line are among those that read, too."""
    case = Case().background(200)
    for thread in (0, 1):
        case.add(thread, range(1000 + thread, 2000, 20), BASE, ATOMIC).add(thread, range(1010 + thread, 2000, 40), BASE, ATOMIC, PEER)
    answer = ask(tools, case)
    finding = answer["findings"][0]
    waited = sum(r[4] == PEER for r in case.records)
    total = sum(r[3] == ATOMIC for r in case.records)
    checks.expect((finding["waiting_loads"], finding["contended_mean_cycles"]) == (waited, 100), f"atomics: {finding}")
    checks.expect({row["op"] for row in line_of(answer)["accesses"]} == {"atomic"}, f"atomics: {line_of(answer)}")
    checks.expect(finding["atomics"] == total, f"atomics: {finding}")
    case.records = [r[:4] + (L1, 4) + r[6:] for r in case.records]
    findings = ask(tools, case)["findings"]
    checks.expect(all(f["waiting_loads"] == 0 for f in findings), f"atomics that did not wait: {findings}")
    checks.count("atomics")


def check_pairs(tools, checks):
    """Whose loads wait for whose stores: all of what a line costs, divided as others' stores are."""
    for case in (Case().contend().background(200), Case().contend(reloads=()).background(200)):
        answer = ask(tools, case)
        pairs, finding = answer["pairs"], answer["findings"][0]
        waited = sum(r[4] in (PEER, SYS_CACHE) for r in case.records)
        checks.expect(abs(sum(p["loads"] for p in pairs) - waited) < 1e-6, f"pairs: {pairs}, {waited} loads waited")
        checks.expect(abs(sum(p["share"] for p in pairs) - finding["share"]) < 1e-9, f"pairs: {pairs}, {finding['share']}")
        checks.expect(all(p["finding"] == 1 for p in pairs), f"pairs: {pairs}")
    checks.expect(ask(tools, Case().background(200))["pairs"] == [], "pairs of nothing")
    checks.count("pairs")


def check_elsewhere(tools, checks):
    """The report and what has changed reckon it the same way: reloads alone are enough."""
    case = Case().contend(peers=()).background(200)
    share, cycles = case.share({SYS_CACHE}), sum(r[5] - 4 for r in case.records if r[4] == SYS_CACHE)
    line = line_of(ask(tools, case))
    with tempfile.NamedTemporaryFile(suffix=".data") as file, tempfile.NamedTemporaryFile(suffix=".data") as base:
        for name, one in ((file.name, case), (base.name, Case().contend(writes=(), reloads=(), peers=()).background(200))):
            subprocess.run([tools[1], name, "/program"], input="\n".join(one.lines(True)).encode(), check=True)
        report = json.loads(run(tools[0], "report", "--format", "json", file.name))
        found = [f["share"] for f in report["findings"] if f["kind"] == "false-sharing" or f["kind"] == "unknown"]
        checks.expect(len(found) == 1 and abs(found[0] - share) < 1e-9, f"report: {report['findings']}, expected {share}")
        changes = json.loads(run(tools[0], "diff", "--by", "shared", "--per", "run", "--format", "json", base.name, file.name))
        rows = [row for row in changes["shared"] if row["name"] == "all lines"]
        checks.expect(len(rows) == 1 and rows[0].get("a", 0) == 0 and abs(rows[0]["b"] / line["lost_cycles"] - 1) < 1e-9,
                      f"diff: {changes['shared']}, expected {line['lost_cycles']}, {cycles} of samples")
    checks.count("other commands")


def check_phases(tools, checks):
    """Threads that use a line one after the other wait once each: said apart, behind what is contended."""
    later = Case().add(0, range(0, 1000, 10), BASE, ST).add(1, [1010, 1015], BASE + 32, LD, PEER)
    later.add(1, range(1020, 2000, 10), BASE + 32, LD).add(2, range(1021, 2000, 10), BASE + 32, LD).background(200)
    answer = ask(tools, later)
    share, line = later.share({PEER}), line_of(answer)
    checks.expect((line["verdict"], line["reason"]) == ("read-only", "written and used at different times"),
                  f"one after the other: {line}")
    sharing = answer["sharing"][0]
    checks.expect(told(tools, later) == "no line is contended" and answer["findings"] == [], f"one after the other: {answer}")
    checks.expect(sharing["successive_lines"] == 1 and abs(sharing["successive_share"] - share) < 1e-9,
                  f"one after the other: {sharing}, expected {share}")
    contended = ask(tools, Case().contend().background(200))["sharing"][0]
    checks.expect(contended["successive_lines"] == 0, "contention in phases")
    # Another line that is contended, at less cost, stands before it.
    for thread, time, offset, op, source in [(t, i, 8 * t, ST if t else LD, L1) for t in (3, 4) for i in range(0, 2000, 20)] + \
            [(4, i, 16, LD, PEER) for i in range(100, 2000, 1900)]:
        later.add(thread, [time], BASE + 64 + offset, op, source)
    lines = ask(tools, later)["lines"]
    checks.expect([int(line["address"], 16) for line in lines[:2]] == [BASE + 64, BASE] and
                  lines[0]["share"] < lines[1]["share"], f"order: {lines[:2]}")
    checks.count("phases")


def check_headlines(tools, checks):
    slots = Case()
    for thread in range(4):
        slots.add(thread, range(1000, 2000, 10), BASE + 16 * thread, ST)
    quiet = Case()
    quiet.records = list(slots.records)
    quiet.add(0, range(1005, 2000, 10), BASE, LD)
    few = Case().add(0, [1100], BASE, ST).add(1, [1110], BASE + 32, LD, PEER).background(100)
    loads = Case().add(0, range(1000, 2000, 20), BASE, LD, PEER).add(1, range(1010, 2000, 20), BASE + 32, LD, PEER)
    expected = {
        "written by several": (slots, "no contended line found; 1 line is written by several threads"),
        "loads that never waited": (quiet, "no line is contended"),
        "too few": (few, "no contended line found; 1 line may be contended: too few samples"),
        "no stores": (loads, "no contended line found: no store was sampled; record loads and stores; 1 line may be contended"),
        "nothing": (Case().background(100).add(0, range(100), OTHERS + 2**20, ST), "no line is contended"),
        "no stores, no sharing": (Case().background(100), "no load waited for another core; waits of stores are not recorded: no store was sampled"),
    }
    for name, (case, words) in expected.items():
        found = told(tools, case)
        checks.expect(found.startswith(words), f"{name}: {found}")
        checks.expect(found == words or found.startswith(words + ",") or not words.startswith("no line is contended"),
                      f"{name}: {found}")
        checks.count("headlines")


def check_hidden_stores(tools, checks):
    """Where no store passed the filters of the recording, that is said, and which filter it was."""
    loads, kinds = {"config": lambda config: config | LOADS}, {"config": lambda config: config | LOADS | STORES}
    slow = {"config2": lambda _: 30}
    cases = [
        ({}, (), "no store was sampled; record loads and stores"),
        (loads, (), "filter excluded stores (store_filter=1 adds them)"),
        ({**loads, **slow}, (), "filter excluded stores (store_filter=1"),
        ({**kinds, **slow}, (), "min_latency excluded stores below 30 cycles"),
        ({"config1": lambda _: L1D_REFILL}, (), "event_filter excluded stores"),
        ({}, ("--select", "op=load"), "--select excludes stores"),
    ]
    after_fix = Case().background(100)
    before_fix = Case().background(100).add(1, range(1000, 2000, 20), BASE + 32, LD, PEER).add(0, range(1010, 2000, 20), BASE, LD, PEER)
    for filters, select, words in cases:
        said = told(tools, after_fix, *select, filters=filters)
        checks.expect(said.startswith("no load waited for another core") and words in said, f"after a fix, {list(filters)}: {said}")
        said = told(tools, before_fix, *select, filters=filters)
        checks.expect("no load waited" not in said and words in said and "may be" in said, f"before it, {list(filters)}: {said}")
        checks.count("hidden stores")


def main():
    tools = sys.argv[1:3]
    checks = Checks()
    check_costs(tools, checks)
    check_mode(tools, checks)
    check_words(tools, checks)
    check_sockets(tools, checks)
    check_atomics(tools, checks)
    check_pairs(tools, checks)
    check_elsewhere(tools, checks)
    check_phases(tools, checks)
    check_headlines(tools, checks)
    check_hidden_stores(tools, checks)
    checks.finish()


if __name__ == "__main__":
    main()
