#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What is wrong in a tree of cycle accounting is refused, by the check of the catalog and by the program alike:
catalog_faults.py CYCLOPS CHECK CATALOG.
"""

import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

from harness import Checks

TREE = "neoverse-n1"


def node(tree, name):
    return next(one for one in tree["nodes"] if one["name"] == name)


def twice(tree):
    tree["nodes"].append(dict(node(tree, "L1D_CACHE_REFILL_RD"), code="0x7ffe"))


def same_code(tree):
    node(tree, "L1D_CACHE_REFILL_RD")["code"] = node(tree, "L2D_CACHE_REFILL_RD")["code"]


def without_parent(tree):
    """Children name their branch: a child more or less cannot be claimed, only a branch that is not there."""
    node(tree, "dtlb_latency")["name"] = "tlb_latency"


def child_first(tree):
    tree["nodes"].remove(branch := node(tree, "load_latency"))
    tree["nodes"].append(branch)


def without_code(tree):
    del node(tree, "L2D_CACHE_REFILL_RD")["code"]


def free_part(tree):
    for key in ("penalty", "unit"):
        del node(tree, "L2D_CACHE_REFILL_RD")[key]


def without_unit(tree):
    del node(tree, "L2D_CACHE_REFILL_RD")["unit"]


def cap_of_branch(tree):
    node(tree, "load_latency")["cap"] = "front_end"


def cap_of_nothing(tree):
    node(tree, "load_latency")["cap"] = "STALL_BACKEND_MEMORY"


# The fault; what the check says; what the program says, None: it can live with that.
FAULTS = (
    (twice, "node 'L1D_CACHE_REFILL_RD' stands twice", "stands twice"),
    (same_code, "code '0x52' stands twice", None),
    (without_parent, "parent dtlb_latency does not stand before it", "parent"),
    (child_first, "parent load_latency does not stand before it", "parent"),
    (without_code, "node L2D_CACHE_REFILL_RD: code", "code: missing"),
    (free_part, "adds to its branch, but costs nothing", "penalty: missing"),
    (without_unit, "a penalty has a unit", "unit: missing"),
    (cap_of_branch, "cap: no 'front_end'", "wanted an event"),
    (cap_of_nothing, "cap: no 'STALL_BACKEND_MEMORY'", "wanted the name of a node"),
)


def run(*words):
    done = subprocess.run([str(word) for word in words], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
    return done.returncode, done.stderr


def main():
    cyclops, check, catalog = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
    checks = Checks()
    capture = pathlib.Path(__file__).resolve().parent.parent / "data/cycles.data"
    for make, said, program_says in FAULTS:
        with tempfile.TemporaryDirectory() as name:
            copy = pathlib.Path(name) / "catalog"
            shutil.copytree(catalog, copy)
            path = copy / f"cycles/{TREE}.json"
            tree = json.loads(path.read_text())
            make(tree)
            path.write_text(json.dumps(tree))
            status, errors = run(sys.executable, check, copy)
            checks.expect(status != 0 and said in errors, f"{make.__name__}: the check says {errors[:300]!r}")
            status, errors = run(cyclops, "cycles", "--template", path, capture)
            checks.expect(status == 0 if program_says is None else status != 0 and program_says in errors,
                          f"{make.__name__}: cyclops says {errors[:300]!r}")
            checks.count("faults")
    checks.finish()


if __name__ == "__main__":
    main()
