#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Exports and answers in bounded memory: export_memory.py [--samples N] [--memory SIZE] [--limit MIB] [--limit-of-rows MIB]
[--limit-of-answers MIB] CYCLOPS MAKE-FAMILY DATA.

Nearly each sample of the capture has a call chain of its own. Each format is written under a limit on the private memory of the
process (RLIMIT_DATA), in which the sums by chain do not fit: the same command with all of them in memory fails.
What is written is the same with and without the limit. hot and report show functions, of which there are few; of chains they
show those that are heavy. The same of loads by their callers.
Profiles for compilers, and calls, are made of branch stacks: nearly each branch of the other capture was taken once. Of a capture with code
they are the same whether or not branches go to files. All formats once more, of SPE records of which nearly each is of a place of its
own, with the code that they are of: memory grows with places, so the limit is that of the number of records.
"""

import argparse
import hashlib
import os
import resource
import subprocess
import tempfile

import small_elf
from branch_program import NOP, RET, seeded
from harness import ENVIRONMENT, Checks, run, skip

# Profiles keep call stacks; of rows, pieces of text wait for the one before, and frames are looked up.
STACKS = ["folded", "svg", "pprof", "speedscope", "firefox", "callgrind", "chrome-trace", "otlp"]
ROWS = ["perf-script", "csv", "json", "parquet"]
ANSWERS = [["hot", "--all"], ["report", "--all"], ["hot", "--callers", "--by", "instruction"],
           ["hot", "--call-tree", "--by", "instruction"]]
OF_LOADS = [["mem", "--by", "function,caller"], ["mem", "--by", "caller"], ["mem", "--by", "thread,function,caller"]]
OF_PLACES = ["bolt", "bolt-pre-aggregated"]  # and STACKS
PROGRAM = "srv/made-up/worker"  # of the family many-places
OF_BRANCHES = ["bolt", "bolt-pre-aggregated", "autofdo"]
NO_DATA = 4
ALL_IN_MEMORY = "1G"


def status(words, limit, folder):
    """The exit status of a command within a limit."""
    return subprocess.run([*words, "-o", os.path.join(folder, "out")], env=dict(ENVIRONMENT, TMPDIR=folder), stdin=subprocess.DEVNULL,
                          stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False,
                          preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit << 20, limit << 20))).returncode


def written(words, folder, limit=None, memory=None):
    """A digest of what a command writes, or None if it fails."""
    path = os.path.join(folder, "out")
    environment = dict(ENVIRONMENT, TMPDIR=folder, **({"CYCLOPS_EXPORT_MEMORY": memory} if memory else {}))
    done = subprocess.run([*words, "-o", path], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.DEVNULL, check=False,
                          preexec_fn=(lambda: resource.setrlimit(resource.RLIMIT_DATA, (limit << 20, limit << 20))) if limit else None)
    if done.returncode != 0:
        return None
    with open(path, "rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
    os.unlink(path)
    return digest


def write_code(path, rng):
    """Functions with calls of those before and conditional branches, one instruction in six each."""
    functions, n = {}, 0
    while n < 200000:
        size = rng.randrange(24, 400)
        words = [(NOP, NOP, NOP, NOP, 0x54000001 | (rng.randrange(size) - i & 0x7FFFF) << 5,
                  0x94000000 | -rng.randrange(n + i + 1) & 0x3FFFFFF)[rng.randrange(6)] for i in range(size - 1)]
        functions[f"f{len(functions)}"] = [*words, RET]
        n += size
    os.makedirs(os.path.dirname(path))
    small_elf.write(path, functions)


def check_places(arguments, folder, checks):
    root, capture = os.path.join(folder, "root"), os.path.join(folder, "places.data")
    write_code(os.path.join(root, PROGRAM), seeded("export memory"))
    run(arguments.make_family, "many-places", str(arguments.records), capture)
    words = [arguments.cyclops, "export", "--symfs", root, "-j2", capture, "--format"]
    for format_name in STACKS + OF_PLACES + ROWS:
        limit = arguments.limit_of_rows_of_places if format_name in ROWS else arguments.limit_of_places
        bounded, free = (written([*words, format_name], folder, most, arguments.memory if most else None) for most in (limit, None))
        checks.expect(bounded is not None, f"{format_name} of many places: fails within {limit} MiB")
        checks.expect(free is not None and bounded in (free, None), f"{format_name} of many places: differs with the limit")
        checks.count("formats of many places within the limit", bounded is not None)
    # the program has no lines, which is said when all was read
    found = status([*words, "autofdo"], arguments.limit_of_branches, folder)
    checks.expect(found == NO_DATA, f"autofdo of many places: {found} within {arguments.limit_of_branches} MiB, wanted {NO_DATA}")


def check_answers_of_places(arguments, folder, checks):
    """Sums of many places are narrow: with all of whole width hot does not come within its limit. mem has no index of places while it makes
    tables; with it, 76 MiB are not enough."""
    capture = os.path.join(folder, "many.data")
    for command, records, limit in (("hot", arguments.records_of_hot, arguments.limit_of_hot_of_places),
                                    ("mem", arguments.records_of_mem, arguments.limit_of_mem_of_places)):
        run(arguments.make_family, "many-places", str(records), capture)
        bounded, *free = (written([arguments.cyclops, command, f"-j{n}", capture], folder, most)
                          for n, most in ((2, limit), (2, None), (1, None)))
        checks.expect(bounded is not None, f"{command} of many places: fails within {limit} MiB")
        checks.expect(None not in free and len({*free, bounded or free[0]}) == 1, f"{command} of many places: differs with the limit or -j")
        checks.count("answers of many places within the limit", bounded is not None)
        os.unlink(capture)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--samples", type=int, default=30000)
    parser.add_argument("--memory", default="64K", help="of CYCLOPS_EXPORT_MEMORY")
    parser.add_argument("--limit", type=int, default=16, help="MiB of private memory, for call stacks")
    parser.add_argument("--limit-of-rows", type=int, default=64, help="the same for rows")
    parser.add_argument("--limit-of-answers", type=int, default=32, help="the same for answers about functions")
    # 31 to 36 are taken: that of two threads which gets more to do has tables twice as large. Four times as many samples come by in 42.
    parser.add_argument("--limit-of-threads", type=int, default=42, help="the same for answers by thread, too")
    parser.add_argument("--limit-of-branches", type=int, default=64, help="the same for profiles of branch stacks")
    parser.add_argument("--records", type=int, default=60000, help="of many places")
    parser.add_argument("--limit-of-places", type=int, default=34, help="the same for profiles of these")
    parser.add_argument("--limit-of-rows-of-places", type=int, default=46, help="the same for rows of these")
    parser.add_argument("--records-of-hot", type=int, default=400000, help="of many places, for hot")
    parser.add_argument("--records-of-mem", type=int, default=800000, help="the same for mem")
    parser.add_argument("--limit-of-hot-of-places", type=int, default=70, help="MiB of private memory for hot of these")
    parser.add_argument("--limit-of-mem-of-places", type=int, default=70, help="the same for mem")
    parser.add_argument("cyclops", type=os.path.abspath)
    parser.add_argument("make_family", type=os.path.abspath)
    parser.add_argument("data", type=os.path.abspath)
    arguments = parser.parse_args()
    if not hasattr(hashlib, "file_digest"):
        skip("Python before 3.11")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-export-memory-") as folder:
        capture = os.path.join(folder, "chains.data")
        run(arguments.make_family, "chains", str(arguments.samples), capture)
        for format_name in STACKS + ROWS:
            words = [arguments.cyclops, "export", "--format", format_name, "-j2", capture]
            limit = arguments.limit_of_rows if format_name in ROWS else arguments.limit
            bounded, free = (written(words, folder, most, arguments.memory) for most in (limit, None))
            checks.expect(bounded is not None, f"{format_name}: fails within {limit} MiB")
            checks.expect(free is not None and bounded in (free, None), f"{format_name}: differs with the limit")
            checks.count("formats within the limit", bounded is not None)
        loads = os.path.join(folder, "loads.data")
        run(arguments.make_family, "loads", str(arguments.samples), loads)
        for question in ANSWERS + OF_LOADS:
            name = " ".join(question)
            file = loads if question in OF_LOADS else capture
            limit = arguments.limit_of_threads if question[-1].startswith("thread") else arguments.limit_of_answers
            bounded, *free = (written([arguments.cyclops, *question, f"-j{n}", file], folder, most)
                              for n, most in ((2, limit), (2, None), (1, None), (7, None)))
            checks.expect(bounded is not None, f"{name}: fails within {limit} MiB")
            checks.expect(None not in free and len({*free, bounded or free[0]}) == 1, f"{name}: differs with the limit or -j")
        words[words.index("--format") + 1] = STACKS[0]
        checks.expect(written(words, folder, arguments.limit, ALL_IN_MEMORY) is None,
                      f"{STACKS[0]}: all stacks fit in {arguments.limit} MiB, so the capture is too small for this test")
        stacks = os.path.join(folder, "stacks.data")
        run(arguments.make_family, "stacks", str(arguments.samples), stacks)
        found = status([arguments.cyclops, "calls", "-j2", stacks], arguments.limit_of_branches, folder)
        checks.expect(found == NO_DATA, f"calls: {found} within {arguments.limit_of_branches} MiB, wanted {NO_DATA}")
        for format_name in OF_BRANCHES:
            words = [arguments.cyclops, "export", "--format", format_name, "-j2"]
            # the code is not there, which is said when all branches were read
            found = status([*words, stacks], arguments.limit_of_branches, folder)
            checks.expect(found == NO_DATA, f"{format_name}: {found} within {arguments.limit_of_branches} MiB, wanted {NO_DATA}")
            words += ["--symfs", os.path.join(arguments.data, "root"), os.path.join(arguments.data, "executions.data")]
            bounded, free = (written(words, folder, memory=memory) for memory in ("1K", None))
            checks.expect(free is not None and bounded == free, f"{format_name}: differs with branches in files")
        check_places(arguments, folder, checks)
        check_answers_of_places(arguments, folder, checks)
    checks.finish()


if __name__ == "__main__":
    main()
