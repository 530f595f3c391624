#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What an export leaves out, it says and counts: left_out.py CYCLOPS DATA.

For each capture of DATA, and of the folder that the variable CYCLOPS_CAPTURES names, the records in each format and
those that the messages name come to all there are: samples as `dump` lists them, SPE records as `dump --packets` ends them.
"""

import csv
import gzip
import io
import json
import os
import pathlib
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

from harness import ENVIRONMENT, NO_DATA, Checks, real_captures
from profiles import fields_of, packed


def of_folded(data):
    return sum(int(line.rsplit(" ", 1)[1]) for line in data.decode().splitlines())


def of_svg(data):
    """All stand on the first frame."""
    titles = [title.text for title in ElementTree.fromstring(data.decode()).iter("{http://www.w3.org/2000/svg}title")]
    return next((int(found[1].replace(" ", "")) for found in (re.fullmatch(r"all: ([\d ]+) \w+, .*", title) for title in titles)
                 if found), 0)


def of_pprof(data):
    return sum(sum(packed(fields_of(sample), 2)) for sample in fields_of(gzip.decompress(data))[2])


def of_speedscope(data):
    return sum(sum(profile["weights"]) for profile in json.loads(data)["profiles"])


def of_firefox(data):
    return sum(sum(thread["samples"]["weight"]) for thread in json.loads(data)["threads"])


def of_callgrind(data):
    return sum(map(int, re.findall(rb"^summary: (\d+)$", data, re.M)))


def of_chrome_trace(data):
    return sum(sample["weight"] for sample in json.loads(data)["samples"])


def of_otlp(data):
    file, n = fields_of(data), 0
    for resource in map(fields_of, file[1]):
        for profile in fields_of(fields_of(resource[2][0])[2][0] if resource[2] else b"")[2]:
            n += sum(packed(fields_of(sample), 4)[0] for sample in [profile])
    return n


def of_csv(data):
    return sum(1 for _ in csv.reader(io.StringIO(data.decode(errors="replace")))) - 1


def of_json(data):
    tables = json.loads(data)
    return sum(len(rows) for name, rows in tables.items() if name in ("spe", "samples", "counts") and isinstance(rows, list))


def of_perf_script(data):
    """Lines of call chains begin with a tab."""
    return sum(1 for line in data.split(b"\n") if line and not line.startswith(b"\t"))


# By format: how many records there are in it, with --value samples if it has values.
PROFILES = {"folded": of_folded, "svg": of_svg, "pprof": of_pprof, "speedscope": of_speedscope, "firefox": of_firefox,
            "callgrind": of_callgrind, "chrome-trace": of_chrome_trace, "otlp": of_otlp}
ROWS = {"csv": of_csv, "json": of_json, "perf-script": of_perf_script}
FEEDBACK = ["bolt", "autofdo"]
MADE_OF = re.compile(r"made of (\d+) (branch stacks|samples|SPE records)")


def export(cyclops, name, path, *options):
    done = subprocess.run([cyclops, "export", "--format", name, *options, path], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE, env=ENVIRONMENT, check=False)
    return done.returncode, done.stdout, " ".join(done.stderr.decode(errors="replace").split())


def said(messages):
    """How many records the messages say are left out."""
    n = sum(map(int, re.findall(r"(\d+) (?:other )?samples are left out", messages)))
    for names in re.findall(r"other events are left out; --event chooses: (.*?)(?: cyclops: |$)", messages):
        n += sum(map(int, re.findall(r" \((\d+) (?:samples|records)\)", names)))
    return n


def dumped(cyclops, path, *options):
    """What `dump` writes; nothing where there is nothing of the kind, or no capture."""
    done = subprocess.run([cyclops, "dump", *options, path], stdin=subprocess.DEVNULL, capture_output=True, env=ENVIRONMENT, check=False)
    return done.stdout if done.returncode == 0 else b""


def there(cyclops, path):
    """(samples, SPE records) of a capture."""
    return (len(re.findall(rb"^\S+ +\S+ +SAMPLE\b", dumped(cyclops, path), re.M)),
            len(re.findall(rb"^\.  [0-9a-f]+: .* (?:END|TS \d+) *$", dumped(cyclops, path, "--packets"), re.M)))


def check_capture(checks, cyclops, path, symfs):
    counted = there(cyclops, path)
    if sum(counted) == 0:
        return
    base = os.path.basename(path)
    for name, count in {**PROFILES, **ROWS}.items():
        status, data, messages = export(cyclops, name, path, *(("--value", "samples") if name in PROFILES else ()))
        inside = count(data) if status == 0 else 0
        checks.expect(status in (0, NO_DATA), f"{base}: {name}: exit status {status}: {messages[-300:]}")
        checks.expect(inside + said(messages) == sum(counted),
                      f"{base}: {name}: {inside} records in it, {said(messages)} left out, of {sum(counted)}: {messages[:300]}")
        checks.count(f"{name}: records", inside)
        checks.count(f"{name}: records said to be left out", said(messages))
    for name in FEEDBACK:
        status, _, messages = export(cyclops, name, path, *symfs)
        if status != 0:
            continue
        n, what = MADE_OF.search(messages).groups()
        used = (0, int(n)) if what == "SPE records" else (int(n), counted[1])
        checks.expect(sum(used) + said(messages) == sum(counted),
                      f"{base}: {name}: {sum(used)} records used, {said(messages)} left out, of {sum(counted)}: {messages[:300]}")
        checks.count(f"{name}: profiles")
    checks.count("captures")


def main():
    cyclops, data = os.path.abspath(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    checks = Checks()
    symfs = ("--symfs", data / "root")
    for path in sorted(data.glob("*.data")) + sorted((data / "samples").glob("*.data")) + list(map(pathlib.Path, real_captures())):
        check_capture(checks, cyclops, path, symfs)
    checks.finish()


if __name__ == "__main__":
    main()
