#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs every command that the README and other pages name: the indented ones, and those in text and tables; and the demo.

usage: readme_commands.py CYCLOPS DATA_DIR README PAGE...

Commands with printed output ("$ COMMAND") are those of manual_examples.py; the demo runs some of them.
What a command works on is made first: ./program, perf.data, two runs to compare. Make and scripts are
asked what they would do.
"""

import os
import pathlib
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, NO_DATA, Checks, has_model

PAGE_LINES = 55  # of the demo
SPAN = re.compile(r"`([^`]+)`")
FEWEST = 25  # commands: fewer are found only if this test reads the pages wrongly

# What the README writes for what the reader has.
VALUES = {"FILE": "counts.json", "FUNCTION": "chase_memory", "COMMAND": "c2c", "ADDRESS": "0x401000"}
CAPTURE = {"perf.data": "demo.data", "before.data": "samples/stride.data",
           "after.data": "samples/stride-ahead.data"}
# Other ends than an answer: the capture has no registers, branch stacks or counted events, not every machine can measure, and has an engine.
STATUS = {"cyclops hot --arguments": (NO_DATA,), "cyclops doctor": (0, 1), "cyclops latency --loaded": (0, 1),
          "cyclops calls": (NO_DATA,), "cyclops record --cycles -- ./program": (0, 1), "cyclops cycles": (NO_DATA,),
          "cyclops fleet top fleet": (0, 1)}  # 1: without DuckDB
LIVE = {"record", "run", "stat"}
# What would take long is asked for less.
LESS = {"cyclops latency": ["--sizes", "4K..64K"], "cyclops latency --loaded": ["--sizes", "1M"]}
SILENT = {"record", "model"}  # what they find is in a file


def commands_of(text):
    """In the order of the page: what is indented, then what stands in the text; each once."""
    blocks = []
    is_example = False
    for line in text.splitlines():
        is_example = line.startswith("    $ ") or is_example and (line.startswith("    ") or not line)
        if line.startswith("    ") and not is_example:
            blocks.append(line.split("  # ")[0].strip())
    known = ("cyclops ", "make", "scripts/", "--select")
    return list(dict.fromkeys(words.strip() for words in [*blocks, *SPAN.findall(text)]
                              if words.startswith(known)))


def is_modelled(words):
    return "--model" in words or words[1] == "model"


def prepare(folder, cyclops, data, program):
    """What the reader is taken to have in the folder."""
    for name, capture in CAPTURE.items():
        shutil.copy(os.path.join(data, capture), os.path.join(folder, name))
    os.mkdir(os.path.join(folder, "cyclops"))
    with open(os.path.join(folder, "cyclops", "config"), "w", encoding="utf-8") as file:
        file.write(f"symfs = {data}/root\n")
    shutil.copy(program, os.path.join(folder, "program"))
    os.mkdir(os.path.join(folder, "captures"))
    shutil.copy(os.path.join(data, "demo.data"), os.path.join(folder, "captures"))
    subprocess.run([cyclops, "collect", "--into", "fleet", "captures"], check=True, env=ENVIRONMENT, cwd=folder, capture_output=True)
    for name, counts in (("before", "stride"), ("after", "stride-ahead"), ("counts", "stride")):
        path = os.path.join(data, "counts", counts + ".csv")
        with open(os.path.join(folder, name + ".json"), "wb") as file:
            file.write(subprocess.run([cyclops, "stat", "--import", path, "--format", "json"], check=True,
                                      env=ENVIRONMENT, stdout=subprocess.PIPE).stdout)


def can_count(cyclops, folder):
    return subprocess.run([cyclops, "stat", "--", "true"], env=ENVIRONMENT, cwd=folder, check=False,
                          capture_output=True).returncode == 0


def check_make(checks, source, command):
    """Make knows the targets, and scripts can be run: what they do takes an administrator, or long."""
    for part in command.replace("sudo ", "").split("&&"):
        words = shlex.split(part)
        dry = ["make", "-n", *words[1:]] if words[0] == "make" else ["sh", "-n", words[0]]
        done = subprocess.run(dry, cwd=source, check=False, capture_output=True, text=True)
        checks.expect(done.returncode == 0, f"{command}: {done.stderr}")
    checks.count("of make and scripts")


def check_cyclops(checks, cyclops, folder, command):
    words = ["cyclops", "hot", *shlex.split(command)] if command.startswith("--") else shlex.split(command)
    words = [re.sub(r"\b[A-Z]{4,}\b", lambda match: VALUES.get(match[0], match[0]), word) for word in words]
    words += LESS.get(command, [])
    done = subprocess.run([cyclops, *words[1:]], env={**ENVIRONMENT, "XDG_CONFIG_HOME": folder}, cwd=folder,
                          check=False, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    is_silent = words[1] in SILENT or "-o" in words
    checks.expect(done.returncode in STATUS.get(command, (0,)) and (is_silent or done.stdout or done.returncode),
                  f"{command}: exit status {done.returncode}: {done.stdout[-200:]}{done.stderr}")
    checks.count("of cyclops")


def check_demo(checks, cyclops, readme):
    """One page, of commands whose output the README shows."""
    source = os.path.dirname(readme)
    done = subprocess.run(["sh", "scripts/demo.sh", os.path.dirname(cyclops)], env=ENVIRONMENT, cwd=source,
                          check=False, capture_output=True, text=True)
    lines = done.stdout.splitlines()
    checks.expect(done.returncode == 0, f"the demo: {done.returncode} {done.stderr}")
    checks.expect(len(lines) <= PAGE_LINES, f"the demo has {len(lines)} lines")
    with open(readme, encoding="utf-8") as file:
        shown = [line.strip() for line in file if line.startswith("    $ ")]
    ran = [line for line in lines if line.startswith("$ ")]
    checks.expect(ran and set(ran) <= set(shown), f"the demo runs {ran}, the README has {shown}")
    checks.count("of the demo", len(ran))


def main():
    cyclops, data, *pages = map(os.path.realpath, sys.argv[1:])
    readme = pages[0]
    checks = Checks()
    commands = commands_of("\n".join(pathlib.Path(page).read_text(encoding="utf-8") for page in pages))
    checks.expect(len(commands) >= FEWEST, f"only {len(commands)} commands: {commands}")
    here, modelled = shutil.which("true"), os.path.join(data, "root/opt/kernels/steady")
    with tempfile.TemporaryDirectory() as folder:
        counts_here = can_count(cyclops, folder)
        emulates = has_model()
        for number, command in enumerate(commands):
            words = shlex.split(command)
            if words[0] != "cyclops" and not command.startswith("--"):
                check_make(checks, os.path.dirname(readme), command)
                continue
            on_model = is_modelled(words)
            if not (emulates if on_model else counts_here or words[1] not in LIVE or "--import" in words):
                checks.count("that this machine cannot run")
                continue
            place = os.path.join(folder, str(number))
            os.mkdir(place)
            prepare(place, cyclops, data, modelled if on_model else here)
            check_cyclops(checks, cyclops, place, command)
    check_demo(checks, cyclops, readme)
    checks.finish()


main()
