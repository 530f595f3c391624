#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The model on programs as Debian ships them for arm64.

usage: model_debian.py [--all] CYCLOPS FOLDER

A compressor, and with --all an interpreter, a database shell and a compressor with threads, too, are
downloaded into FOLDER with apt-get, from where this system gets its packages, with lists of their own:
nothing is changed here. They run with -L; what they answer must be right, their captures must be the same
twice (but for the one that seeds its hashes with the time), and cyclops must name functions and lines of
their library, of which Debian has debug information. The variable CYCLOPS_DEBIAN names another folder.
Where packages cannot be had, the test is skipped.
"""

import argparse
import gzip
import lzma
import os
import pathlib
import random
import subprocess
import sys
import tempfile

from harness import Failed, SKIP, csv_rows, need, run

PACKAGES = ["libc6", "libc6-dbg", "libgcc-s1", "xz-utils", "liblzma5"]
MORE_PACKAGES = ["lua5.4", "libreadline8", "libtinfo6", "sqlite3", "libsqlite3-0", "zlib1g", "pigz"]
SIZE, MORE_SIZE = 5000, 50000  # of what is compressed

CONFIG = """APT::Architecture "{1}";
APT::Architectures {{ "{1}"; }};
APT::Sandbox::User "root";
Acquire::Languages "none";
Dir::State::Lists "{0}/lists";
Dir::State::status "{0}/status";
Dir::Cache "{0}/cache";
"""
LUA = """local words = {}
for i = 1, 4000 do words[#words + 1] = tostring(i * 7919 % 10007) end
table.sort(words)
print(#table.concat(words), words[1])"""
SQL = """create table t(a, b);
with recursive c(x) as (select 1 union all select x + 1 from c where x < 2000)
  insert into t select x, hex(x * 7919 % 10007) from c;
create index i on t(b);
select count(*), min(b), max(b) from t where b like '%3%';"""

DEPENDS_ON_TIME = ("lua5.4",)
LEAST_WITH_LINE = 0.9  # of the records in libc; libgcc's part of it has none


def fetch(folder, packages, architecture="arm64"):
    """Downloads and unpacks what is missing; returns the folder that looks like a root."""
    root, debs = folder / "root", folder / "debs"
    for name in ("lists/partial", "cache/archives/partial", "debs"):
        (folder / name).mkdir(parents=True, exist_ok=True)
    (folder / "status").touch()
    (folder / "config").write_text(CONFIG.format(folder, architecture))
    environment = {**os.environ, "APT_CONFIG": str(folder / "config")}
    missing = [p for p in packages if not list(debs.glob(f"{p}_*.deb"))]
    if missing:
        for command in (["update"], ["download", *missing]):
            done = subprocess.run(["apt-get", "-qq", *command], cwd=debs, env=environment, text=True,
                                  capture_output=True, check=False)
            if done.returncode != 0:
                print("skipped: apt-get", command[0], "failed:", done.stderr.strip()[-200:])
                sys.exit(SKIP)
    for deb in sorted(debs.glob("*.deb")) if missing else ():
        run("dpkg", "-x", deb, root)
    return root


def expected_lua():
    words = sorted(str(i * 7919 % 10007) for i in range(1, 4001))
    return f"{len(''.join(words))}\t{words[0]}\n"


def expected_sql():
    rows = [str(x * 7919 % 10007).encode().hex().upper() for x in range(1, 2001)]
    rows = [row for row in rows if "3" in row]
    return f"{len(rows)}|{min(rows)}|{max(rows)}\n"


def model(cyclops, root, capture, program, arguments, options=()):
    return run(cyclops, "model", "-L", root, "--root", root, *options, "-o", capture, "--",
               root / "usr/bin" / program, *arguments)


def check_names(cyclops, root, capture, program):
    """Functions and lines of the program's library."""
    debug = root / "usr/lib/debug"
    rows = csv_rows(cyclops, "hot", "--symfs", root, "--debug-dir", debug, "--by", "function,line",
                    "--all", "--format", "csv", capture)
    library = [row for row in rows if row["module"].startswith("libc.so")]
    n, in_library, with_line = (sum(int(row["samples"]) for row in some) for some in (
        rows, library, [row for row in library if row["line"]]))
    functions = {row["function"] for row in library}
    print(f"{program}: {n} records, {in_library} in {len(functions)} functions of libc, "
          f"{with_line / in_library:.0%} of them with a line")
    if with_line < LEAST_WITH_LINE * in_library or len(functions) < 3:
        raise Failed(f"{program}: {with_line} of {in_library} records in libc have a line")


def check(cyclops, root, folder, program, arguments, is_right):
    captures = [folder / f"{program}{i}.data" for i in range(2)]
    outputs = [model(cyclops, root, capture, program, arguments) for capture in captures]
    if not is_right(outputs[0]):
        raise Failed(f"{program}: a wrong answer: {outputs[0][:200]}")
    bytes_without_names = [c.read_bytes().replace(c.name.encode(), b"") for c in captures]
    is_same = outputs[0] == outputs[1] and bytes_without_names[0] == bytes_without_names[1]
    if not is_same and program not in DEPENDS_ON_TIME:
        raise Failed(f"{program}: two runs gave different captures")
    check_names(cyclops, root, captures[0], program)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--all", action="store_true")
    parser.add_argument("cyclops", type=os.path.realpath)
    parser.add_argument("folder", type=pathlib.Path)
    args = parser.parse_args()
    for program in ("qemu-aarch64", "apt-get", "dpkg"):
        need(program)
    packages = pathlib.Path(os.environ.get("CYCLOPS_DEBIAN", args.folder)).resolve()
    root = fetch(packages, PACKAGES + MORE_PACKAGES if args.all else PACKAGES)
    size = MORE_SIZE if args.all else SIZE
    text = "".join(random.Random(1).choices("abcdefgh \n", k=size)).encode()
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "text").write_bytes(text)
        cases = [
            ("xz", ["-1", "-c", folder / "text"], lambda out: lzma.decompress(out) == text),
            ("lua5.4", ["-e", LUA], lambda out: out.decode() == expected_lua()),
            ("sqlite3", [":memory:", SQL], lambda out: out.decode() == expected_sql()),
            ("pigz", ["-p", "4", "-b", "32", "-c", folder / "text"], lambda out: gzip.decompress(out) == text),
        ]
        for program, arguments, is_right in cases if args.all else cases[:1]:
            check(args.cyclops, root, folder, program, arguments, is_right)


if __name__ == "__main__":
    main()
