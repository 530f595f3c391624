#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
cyclops catalog: telemetry files are checked, compared and kept, used by other commands, and forgotten.

usage: catalog.py CYCLOPS CATALOG

Facts of the catalog in the forms that Arm publishes, as telemetry_files.py makes them, with known changes.
"""

import copy
import json
import os
import pathlib
import resource
import stat
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks
from telemetry_files import CATALOG, CYCLOPS, published

ID = "neoverse-n1"
DONE, FAILED, USAGE = 0, 1, 2


class Place:
    def __init__(self, folder):
        self.folder = pathlib.Path(folder)
        self.kept = self.folder / "data/cyclops/catalog"
        self.environment = {**ENVIRONMENT, "XDG_DATA_HOME": str(self.folder / "data")}

    def ask(self, *words, **environment):
        return subprocess.run([os.path.abspath(CYCLOPS), *map(str, words)], cwd=self.folder, env={**self.environment, **environment},
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)

    def write(self, facts, name="arm.json"):
        path = self.folder / name
        path.write_text(facts if isinstance(facts, str) else json.dumps(facts))
        return path

    def changes(self, path, *words):
        done = self.ask("catalog", "update", path, "--format", "json", *words)
        if done.returncode != DONE:
            raise SystemExit(f"catalog update: {done.stderr}")
        return sorted((row["kind"], row["name"], row["change"], row.get("before"), row.get("after"))
                      for row in json.loads(done.stdout)["changes"])

    def events(self):
        done = self.ask("list", "events", "--cpu", ID, "--format", "json")
        return {row["event"]: row["code"] for row in json.loads(done.stdout)["events"]} if done.returncode == DONE else done.stderr


def changed(facts):
    """Another number, a new event, another formula, a metric less; and what that says."""
    facts = copy.deepcopy(facts)
    facts["events"]["LD_SPEC"]["code"] = "0x4070"
    facts["events"]["ALL_NEW"] = {**facts["events"]["LD_SPEC"], "code": "0x4071", "title": "ALL_NEW"}
    metric = facts["metrics"]["ipc"]
    before = metric["formula"].replace(" ", "")
    metric["formula"] = "INST_RETIRED / CPU_CYCLES * 2"
    name = next(name for name in facts["metrics"] if name.startswith("itlb"))
    gone = facts["metrics"].pop(name)["formula"].replace(" ", "")
    rows = [("event", "LD_SPEC", "changed", "0x70", "0x4070"), ("event", "ALL_NEW", "added", None, "0x4071"),
            ("metric", "ipc", "changed", before, "INST_RETIRED/CPU_CYCLES*2"), ("metric", name, "removed", gone, None)]
    for key, group in facts["groups"]["metrics"].items():
        if name in group["metrics"]:
            words = group["metrics"]
            rest = [word for word in words if word != name]
            group["metrics"] = rest
            rows.append(("group", key, "changed", " ".join(words), " ".join(rest)))
    for node in facts["methodologies"]["topdown_methodology"]["decision_tree"]["metrics"]:
        node["next_items"] = [item for item in node["next_items"] if item != name]
    tree = facts["methodologies"]["topdown_methodology"]["decision_tree"]
    tree["metrics"] = [node for node in tree["metrics"] if node["name"] != name]
    return facts, sorted(rows)


def check_changes(checks, place, facts):
    """What changes is said, kept, used, and forgotten."""
    for is_new in (False, True):
        same = place.write(published(facts, is_new))
        checks.equal("changes of what is known", place.changes(same), [])
        checks.expect(not place.kept.exists(), "a file that changes nothing was kept")
        newer, wanted = changed(published(facts, is_new))
        path = place.write(newer)
        own = place.events()
        checks.equal("changes", place.changes(path, "--dry-run"), wanted)
        checks.expect(not place.kept.exists(), "--dry-run has kept a file")
        checks.equal("changes", place.changes(path), wanted)
        kept = place.kept / f"{ID}.json"
        checks.expect(kept.read_bytes() == path.read_bytes(), "what is kept is not the file")
        checks.expect(stat.S_IMODE(kept.stat().st_mode) == 0o600, "the file is not for its user alone")
        events = place.events()
        checks.expect(events != own and "ALL_NEW" in events, f"the new event is not used: {events}")
        checks.equal("changes of what is kept", place.changes(path), [])
        listed = json.loads(place.ask("catalog", "--format", "json").stdout)["kept"]
        checks.equal("kept", [(row["cpu"], row["file"]) for row in listed], [(ID, str(kept))])
        checks.expect(place.ask("catalog", "remove", "Neoverse N1").returncode == DONE and place.events() == own,
                      "a removed file is still used")
        checks.expect(place.ask("catalog", "remove", ID).returncode == USAGE, "removed twice")
        place.kept.rmdir()


def check_new_cpu(checks, place, facts):
    """A core that the program does not know."""
    newer = published(facts, True)
    newer["product_configuration"].update(product_name="Neoverse Z9", part_num="0xfee")
    done = place.ask("catalog", "update", place.write(newer))
    checks.expect(done.returncode == DONE and "Neoverse Z9 is new" in done.stdout, f"a new core: {done.stdout[:300]}{done.stderr}")
    checks.expect((place.kept / "neoverse-z9.json").exists(), "a new core: not kept")
    checks.expect(place.ask("list", "events", "--cpu", "neoverse-z9").returncode == DONE, "a new core: not known")
    checks.expect(place.ask("catalog", "remove", "neoverse-z9").returncode == DONE, "a new core: not removed")
    place.kept.rmdir()


def check_errors(checks, place, facts):
    """What is wrong with a file is said, and nothing is kept."""
    def with_change(change):
        wrong = published(facts, True)
        change(wrong)
        return wrong

    def set_formula(wrong):
        wrong["metrics"]["ipc"]["formula"] = "INST_RETIRED / NO_SUCH_EVENT"

    def set_code(wrong):
        wrong["events"]["LD_SPEC"]["code"] = "0x1ffffff"

    def set_name(wrong):
        wrong["product_configuration"]["product_name"] = ""

    def set_group(wrong):
        next(iter(wrong["groups"]["metrics"].values()))["metrics"].append("no_such_metric")

    cases = {
        "no JSON": ("{", "line 1, column"), "empty": ("", "line 1"), "a list": ("[]", "contents"), "other": ("{}", "schema"),
        "a formula": (with_change(set_formula), "NO_SUCH_EVENT"), "a number": (with_change(set_code), "code"),
        "a name": (with_change(set_name), "product_name"), "a group": (with_change(set_group), "no_such_metric"),
        "a path": ({"schema": 1, "id": "../../x", "name": "X", "match": [], "events": [{"name": "A", "code": "0x1", "class": "other"}]},
                   "id"),
        "of no CPU": ({"schema": 1, "names": []}, "one CPU"),
    }
    for what, (contents, words) in cases.items():
        done = place.ask("catalog", "update", place.write(contents))
        checks.expect(done.returncode == FAILED and words in done.stderr, f"{what}: {done.returncode}: {done.stdout[:100]}{done.stderr}")
        checks.expect(not list(place.folder.rglob("data/**/*.json")), f"{what}: was kept")
        checks.count("errors")
    os.mkfifo(place.folder / "fifo")
    for words, status, said in ((("update", "none.json"), FAILED, "none.json"), (("update", "fifo"), FAILED, "fifo"),
                                (("update",), USAGE, "no file given"), (("upgrade", "x"), USAGE, "upgrade"),
                                (("remove", "../../arm"), FAILED, "id"), (("remove", "none"), USAGE, "none")):
        done = place.ask("catalog", *words)
        checks.expect(done.returncode == status and said in done.stderr, f"{words}: {done.returncode}: {done.stderr}")
    done = place.ask("catalog", "update", place.write(changed(published(facts, True))[0]), XDG_DATA_HOME="", HOME="")
    checks.expect(done.returncode == FAILED and "HOME" in done.stderr, f"no home: {done.stderr}")


def check_damaged(checks, place):
    """A kept file that cannot be read stops commands with its name, and can be removed."""
    place.kept.mkdir(parents=True, exist_ok=True)
    (place.kept / f"{ID}.json").write_text("{")
    done = place.ask("list", "cpus")
    checks.expect(done.returncode == FAILED and f"{ID}.json" in done.stderr and "cyclops catalog" in done.stderr, f"damaged: {done.stderr}")
    checks.expect(place.ask("catalog", "remove", ID).returncode == DONE, "a damaged file cannot be removed")
    checks.expect(place.ask("list", "cpus").returncode == DONE, "after removal")


def of_many(prefix, n):
    """A CPU of n events, n metrics and n groups, each named elsewhere, far from where it stands."""
    def other(i):
        return n - 1 - i

    return {"schema": 1, "id": "many", "name": "Many", "match": [],
            "events": [{"name": f"{prefix}_{i}", "code": hex(i), "class": "other"} for i in range(n)],
            "metrics": [{"name": f"{prefix}_M{i}", "expr": f"{prefix}_{other(i)} * 2"} for i in range(n)],
            "groups": [{"name": f"{prefix}_G{i}", "metrics": [f"{prefix}_M{other(i)}"]} for i in range(n)],
            "topdown": {"stage_1": [f"{prefix}_G{other(i)}" for i in range(n)]}}


def check_many(checks, place):
    """Very many names, all others than before: the CPU time grows with their number, not with its square."""
    n, seconds = 20000, 9
    for prefix in ("OLD", "NEW"):
        path = place.write(of_many(prefix, n))
        done = subprocess.run([os.path.abspath(CYCLOPS), "catalog", "update", path], env=place.environment, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False,
                              preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds)))
        checks.expect(done.returncode == DONE and f"{3 * n} added" in done.stdout,
                      f"{n} names of each kind: {done.returncode}: {done.stdout[:200]}{done.stderr}")
    checks.expect(place.ask("catalog", "remove", "many").returncode == DONE, "many names: not removed")


def main():
    checks = Checks()
    facts = json.loads((CATALOG / "cpu" / f"{ID}.json").read_text())
    with tempfile.TemporaryDirectory(prefix="cyclops-catalog-") as folder:
        place = Place(folder)
        check_changes(checks, place, facts)
        check_new_cpu(checks, place, facts)
        check_errors(checks, place, facts)
        check_many(checks, place)
        check_damaged(checks, place)
    checks.finish()


if __name__ == "__main__":
    main()
