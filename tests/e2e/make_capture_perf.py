#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does perf read what make-capture makes up? make_capture_perf.py MAKE-CAPTURE.

perf must find every record and every sample, and have nothing to complain about. The same
options must give the same file. Without perf the test is skipped, by name.
"""

import collections
import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77

# What perf says of a sound file made on another machine, too.
HARMLESS = re.compile(
    r"^$|^Warning:$|^unwind: target platform=|kallsyms|kptr_restrict|kernel samples|"
    r"can't be resolved|Only instruction-based sampling period|"
    r"CONTEXT packets not found|Matching of TIDs to SPE events"
)

# Options, and the numbers of SPE records and of samples that they ask for.
CASES = [
    (["--records", "1"], 1, 0),
    (["--records", "5000", "--samples", "300"], 5000, 300),
    (["--records", "20001", "--cpus", "3", "--chunk", "10000"], 20001, 0),
    (["--records", "20000", "--only-perf61", "--no-context", "--kernel-share", "0"], 20000, 0),
    (["--records", "9000", "--cpus", "1", "--kernel-map", "--kernel-share", "50"], 9000, 0),
    (["--bytes", "640K", "--binary", sys.executable, "--samples", "7"], 10240, 7),
    (["--samples", "1000"], 0, 1000),
    (["--records", "3000", "--samples", "300", "--branches"], 3000, 300),
]


def fail(what):
    print(what)
    return 1


def check(program, folder, options, n_records, n_samples):
    paths = [os.path.join(folder, name) for name in ("first.data", "second.data")]
    for path in paths:
        subprocess.run([program, *options, "--output", path], check=True)
    name = " ".join(options)
    with open(paths[0], "rb") as first, open(paths[1], "rb") as second:
        if first.read() != second.read():
            return fail(f"{name}: not the same each time")
    done = subprocess.run(
        ["perf", "script", "-i", paths[0], "--itrace=i1i", "-F", "comm,tid,time,event,ip", "-G"],
        capture_output=True,
        text=True,
        check=False,
        env=dict(os.environ, PERF_CONFIG="/dev/null", HOME=folder, LC_ALL="C"),
    )
    failures = 0
    if done.returncode != 0:
        failures += fail(f"{name}: exit code {done.returncode}")
    for line in done.stderr.splitlines():
        if not HARMLESS.search(line):
            failures += fail(f"{name}: perf says: {line}")
    found = collections.Counter()
    for line in done.stdout.splitlines():
        match = re.match(r" *(?:server|client|logger) +40[0-2][0-3] +[0-9.]+: +([a-z:]+):", line)
        found[match.group(1) if match else line] += 1
    expected = {"instructions": n_records, "cycles:u": n_samples}
    expected = {event: n for event, n in expected.items() if n > 0}
    if found != expected:
        failures += fail(f"{name}: found {dict(found.most_common(5))}, expected {expected}")
    return failures


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if shutil.which("perf") is None:
        print("skipped: perf is not installed")
        return SKIP
    with tempfile.TemporaryDirectory() as folder:
        failures = sum(check(sys.argv[1], folder, *case) for case in CASES)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
