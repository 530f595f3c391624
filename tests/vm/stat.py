#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Counting on an emulated Neoverse N1, beside perf; what its doctor says."""

import json
import pathlib
import re
import sys

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "e2e"))

import guest  # noqa: E402
from harness import Checks  # noqa: E402

WORK = "busybox md5sum /bin/busybox /bin/busybox"
# A round of the kernel's rotation is 4 ms: long enough for each group to have several turns.
LONG_WORK = WORK + " /bin/busybox" * 6
# Of these the kernel does not tell whether the CPU has them, so they are counted: more than fit at once.
MANY = ("CPU_CYCLES,INST_RETIRED,LD_SPEC,ST_SPEC,DP_SPEC,ASE_SPEC,VFP_SPEC,PC_WRITE_SPEC,CRYPTO_SPEC,"
        "BR_IMMED_SPEC,BR_RETURN_SPEC,BR_INDIRECT_SPEC,ISB_SPEC,DSB_SPEC,DMB_SPEC")
PARANOID = "/proc/sys/kernel/perf_event_paranoid"


def steps_catalog():
    """A Neoverse N1 whose back end is always what limits (a cycle is an instruction here): a group
    that needs two runs explains it. What would explain the front end must not be counted."""
    explaining = [f"EXPLAINING_{i}" for i in range(8)]
    others = [f"OTHER_{i}" for i in range(24)]
    metrics = [("backend_bound", "INST_RETIRED / CPU_CYCLES * 100"), ("frontend_bound", "SW_INCR / CPU_CYCLES * 100"),
               ("front_1", "DMB_SPEC / CPU_CYCLES * 100"),
               *((f"front_{event}", f"{event} / CPU_CYCLES * 100") for event in others), ("ipc", "INST_RETIRED / CPU_CYCLES"),
               *((f"back_{i}", f"{event} / CPU_CYCLES * 100") for i, event in enumerate(explaining))]
    codes = {"SW_INCR": 0, "CPU_CYCLES": 0x11, "INST_RETIRED": 8, "DMB_SPEC": 0x7e,
             **{event: 0x70 + i for i, event in enumerate(explaining)},
             **{event: 0x200 + i for i, event in enumerate(others)}}
    return json.dumps({
        "schema": 1, "id": "neoverse-n1", "name": "Neoverse N1 in steps",
        "match": [{"implementer": "0x41", "part": "0xd0c"}], "counters": {"fixed_cycles": 1},
        "events": [{"name": name, "code": hex(code), "class": "cycles" if name == "CPU_CYCLES" else "other"}
                   for name, code in codes.items()],
        "metrics": [{"name": name, "label": name, "expr": formula, "unit": "percent of cycles", "scale": 100,
                     "better": "lower", "origin": "test"} for name, formula in metrics],
        "groups": [{"name": "Back", "label": "Back", "metrics": [f"back_{i}" for i in range(len(explaining))]},
                   {"name": "Front", "label": "Front", "metrics": ["front_1", *(f"front_{event}" for event in others)]}],
        "topdown": {"stage_1": [], "stage_2": ["Back", "Front"], "roots": ["backend_bound", "frontend_bound"],
                    "nodes": [{"metric": "backend_bound", "group": None, "next_metrics": [], "next_groups": ["Back"],
                               "sample_events": []},
                              {"metric": "frontend_bound", "group": None, "next_metrics": [],
                               "next_groups": ["Front"], "sample_events": []}]},
        "drilldown": {}, "variants": []}).encode()


def stat(machine, options, work, user=None):
    done = machine.run(f"cyclops stat {options} --format json -o /tmp/stat.json -- {work} >/dev/null", user)
    text = machine.run("cat /tmp/stat.json; rm -f /tmp/stat.json").text
    return done, json.loads(text) if text else None


def near(ours, theirs, share):
    return abs(ours - theirs) <= share * theirs


def check_doctor(machine, checks):
    done = machine.run("cyclops doctor --format json")
    found = json.loads(done.text)["checks"]
    by_name = {row["check"]: row for row in found} if isinstance(found, list) else found
    checks.expect(done.status == 0, f"doctor: exit status {done.status}")
    checks.expect("Neoverse N1" in by_name["CPU"]["found"], f"doctor: CPU: {by_name['CPU']}")
    # the kernel counts the one for cycles, too
    available = re.search(r"(\d+) (?:\([0-9a-f,]+\) )?counters available", machine.run("dmesg").text)
    free = re.search(r"(\d+) counters free", by_name["PMU"]["found"])
    checks.expect(available and free and int(available[1]) == int(free[1]) + 1,
                  f"doctor: PMU: {by_name['PMU']}")
    checks.expect("not implemented by this CPU" in by_name["SPE"]["found"], f"doctor: {by_name['SPE']}")
    checks.count("checks of the doctor", len(by_name))


def check_events(machine, checks):
    """The emulated PMU counts cycles and instructions, and claims others that read 0: those are absent then."""
    _, before = stat(machine, "-e CPU_CYCLES,STALL_BACKEND", WORK)
    checks.expect(before["events"]["STALL_BACKEND"].get("count") == 0, f"events: {before['events']}")
    done = machine.run("cyclops doctor --events --format json")
    rows = {row["event"]: row for row in json.loads(done.text)["events"]}
    checks.expect(done.status == 0, f"doctor --events: exit status {done.status}: {done.messages}")
    for event, counted in ("CPU_CYCLES", 3), ("INST_RETIRED", 3):
        row = rows.get(event, {})
        checks.expect(row.get("verdict") == "ok" and near(row["counted"], counted, 0.01), f"events: {event}: {row}")
    others = {event: row["verdict"] for event, row in rows.items() if row["verdict"] != "ok"}
    checks.expect(len(others) > 20 and set(others.values()) == {"reads 0"}, f"events: {others}")
    mode = machine.run("stat -c %a /root/.local/state/cyclops/events.json").text.strip()
    checks.expect(mode == "600", f"events: the file is of mode {mode}")
    _, after = stat(machine, "-e CPU_CYCLES,STALL_BACKEND", WORK)
    checks.expect(after["events"]["STALL_BACKEND"].get("state") == "not-supported", f"events: {after['events']}")
    checks.expect(after["events"]["CPU_CYCLES"]["count"] > 0, f"events: {after['events']}")
    _, many = stat(machine, f"-e {MANY}", WORK)
    counted = [event for event in many["events"].values() if event["state"] == "counted"]
    checks.expect(counted and all(event["running_ns"] == event["enabled_ns"] for event in counted),
                  f"events: dead ones take turns: {counted}")
    machine.run("rm -rf /root/.local/state/cyclops")
    checks.count("events checked", len(rows))


SWAPPED = ("INST_RETIRED", "BR_MIS_PRED_RETIRED")


def swapped_counts():
    """Expected counts in which two events have each other's: what a PMU would show whose events are swapped."""
    text = (pathlib.Path(__file__).resolve().parents[2] / "catalog/expected.json").read_text(encoding="utf-8")
    other = dict(zip(SWAPPED, reversed(SWAPPED)))
    return re.sub("|".join(f'"{name}"' for name in SWAPPED), lambda found: f'"{other[found[0][1:-1]]}"', text).encode()


def check_validation(machine, checks):
    """
    Instructions count what kernels make them count, whatever else is counted in their group; all else reads 0, and
    is absent from then on. A table with two events swapped is noticed. The machine tells no sizes of caches, so these
    kernels need none.
    """
    kernels = "constant-branch random-branch integers"
    state = "export XDG_STATE_HOME=/tmp/validated; "
    done = machine.run(state + f"cyclops kernel --validate --format json {kernels}")
    found = json.loads(done.text)
    verdicts = {row["event"]: row["verdict"] for row in found["events"]}
    checks.expect(done.status == 0, f"--validate: status {done.status}: {done.messages}")
    checks.expect(verdicts["INST_RETIRED"] == "ok", f"--validate: {verdicts}")
    checks.expect(verdicts["BR_RETIRED"] == "not counted here", f"BR_RETIRED, which reads 0: {verdicts['BR_RETIRED']}")
    checks.expect(all(row.get("counted") is not None for row in found["checks"]), "some events took turns")
    checks.count("events validated", len(verdicts))
    told = machine.run(state + "cyclops doctor --format json --table checks").text
    checks.expect("not counted here: " in told, f"doctor does not tell: {told}")
    done = machine.run(state + f"cyclops stat -e CPU_CYCLES,BR_RETIRED --format json -- {WORK} | tail -n +1")
    checks.expect('"BR_RETIRED"' in done.text and "not-supported" in done.text, f"stat after --validate: {done.text[:400]}")
    done = machine.run(f"cyclops kernel --validate --expected /root/swapped.json --format json {kernels} {' '.join(SWAPPED)}")
    verdicts = {row["event"]: row["verdict"] for row in json.loads(done.text)["events"]}
    checks.expect(verdicts == dict(zip(SWAPPED, ("fires elsewhere", "not counted here"))), f"swapped events: {verdicts}")
    checks.count("swapped tables")


def check_against_perf(machine, checks):
    machine.run(WORK)
    perf = machine.run(f"perf stat -x ';' -e r11,r8,task-clock -- {WORK}").messages
    theirs = [float(line.split(";")[0]) for line in perf.splitlines() if line.count(";") > 4]
    done, answer = stat(machine, "-e CPU_CYCLES,INST_RETIRED,task-clock,L1D_CACHE", WORK)
    events = answer["events"]
    checks.expect(done.status == 0, f"status {done.status}: {done.messages}")
    for name, reference in zip(("CPU_CYCLES", "INST_RETIRED"), theirs):
        checks.expect(near(events[name]["count"], reference, 0.01),
                      f"{name}: {events[name]['count']}, perf {reference}")
        checks.expect(events[name]["running_ns"] == events[name]["enabled_ns"], f"{name} took turns")
    checks.expect(near(events["task-clock"]["count"], theirs[2] * 1e6, 0.02),
                  f"task-clock: {events['task-clock']['count']}, perf {theirs[2]} ms")
    checks.expect(events["L1D_CACHE"]["state"] == "not-supported", f"L1D_CACHE: {events['L1D_CACHE']}")
    checks.expect(answer["run"][0]["cpu"] == "Neoverse N1", f"CPU: {answer['run']}")
    checks.count("events beside perf", 3)
    return events["CPU_CYCLES"]["count"]


def check_turns(machine, checks):
    """Cycles are counted in each group, so each group must come to the same."""
    _, whole = stat(machine, "-e CPU_CYCLES", LONG_WORK)
    _, shared = stat(machine, f"-e {MANY}", LONG_WORK)
    cycles = whole["events"]["CPU_CYCLES"]["count"]
    rows = [row for row in shared["counts"] if row["event"] == "CPU_CYCLES"]
    checks.expect(len(rows) > 1, "one group only")
    for row in rows:
        checks.expect(0 < row["running_ns"] < row["enabled_ns"], f"no turns: {row}")
        checks.expect(near(row["count"], cycles, 0.02), f"scaled to {row['count']}, all of it {cycles}")
    # Together they saw all of the time, whatever the turns were.
    total = shared["events"]["CPU_CYCLES"]
    checks.expect(total["running_ns"] >= 0.99 * total["enabled_ns"], f"cycles were counted a part of the time: {total}")
    checks.expect(near(total["count"], cycles, 0.001), f"of all turns {total['count']}, without turns {cycles}")
    checks.count("groups that took turns", len(rows))


def check_batches(machine, checks):
    done, answer = stat(machine, f"-e {MANY} --no-mux", "sh -c 'echo x >>/tmp/runs; cat /bin/busybox | md5sum'")
    n_runs = len(machine.run("cat /tmp/runs").text.split())
    rows = [row for row in answer["counts"] if row.get("group") and row["state"] == "counted"]
    checks.expect(done.status == 0 and n_runs > 1, f"{n_runs} runs, status {done.status}")
    for row in rows:
        checks.expect(row["running_ns"] == row["enabled_ns"], f"took turns: {row}")
    cycles = [row["count"] for row in rows if row["event"] == "CPU_CYCLES"]
    checks.expect(len(cycles) == n_runs, f"{len(cycles)} groups, {n_runs} runs")
    checks.expect(max(cycles) <= 1.05 * min(cycles), f"cycles of the runs: {cycles}")
    checks.count("counts in batches", len(rows))


def check_what_is_there(machine, checks):
    """What the CPU does not have takes no turns: what is left of the method fits beside each other."""
    done, answer = stat(machine, "", WORK)
    missing = [name for name, row in answer["events"].items() if row["state"] == "not-supported"]
    checks.expect(done.status == 0 and "L1D_CACHE_REFILL" in missing, f"missing: {missing}, {done.messages}")
    checks.expect(answer["run"][0]["not_supported_events"] == len(missing), f"counters: {answer['run']}")
    for name, row in answer["events"].items():
        checks.expect(row["state"] == "not-supported" or row["running_ns"] == row["enabled_ns"],
                      f"{name} took turns with what is not there: {row}")
    # Its stall events read 0, which no program does: they were counted, and say nothing.
    checks.expect(answer["events"]["STALL_FRONTEND"].get("count") == 0, f"no stage 1: {answer['events']}")
    checks.expect("frontend_stalled_cycles" not in answer["metrics"], f"stalls of 0: {answer['metrics']}")
    here = {row["event"]: row.get("here") for row in
            json.loads(machine.run("cyclops list events --format json").text)["events"]}
    for name, word in (("CPU_CYCLES", "yes"), ("L1D_CACHE_REFILL", "no"), ("LD_SPEC", "not known")):
        checks.expect(here.get(name) == word, f"list: {name}: {here.get(name)}")
    checks.count("events that are not there", len(missing))


def check_steps(machine, checks):
    """Step by step the method ends by itself; here its first stage is all that can be counted."""
    done, answer = stat(machine, "--no-mux", "sh -c 'echo x >>/tmp/steps; cat /bin/busybox | md5sum'")
    n_runs = len(machine.run("cat /tmp/steps").text.split())
    checks.expect(done.status == 0 and n_runs == 1, f"{n_runs} runs, status {done.status}: {done.messages}")
    checks.expect(answer["metrics"]["ipc"]["trust"] == "exact", f"ipc: {answer['metrics']['ipc']}")
    done, answer = stat(machine, "--no-mux --catalog /root/steps.json",
                        "sh -c 'echo x >>/tmp/more; cat /bin/busybox | md5sum'")
    n_runs = len(machine.run("cat /tmp/more").text.split())
    checks.expect(done.status == 0 and n_runs == 3, f"{n_runs} runs, not 1 + 2, status {done.status}: {done.messages}")
    checks.expect(answer["run"][0]["runs"] == n_runs, f"runs: {answer['run']}")
    values = answer["metrics"]
    checks.expect(all(f"back_{i}" in values and values[f"back_{i}"]["trust"] == "exact" for i in range(8)),
                  f"what stage 1 points to: {values}")
    checks.expect("front_1" not in values and "DMB_SPEC" not in answer["events"],
                  f"what stage 1 does not point to: {values}")
    checks.count("methods by steps", 2)


def check_single_run(machine, checks):
    """Too many groups for one run: only those take turns that the first stage leads to."""
    _, whole = stat(machine, "-e CPU_CYCLES", LONG_WORK)
    done, answer = stat(machine, "--catalog /root/steps.json", LONG_WORK)
    values, cycles = answer["metrics"], whole["events"]["CPU_CYCLES"]["count"]
    checks.expect(done.status == 0 and "OTHER_23" not in answer["events"],
                  f"what stage 1 does not lead to: {sorted(answer['events'])}")
    for name in ("ipc", "backend_bound", *(f"back_{i}" for i in range(8))):
        checks.expect(name in values and values[name]["coverage"] > 0.3, f"{name}: {values.get(name)}")
    groups = [row for row in answer["counts"] if row["event"] == "CPU_CYCLES"]
    checks.expect(len(groups) == 2, f"{len(groups)} groups, not stage 1 and what explains it: {groups}")
    for row in answer["counts"]:
        if row["event"] == "CPU_CYCLES":
            checks.expect(near(row["count"], cycles, 0.05), f"scaled to {row['count']}, all of it {cycles}: {row}")
            checks.count("groups that were chosen")


def check_intervals(machine, checks):
    done, answer = stat(machine, "-I 10 -e CPU_CYCLES,INST_RETIRED", LONG_WORK)
    ends = {row["end_ns"] for row in answer["counts"]}
    checks.expect(done.status == 0 and len(ends) > 2, f"{len(ends)} intervals, status {done.status}")
    for name in ("CPU_CYCLES", "INST_RETIRED"):
        parts = sum(row["count"] for row in answer["counts"] if row["event"] == name)
        checks.expect(parts == answer["events"][name]["count"], f"{name}: {parts}, {answer['events'][name]}")
    ipc = [row["value"] for row in answer["intervals"] if row["metric"] == "ipc"]
    busy = [row for row in answer["counts"] if row["event"] == "CPU_CYCLES" and row["count"] > 0]
    checks.expect(len(ipc) == len(busy) and all(near(value, 1, 0.01) for value in ipc),
                  f"IPC of {len(busy)} intervals with cycles: {ipc}")
    checks.count("intervals", len(ends))


def check_rights(machine, checks):
    counts = {}
    for level in (3, 2, 1):
        machine.run(f"echo {level} >{PARANOID}")
        done, answer = stat(machine, "-e CPU_CYCLES,context-switches", "true", user="user")
        if answer is None:
            checks.expect(level == 3 and done.status == 1, f"level {level}: {done.messages}")
            checks.expect("perf_event_paranoid is 3, 2 is needed; sudo sysctl" in done.messages,
                          f"level {level}: {done.messages}")
            continue
        counts[level] = answer["events"]["CPU_CYCLES"]["count"]
    checks.expect(set(counts) == {1, 2} and counts[2] < counts[1] / 2,
                  f"cycles of the user alone and with the kernel: {counts}")
    done = machine.run("cyclops stat -a -- true", user="user")
    checks.expect(done.status == 1 and "on whole CPUs: perf_event_paranoid is 1, 0 is" in done.messages,
                  f"whole CPUs: {done.messages}")
    machine.run(f"echo 3 >{PARANOID}")
    done = machine.run("cyclops doctor", user="user")
    checks.expect(done.status == 1 and "perf_event_paranoid is 3" in done.text, f"doctor: {done.text}")
    machine.run(f"echo 2 >{PARANOID}")
    checks.count("levels of rights", 5)


def check_ends(machine, checks):
    cases = {"sh -c 'exit 7'": 7, "sh -c 'kill -9 $$'": 137, "nothing-of-that-name": 127, "/etc/passwd": 126}
    for work, status in cases.items():
        done = machine.run(f"cyclops stat -e CPU_CYCLES -- {work}")
        checks.expect(done.status == status, f"{work}: {done.status}, {done.messages}")
        checks.expect(("CPU_CYCLES" in done.text) == (status not in (126, 127)), f"{work}: {done.text}")
    checks.count("ends of commands", len(cases))


def main():
    guest.need_guest()
    checks = Checks()
    with guest.Guest(files={"/root/steps.json": steps_catalog(), "/root/swapped.json": swapped_counts()}, with_perf=True) as machine:
        check_doctor(machine, checks)
        check_events(machine, checks)
        check_validation(machine, checks)
        check_against_perf(machine, checks)
        check_turns(machine, checks)
        check_batches(machine, checks)
        check_what_is_there(machine, checks)
        check_steps(machine, checks)
        check_single_run(machine, checks)
        check_intervals(machine, checks)
        check_rights(machine, checks)
        check_ends(machine, checks)
    checks.finish()


main()
