#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
cyclops latency on this machine: what it prints fits together, whatever else runs here; and what it refuses.

usage: latency.py CYCLOPS DATA
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from xml.etree import ElementTree

from harness import ENVIRONMENT, Checks, csv_rows, run

MOST_STEP_CYCLES = 4
USAGE, FAILED = 2, 1
SVG = "{http://www.w3.org/2000/svg}"


def tables(cyclops, *words):
    """Of one run: the clock, and with it what can be told, is another in the next one."""
    said = json.loads(run(cyclops, "latency", *words, "--format", "json"))
    return {name: said.get(name, []) for name in ("levels", "sizes", "histogram", "pages", "clock")}


def numbers(rows, column):
    return [float(row[column]) for row in rows]


def check_sweep(checks, cyclops, *words):
    said = tables(cyclops, "--sizes", "4K..1M", "--samples", "50", *words)
    what = " ".join(words) or "latency"
    sizes = numbers(said["sizes"], "size_bytes")
    checks.expect(sizes == sorted(set(sizes)) and sizes[0] == 4096 and sizes[-1] == 1 << 20, f"{what}: sizes {sizes}")
    for row in said["sizes"]:
        least, median, most = (float(row[name]) for name in ("least_ns", "ns", "most_ns"))
        checks.expect(0 < least <= median <= most, f"{what}: {row}")
        checks.expect(float(row["cycles"]) > 0 and float(row["core_hz"]) > 0, f"{what}: {row}")
    before = None
    for row in said["levels"]:
        start, end, ns = (float(row[name]) for name in ("from_bytes", "to_bytes", "ns"))
        checks.expect(4096 <= start and 2 * start <= end <= 1 << 20, f"{what}: level {row}")
        checks.expect(before is None or (start > before[0] and ns >= 1.25 * before[1]), f"{what}: level {row}")
        before = end, ns
        checks.count("levels")
    pages = numbers(said["pages"], "n_pages")
    checks.expect(pages == sorted(set(pages)), f"{what}: pages {pages}")
    clock = said["clock"][0]
    is_fine = float(clock["step_cycles"]) <= MOST_STEP_CYCLES
    checks.expect(float(clock["step_ns"]) > 0 and clock["times_single_loads"] == is_fine, f"{what}: {clock}")
    checks.expect(bool(said["histogram"]) == is_fine, f"{what}: a histogram where a step is {clock['step_cycles']} cycles")
    if is_fine:
        of_first = sum(int(row["count"]) for row in said["histogram"] if row["size_bytes"] == 4096)
        checks.expect(0 < of_first <= 50, f"{what}: {of_first} single loads of 50")
    else:
        text = " ".join(run(cyclops, "latency", "--sizes", "4K..8K", "--histogram").decode().split())
        steps = re.search(r"has steps of [^,]*, (\d+) cycles", text)  # of that run, which may have found fine ones
        checks.expect(steps is None or int(steps[1]) <= MOST_STEP_CYCLES or "too coarse to time single loads" in text,
                      f"no histogram, and not why: {text}")
    checks.count("sweeps")


def check_import(checks, cyclops, path):
    """The published figures: 9 cycles where 3 are true, and so 56 and 116 for what was measured as 62 and 122."""
    words = ("latency", "--import", path, "--format", "csv", "--table")
    checks.expect(numbers(csv_rows(cyclops, *words, "clock"), "bias_cycles") == [6], "the bias is not 6")
    checks.expect(numbers(csv_rows(cyclops, *words, "levels"), "cycles") == [3, 56, 116], "not 3, 56, 116 cycles")
    rows = csv_rows(cyclops, *words, "levels", "--cpu", "neoverse-n1")  # 4 cycles
    checks.expect(numbers(rows, "cycles") == [4, 57, 117], f"of another CPU: {rows}")
    checks.count("imports")


def refused(checks, cyclops, status, says, *words, **more):
    done = subprocess.run([cyclops, "latency", *words], env=ENVIRONMENT, capture_output=True, text=True, check=False, **more)
    checks.expect(done.returncode == status and says in done.stderr, f"{words}: {done.returncode}: {done.stderr}")
    checks.count("refusals")


def check_refusals(checks, cyclops, path):
    own = sorted(os.sched_getaffinity(0))
    refused(checks, cyclops, USAGE, "the smaller size first", "--sizes", "8K..4K")
    refused(checks, cyclops, USAGE, "at least eight cache lines", "--sizes", "64")
    refused(checks, cyclops, FAILED, "of memory are needed", "--sizes", "1T")
    refused(checks, cyclops, USAGE, "this process may run on", "--cpu", str(max(own) + 1))
    refused(checks, cyclops, USAGE, "a name belongs to --import", "--cpu", "neoverse-n1")
    refused(checks, cyclops, USAGE, "wanted random, page or line", "--order", "backwards")
    refused(checks, cyclops, USAGE, "wanted 4K or huge", "--pages", "some")
    refused(checks, cyclops, USAGE, "nothing is measured", "--import", path, "--sizes", "4K")
    refused(checks, cyclops, USAGE, "not one of the", "--import", path, "--cpu", "none-has-this")
    refused(checks, cyclops, FAILED, "the threads that read need others", "--loaded", "--sizes", "1M",
            preexec_fn=lambda: os.sched_setaffinity(0, own[:1]))
    done = subprocess.run([cyclops, "latency", "--sizes", "4K..1M", "--pages", "huge", "--format", "csv", "--table", "clock"],
                          env=ENVIRONMENT, capture_output=True, text=True, check=False)
    checks.expect(done.returncode == 0 and ",2097152," in done.stdout or "huge pages of 2 MiB are wanted" in done.stderr,
                  f"--pages huge: {done}")


def check_picture(checks, cyclops, folder, *words):
    """The picture is XML with a title, a description and a point for each row, inside of its frame."""
    path = os.path.join(folder, "curve.svg")
    rows = csv_rows(cyclops, "latency", *words, "--svg", path, "--format", "csv", "--table",
                    "loaded" if "--loaded" in words else "sizes")
    root = ElementTree.parse(path).getroot()
    names = {child.tag.removeprefix(SVG): child for child in root if child.tag != SVG + "g"}
    labelled = root.get("role") == "img" and root.get("aria-labelledby") == "title description"
    checks.expect(labelled and names["title"].text and "ns" in (names["desc"].text or ""), f"{words}: no title or description")
    points = root.findall(f"{SVG}g")
    checks.expect(len(points) == len(rows) and all("ns" in point.find(SVG + "title").text for point in points),
                  f"{words}: {len(points)} points, {len(rows)} rows")
    width, height = int(root.get("width")), int(root.get("height"))
    for circle in root.iter(SVG + "circle"):
        checks.expect(0 < float(circle.get("cx")) < width and 0 < float(circle.get("cy")) < height, f"{words}: outside: {circle.attrib}")
    checks.count("pictures")


def check_loaded(checks, cyclops):
    if len(os.sched_getaffinity(0)) < 2:
        print("left out: --loaded, there is one CPU")
        return
    rows = csv_rows(cyclops, "latency", "--loaded", "--sizes", "1M", "--format", "csv", "--table", "loaded")
    delays = [row["delay_cycles"] for row in rows]
    checks.expect(delays[0] == "0" and delays[-1] == "", f"delays {delays}")
    for row in rows:
        checks.expect(float(row["bytes_per_s"]) > 0 and 0 < float(row["least_ns"]) <= float(row["ns"]) <= float(row["most_ns"]),
                      f"loaded: {row}")
    checks.count("loaded")


def main():
    cyclops, data = map(os.path.abspath, sys.argv[1:])
    path = os.path.join(data, "latency", "arm1176.dat")
    checks = Checks()
    check_sweep(checks, cyclops)
    check_sweep(checks, cyclops, "--order", "page")
    check_import(checks, cyclops, path)
    check_refusals(checks, cyclops, path)
    check_loaded(checks, cyclops)
    with tempfile.TemporaryDirectory() as folder:
        check_picture(checks, cyclops, folder, "--sizes", "4K..256K")
        if len(os.sched_getaffinity(0)) > 1:
            check_picture(checks, cyclops, folder, "--loaded", "--sizes", "1M")
        done = subprocess.run([cyclops, "latency", "--sizes", "4K,8K", "--svg", folder], env=ENVIRONMENT, capture_output=True,
                              text=True, check=False)
        checks.expect(done.returncode == FAILED and folder in done.stderr, f"--svg to a folder: {done}")
    checks.finish()


main()
