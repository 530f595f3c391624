#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What users of perf type: the answer is that of our own words, or the error names them.

usage: habits.py CYCLOPS MAKE-CAPTURE
"""

import os
import re
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks, run

DONE, USAGE = 0, 2

# perf's words, and ours that give the same answer.
SAME = [
    ("report --stdio", "report --no-pager"),
    ("report --header --stdio -f", "report"),
    ("report --header-only", "report --table capture"),
    ("report --stats", "report --table capture"),
    ("report -g", "hot --callers"),
    ("report -g --no-children --stdio", "hot --callers"),
    ("report --call-graph=caller", "hot --callers"),
    ("report --sort comm,dso,symbol", "hot --by process,module,function"),
    ("report -s dso -i perf.data", "hot --by module"),
    ("report -t , --sort dso", "hot --by module --format csv"),
    ("hot --sort dso,sym --format csv", "hot --by module,function --format csv"),
    ("hot --comm server --tid 4001,4002", "hot --select (comm==\"server\")&&(tid==4001||tid==4002)"),
    ("hot --select op=load --dsos program", "hot --select op=load&&module==\"program\""),
    ("mem report --stdio", "mem"),
    ("mem --sort mem,dso", "mem --by source,module"),
    ("c2c report -c tid,iaddr --stdio", "c2c --coalesce thread,place"),
    ("c2c --stats", "c2c --table sharing"),
    ("annotate -s 0x4002e0..0x4003e0 --stdio", "annotate 0x4002e0..0x4003e0"),
    ("annotate -M intel --stdio", "annotate --syntax intel"),
    ("list", "list events"),
    ("list hw", "list events"),
    ("list metric -j", "list metrics --format json"),
    ("version", "--version"),
    ("-V", "--version"),
    ("stat --import counts -x, --cpu neoverse-n1", "stat --import counts --format csv --cpu neoverse-n1"),
    ("stat --import counts -j -d --cpu neoverse-n1", "stat --import counts --format json --all --cpu neoverse-n1"),
]

# What perf has and we do not, and what the error has to name.
NAMED = [
    ("script", r"'script' is a command of perf; here type 'cyclops export'"),
    ("stat record -- true", r"cyclops stat --format json -o FILE"),
    ("top", r"cyclops record -a"),
    ("report --percent-limit 3", r"--percent-limit is an option of perf; here type --top N"),
    ("report --time 1,2", r"--select 'time in 1\.2s\.\.1\.4s'"),
    ("report --fail-if x", r"there is no --fail-if here; 'cyclops diff A B', hot, mem and c2c have it"),
    ("report -F overhead", r"-F is an option of perf; here type --columns"),
    ("report -s weight", r"perf's --sort: 'weight' is not known here; --by knows comm, pid"),
    ("stat -x; -- true", r"found ';', but csv here has ',' only"),
    ("stat -x", r"-x needs a value"),
    ("mem -g", r"type 'cyclops hot --callers'"),
    ("record --uid 1 -- true", r"type --pid"),
]


def ask(cyclops, folder, line):
    return subprocess.run([cyclops, *line.split()], cwd=folder, env=ENVIRONMENT, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, check=False)


def check_record(checks, cyclops, folder):
    """Options of perf stand before the program, those behind it are the program's."""
    for line in ("record -N -R -e cpu-clock -o out.data true -g", "c2c record -e cpu-clock -o out.data -- true --stdio"):
        done = ask(cyclops, folder, line)
        if done.returncode != DONE and "perf_event" in done.stderr:
            print(f"left out: {line}: {done.stderr.strip()}")
            continue
        checks.expect(done.returncode == DONE and os.path.getsize(os.path.join(folder, "out.data")) > 0,
                      f"{line}: {done.returncode} {done.stderr}")
        checks.count("recordings")


def without_commands(screen):
    """Without the commands that it proposes: they have the selection as it was written."""
    return re.sub(r"^ *cyclops .*\n", "", screen, flags=re.MULTILINE)


def main():
    cyclops, maker = (os.path.abspath(word) for word in sys.argv[1:])
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        run(maker, "--output", os.path.join(folder, "perf.data"), "--records", 3000, "--samples", 200,
            "--memory-samples", 200)
        with open(os.path.join(folder, "counts"), "w", encoding="ascii") as counts:
            counts.write("1000,,L1D_CACHE,1000,100.00,,\n10,,L1D_CACHE_REFILL,1000,100.00,,\n")
        for theirs, ours in SAME:
            left, right = ask(cyclops, folder, theirs), ask(cyclops, folder, ours)
            checks.expect(right.stdout or right.returncode != DONE, f"{ours}: says nothing: {right.stderr}")
            checks.expect((left.returncode, without_commands(left.stdout)) == (right.returncode, without_commands(right.stdout)),
                          f"{theirs}: not as {ours}: {left.returncode} {left.stderr}")
            checks.expect("is an option of perf" not in left.stderr, f"{theirs}: {left.stderr}")
            checks.count("same answers")
        for line, pattern in NAMED:
            done = ask(cyclops, folder, line)
            checks.expect(done.returncode == USAGE and re.search(pattern, done.stderr) and not done.stdout,
                          f"{line}: {done.returncode} {done.stderr}")
            checks.count("named")
        check_record(checks, cyclops, folder)
    return checks.finish()


sys.exit(main())
