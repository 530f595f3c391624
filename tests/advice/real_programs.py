#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Is the advice on real programs true? A compressor, an interpreter, a database, sorting, JSON and an image program of
Debian, for which there is no twin with the remedy.

usage: real_programs.py [--markdown FILE] CYCLOPS FOLDER

`run --model --what-if` says what stands out, and what each function would gain if a resource were perfect. Where
some resource gains 5 %, the first remedy has to be about a function and a resource of which the table of functions has
at least half of its largest gain. Where none gains as much, silence is right. Packages are downloaded into FOLDER with
apt-get, with lists of their own; the variable CYCLOPS_DEBIAN names another folder. Where they cannot be had, the test
is skipped.
"""

import argparse
import json
import os
import pathlib
import random
import struct
import sys
import tempfile
import zlib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "e2e"))

from harness import need, run  # noqa: E402
from model_debian import PACKAGES, SQL, fetch  # noqa: E402
import court  # noqa: E402

MORE_PACKAGES = ["mawk", "coreutils", "libssl3", "sqlite3", "libsqlite3-0", "libreadline8", "libtinfo6", "zlib1g", "jq", "libjq1",
                 "libonig5", "pngcrush", "libpng16-16"]
AWK = """{ for (i = 1; i <= NF; i++) n[$i]++ }
END { for (w in n) if (n[w] > m) m = n[w]; print length(n), m }"""
JQ = "[.[] | select(.size > 500) | {name, part: (.size % 7)}] | group_by(.part) | map(length)"


def write_text(path):
    words = ["".join(random.Random(n).choices("abcdefghij", k=2 + n % 6)) for n in range(400)]
    chosen = random.Random(1).choices(words, k=8000)
    path.write_text("".join(f"{word}{chr(10) if i % 8 == 7 else ' '}" for i, word in enumerate(chosen)))


def write_json(path):
    numbers = random.Random(2)
    path.write_text(json.dumps([{"name": f"file{n}", "size": numbers.randrange(1000), "tags": ["a", "b"][:n % 3]}
                                for n in range(120)]))


def write_png(path):
    side, numbers = 160, random.Random(3)
    rows = b"".join(b"\0" + bytes((x * y >> 4) + numbers.randrange(4) & 255 for x in range(side)) for y in range(side))
    chunks = [(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)), (b"IDAT", zlib.compress(rows)), (b"IEND", b"")]
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data)) for kind, data in chunks))


def cases(folder):
    text, tree, picture = folder / "text", folder / "tree.json", folder / "picture.png"
    write_text(text)
    write_json(tree)
    write_png(picture)
    return [("xz", ["-1", "-c", text]), ("mawk", [AWK, text]), ("sqlite3", [":memory:", SQL]),
            ("sort", ["--parallel=1", text]), ("jq", ["-c", JQ, tree]),
            ("pngcrush", ["-q", "-m", "7", picture, folder / "smaller.png"])]


def judge(findings, gains, functions, manifest):
    """What is said first, the best idealisation, whether the advice is true, and why not."""
    said = court.first_of(findings, manifest["remedies"])
    best = max(gains, key=gains.get)
    if gains[best] < court.LEAST_GAIN:
        return said, best, said is None, "" if said is None else "names a remedy where none gains"
    if said is None:
        return said, best, False, "says no remedy"
    largest = max((gain for (_, _, name), gain in functions.items() if name in gains), default=0)
    resources = manifest["resources"].get(said["remedy_id"], [])
    own = max((functions.get((said["function"], said["module"], name), 0) for name in resources), default=0)
    if own < court.LEAST_PART * largest:
        return said, best, False, f"{said['function']}: gains {court.percent(own)}; another function {court.percent(largest)}"
    return said, best, True, ""


def try_program(cyclops, root, folder, manifest, program, arguments):
    out = folder / f"{program}.json"
    run(cyclops, "run", "--model", "--what-if=" + ",".join(court.RESOURCES), "--sysroot", root, "--folder", folder / program,
        "--format", "json", "-o", out, "--", root / "usr/bin" / program, *arguments)
    answer = json.loads(out.read_text())
    gains = {row["name"]: row["gain"] for row in answer["what_if"] if row.get("gain") is not None}
    functions = {(row["function"], row.get("module"), row["name"]): row["gain"] for row in answer["what_if_functions"]}
    said, best, passed, why = judge(answer["findings"], gains, functions, manifest)
    print(f"{'pass' if passed else 'FAIL'} {program:10} {court.said_words(said)} in {said and said['function']}; best what-if "
          f"{best} {court.percent(gains[best])}   {why}", flush=True)
    what = "nothing" if said is None else f"{said['remedy_id']} in `{said['function']}`"
    return program, passed, f"| `{program}` | {what if passed else f'**{what}**'} | {best} {court.percent(gains[best])} |"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--markdown", type=pathlib.Path)
    parser.add_argument("cyclops", type=os.path.realpath)
    parser.add_argument("folder", type=pathlib.Path)
    options = parser.parse_args()
    for program in ("qemu-aarch64", "apt-get", "dpkg"):
        need(program)
    manifest = json.loads((HERE / "court.json").read_text())
    root = fetch(pathlib.Path(os.environ.get("CYCLOPS_DEBIAN", options.folder)).resolve(), PACKAGES + MORE_PACKAGES)
    with tempfile.TemporaryDirectory() as name:
        results = [try_program(options.cyclops, root, pathlib.Path(name), manifest, *case)
                   for case in cases(pathlib.Path(name))]
    print(f"{sum(passed for _, passed, _ in results)} of {len(results)}")
    if options.markdown:
        rows = ["| program | says first | best what-if |", "| --- | --- | --- |", *(row for _, _, row in results)]
        court.replace_part(options.markdown, "real_programs.py", rows)
    bad = [program for program, passed, _ in results if not passed and program not in manifest["real_known_failures"]]
    if bad:
        sys.exit(f"failures that are not known: {', '.join(bad)}")


if __name__ == "__main__":
    main()
