#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What code of a stranger could do in a command that reads captures: each of them is run with a library that, when the capture
is opened, opens files, connects, or starts a program. And what must go on: outputs, the pager, debuginfod.

usage: sandbox.py CYCLOPS INTRUDER CAPTURE

INTRUDER is intruder.c as a shared library. Where the kernel has no Landlock or no seccomp, that part is left out by name.
"""

import errno
import os
import pathlib
import pty
import re
import signal
import stat
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, SKIP, Checks

# Kinds of --list-commands that read captures.
READ = ("capture", "captures", "runs")
WORDS = {"annotate": ["count_up"], "blocks": ["count_up"], "collect": ["--into", "dataset"]}
HIDDEN = "home/.ssh/key"


class Place:
    """The program in a folder with a home and a copy of the capture."""

    def __init__(self, cyclops, intruder, capture, folder):
        self.cyclops, self.intruder, self.folder = cyclops, intruder, pathlib.Path(folder)
        (self.folder / "home/.ssh").mkdir(parents=True)
        (self.folder / HIDDEN).write_text("secret")
        (self.folder / "open").write_text("no secret")
        (self.folder / "out").mkdir()
        (self.folder / "temporary").mkdir()
        (self.folder / "temporary/old").write_text("of another program")
        (self.folder / "c.data").write_bytes(pathlib.Path(capture).read_bytes())

    def run(self, *words, does=None, path="", **environment):
        """Its end, with what the intruder does."""
        env = {**ENVIRONMENT, "HOME": str(self.folder / "home"), "TMPDIR": str(self.folder / "temporary"), **environment}
        if does is not None:
            env.update(LD_PRELOAD=self.intruder, INTRUDER_AT="c.data", INTRUDER_DOES=does, INTRUDER_PATH=path)
        return subprocess.run([self.cyclops, *words], cwd=self.folder, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False, timeout=300)

    def intrude(self, words, does, path=""):
        """What the intruder's call came to: errno, 0: it worked; minus the signal that ended the program."""
        done = self.run(*words, does=does, path=path)
        found = re.search(rb"^intruder: (\d+)$", done.stderr, re.MULTILINE)
        return done.returncode if done.returncode < 0 or found is None else int(found[1])


def lines_of(cyclops):
    """Of each command that reads captures, its words."""
    listed = subprocess.run([cyclops, "--list-commands"], stdout=subprocess.PIPE, check=True).stdout.decode()
    for line in listed.splitlines():
        name, reads = line.split("\t")[:2]
        if reads in READ:
            yield [name, *WORDS.get(name, []), "c.data"] + (["c.data"] if reads == "runs" else [])


def check_calls(checks, place, line):
    """Calls that are forbidden end the program, and work without a sandbox."""
    for does in ("connect", "perf") if sanitizers(place) else ("connect", "perf", "exec"):
        end = place.intrude(line, does)
        checks.count("forbidden calls")
        checks.expect(end == -signal.SIGSYS, f"{' '.join(line)}: {does}: ended with {end}, not by SIGSYS")
    end = place.intrude([line[0], "--no-sandbox", *line[1:]], "connect")
    checks.expect(end == 0, f"{' '.join(line)}: connect without a sandbox: {end}")


def check_files(checks, place, line):
    """Files that are closed cannot be opened, and can without a sandbox."""
    for does, path, wanted in (("read", HIDDEN, errno.EACCES), ("read", "/etc/passwd", errno.EACCES), ("read", "open", 0),
                               ("write", "open", errno.EACCES), ("write", "temporary/old", errno.EACCES), ("write", "home/.profile", errno.EACCES)):
        end = place.intrude(line, does, path)
        checks.count("files opened")
        checks.expect(end == wanted, f"{' '.join(line)}: {does} {path}: {end}, not {wanted}")
    end = place.intrude([line[0], "--no-sandbox", *line[1:]], "read", HIDDEN)
    checks.expect(end == 0, f"{' '.join(line)}: read {HIDDEN} without a sandbox: {end}")


def sanitizers(place):
    """Those of the build, which start programs themselves: none, or such as "address,undefined"."""
    found = re.search(r"sanitize=(\S+)", place.run("--version").stdout.decode())
    return "" if found is None or found[1] == "none" else found[1]


def check_outputs(checks, place):
    """What an output names can be written: files, folders that are not there yet, links, and standard output."""
    (place.folder / "link").symlink_to("out/behind")
    (place.folder / "out/behind").write_text("old")
    for words, made in ((["hot", "-o", "out/a"], ["out/a"]), (["mem", "-o", "new/"], ["new/sources.csv"]),
                        (["hot", "-o", "link"], ["out/behind"]), (["hot", "-o", "/dev/stdout"], []),
                        (["report", "--html", "out/page.html"], ["out/page.html"]),
                        (["export", "--format", "spe-parser"], ["spe-ldst.csv"]),
                        (["export", "--format", "spe-parser", "-o", "out/p"], ["out/p-ldst.csv"]),
                        (["collect", "--into", "deep/set"], ["deep/set/samples"]),
                        (["diff", "--save", "out/base.json"], ["out/base.json"])):
        if words[0] == "mem":
            words += ["--format", "csv"]
        done = place.run(*words, "c.data")
        if b"built without its viewer" in done.stderr:
            continue
        checks.count("outputs")
        checks.expect(done.returncode == 0, f"{words}: exit status {done.returncode}: {done.stderr.decode()}")
        for path in made:
            checks.expect((place.folder / path).exists() and path != "link", f"{words}: {path} is not there")
    checks.expect((place.folder / "out/behind").read_text() != "old", "-o link: what is behind the link was not written")


def check_home(checks, place):
    """Outputs in the user's home can be made, and what is hidden there stays so."""
    home = place.folder / "home"
    for words, made in ((["hot", "-o", f"{home}/out"], "out"), (["mem", "--format", "csv", "-o", f"{home}/tables/"], "tables/sources.csv"),
                        (["export", "--format", "spe-parser", "-o", f"{home}/p"], "p-ldst.csv"),
                        (["collect", "--into", f"{home}/deep/set"], "deep/set/samples"),
                        (["collect", "--into", f"{home}/deep/set"], "deep/set/samples")):
        for does, path in (("read", HIDDEN), ("write", HIDDEN)):
            end = place.intrude([*words, "c.data"], does, path)
            checks.count("files opened")
            checks.expect(end == errno.EACCES, f"{words}: {does} {path}: {end}")
        checks.expect((home / made).exists(), f"{words}: {made} is not there")


def check_hidden_binary(checks, place):
    """A binary that is there, and is not opened, is named with what opens it."""
    hidden = place.folder / "home/.hidden"
    hidden.mkdir()
    done = place.run("hot", "--format", "csv", "--symfs", str(hidden), "c.data")
    checks.expect(done.returncode == 0, f"--symfs of a hidden folder: {done.stderr.decode()}")


def on_terminal(place, *words, **environment):
    """What is seen on a terminal."""
    env = {**ENVIRONMENT, "HOME": str(place.folder / "home"), "TERM": "dumb", **environment}
    ours, theirs = pty.openpty()
    process = subprocess.Popen([place.cyclops, *words], cwd=place.folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs)
    os.close(theirs)
    seen = b""
    while True:
        try:
            more = os.read(ours, 65536)
        except OSError:
            break
        if not more:
            break
        seen += more
    os.close(ours)
    process.wait(timeout=60)
    return seen.decode(errors="replace")


def check_pager(checks, place):
    """The pager starts outside, and one that is not there is no loss."""
    seen = on_terminal(place, "hot", "--pager", "sed s/^/paged:/ <&0; cat home/.ssh/key", "c.data")
    checks.expect("paged:" in seen and "secret" in seen, f"the pager saw nothing, or is in the sandbox: {seen[:200]!r}")
    (place.folder / "bin").mkdir()
    seen = on_terminal(place, "hot", "c.data", PATH=str(place.folder / "bin"))
    checks.expect("latency" in seen, f"without a pager: {seen[:200]!r}")


def check_debuginfod(checks, place):
    """A stand-in for debuginfod's library or program is asked outside, and what it names is read."""
    program = place.folder / "bin/debuginfod-find"
    program.write_text("#!/bin/sh\necho \"$@\" >> asked\nexit 1\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    done = place.run("hot", "--debuginfod", "c.data", DEBUGINFOD_URLS="http://127.0.0.1:9",
                     PATH=f"{place.folder / 'bin'}:{ENVIRONMENT['PATH']}", DEBUGINFOD_TIMEOUT="1")
    checks.expect(done.returncode == 0, f"--debuginfod: exit status {done.returncode}: {done.stderr.decode()[-300:]}")


def check_report(checks, place):
    """The report of a sanitizer names functions and lines: its symbolizer may start in the sandbox of such a build."""
    done = place.run("hot", "c.data", does="misuse", ASAN_OPTIONS="abort_on_error=0")
    said = done.stderr.decode(errors="replace")
    checks.expect("heap-use-after-free" in said and re.search(r"#\d+ \S+ in main \S*main\.c:\d+", said), f"report of a sanitizer: {said[:2000]}")
    checks.count("reports of sanitizers")


def support(cyclops):
    """What doctor says of the sandbox."""
    said = subprocess.run([cyclops, "doctor", "--format", "csv", "--table", "checks"], env=ENVIRONMENT,
                          stdout=subprocess.PIPE, check=False).stdout.decode()
    found = [line for line in said.splitlines() if line.startswith("sandbox,")]
    if len(found) != 1:
        raise SystemExit(f"doctor says nothing of the sandbox: {said}")
    return "neither" not in found[0] and "Landlock)" not in found[0], "(seccomp):" not in found[0] and "neither" not in found[0]


def main():
    """Asks all."""
    cyclops, intruder, capture = (os.path.abspath(path) for path in sys.argv[1:])
    checks = Checks()
    has_landlock, has_filter = support(cyclops)
    with tempfile.TemporaryDirectory(prefix="cyclops-sandbox-") as folder:
        place = Place(cyclops, intruder, capture, folder)
        check_outputs(checks, place)
        check_pager(checks, place)
        check_debuginfod(checks, place)
        check_hidden_binary(checks, place)
        if "address" in sanitizers(place):
            check_report(checks, place)
        if has_landlock and has_filter:
            check_home(checks, place)
        for line in lines_of(cyclops):
            if has_filter:
                check_calls(checks, place, line)
            if has_landlock:
                check_files(checks, place, line)
    print("Landlock:", "yes" if has_landlock else "left out", "seccomp:", "yes" if has_filter else "left out")
    if not (has_landlock or has_filter or checks.failures):
        return SKIP
    return checks.finish()


if __name__ == "__main__":
    sys.exit(main())
