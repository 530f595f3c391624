#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Checks what remains without a disassembler: all numbers, and words in place of instructions.

usage: without_disassembler.py CYCLOPS CYCLOPS-BARE DATA-FOLDER
"""

import json
import os
import re
import sys

from harness import Checks, run

FUNCTIONS = ("chase_l2", "multiply_naive", "prepare")


def main():
    cyclops, bare, data = map(os.path.abspath, sys.argv[1:])
    options = ["--symfs", os.path.join(data, "root"), "--format", "json", "-i", os.path.join(data, "demo.data")]
    checks = Checks()
    for name in FUNCTIONS:
        full = json.loads(run(cyclops, "annotate", *options, name))
        words = json.loads(run(bare, "annotate", *options, name))
        checks.expect("disassembler" in words["function"][0].get("shortage", ""), f"{name}: no word of why")
        checks.expect(len(full["instructions"]) == len(words["instructions"]), f"{name}: instructions are missing")
        for theirs, ours in zip(full["instructions"], words["instructions"]):
            text = ours.pop("instruction")
            theirs.pop("instruction")
            checks.expect(re.fullmatch(r"\.inst 0x[0-9a-f]{8}", text) is not None, f"{name}: {text}")
            checks.expect(theirs == ours, f"{name}: {ours}, with a disassembler {theirs}")
            checks.count("instructions")
        checks.expect(full["loops"] == words["loops"], f"{name}: other loops")
        text = run(bare, "annotate", *options[:2], *options[4:], name).decode()
        checks.expect("built without a disassembler" in text and ".inst" in text, f"{name}: {text[-300:]}")
    for command in (["mem", "--by", "function"], ["hot"], ["c2c"], ["quality"]):
        ours, theirs = (json.loads(run(program, *command, *options)) for program in (bare, cyclops))
        checks.expect(ours == theirs, f"{' '.join(command)} has other numbers")
        checks.count("commands")
    checks.finish()


if __name__ == "__main__":
    main()
