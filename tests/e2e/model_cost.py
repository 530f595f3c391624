#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a contended line costs on the modelled machine, against what happened there:
model_cost.py CYCLOPS KERNELS.

The model writes what each load took. Of the program that contends for a line, nearly all loads from
beyond the own caches are to that line, so their part of all latency is the cost; without the
stores, and where they are those of a table that does not fit, there is none. Without the emulator
or the cross compiler the test is skipped.
"""

import json
import os
import sys
import tempfile

from harness import Checks, need, run

COMPILER = "aarch64-linux-gnu-gcc"
FLAGS = ["-O2", "-g", "-march=armv8.2-a", "-ffreestanding", "-fno-stack-protector", "-static", "-nostdlib"]


def model(cyclops, kernels, folder, *flags):
    program, capture, truth = (os.path.join(folder, name) for name in ("settings", "out.data", "truth.json"))
    run(COMPILER, *FLAGS, *flags, os.path.join(kernels, "settings.c"), "-o", program)
    run(cyclops, "model", "-o", capture, "--truth", truth, "--", program)
    with open(truth, encoding="utf-8") as file:
        sources = json.load(file)["sources"]
    return sources, json.loads(run(cyclops, "c2c", "--symfs", "/", "--format", "json", capture))


def true_share(sources):
    access = {name: s["total"] - s["issue"] for name, s in sources.items()}
    hit = access["L1D"] / sources["L1D"]["n"]
    beyond = [name for name in access if name not in ("L1D", "L2")]
    return sum(access[name] - hit * sources[name]["n"] for name in beyond) / sum(access.values())


def check_contention(cyclops, kernels, folder, checks):
    sources, answer = model(cyclops, kernels, folder)
    line = next((l for l in answer["lines"] if l.get("object") == "settings"), {})
    truth = true_share(sources)
    checks.expect(line.get("verdict") == "false-sharing", f"verdict: {line}")
    checks.expect(abs(line["share"] - truth) <= 1.5 * line["share_error"],
                  f"share {line['share']} +- {line['share_error']}, in truth {truth}")
    checks.expect(line["reloads"] > 0, f"reloads: {line['reloads']}")
    checks.expect(len(answer["findings"]) == 1, f"{len(answer['findings'])} findings")


def check_peace(cyclops, kernels, folder, flag, checks):
    _, answer = model(cyclops, kernels, folder, flag)
    checks.expect(answer["sharing"][0]["contended_lines"] == 0, f"{flag}: {answer['sharing']}")
    checks.expect(sum(line["reloads"] for line in answer["lines"]) == 0, f"{flag}: reloads")
    checks.expect(not any(f["kind"].endswith("sharing") for f in answer["findings"]), f"{flag}: {answer['findings']}")
    checks.count("programs that do not contend")


def main():
    cyclops, kernels = sys.argv[1:]
    need(COMPILER)
    need("qemu-aarch64")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_contention(cyclops, kernels, folder, checks)
        check_peace(cyclops, kernels, folder, "-DPADDED", checks)
        check_peace(cyclops, kernels, folder, "-DTABLE", checks)
    checks.finish()


if __name__ == "__main__":
    main()
