#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Places where something is missing: each command works without it, or says in one sentence what is not there.

usage: places.py CYCLOPS CAPTURE MAKE-CAPTURE MAKE-FAMILY

Mounts are hidden in a mount namespace, which only root may make: else, or where this is forbidden, those places are
left out by name, and so are groups of memory. A filter of system calls stands for those of containers.
"""

import ctypes
import errno
import os
import pathlib
import platform
import re
import resource
import shutil
import subprocess
import sys
import tempfile

from harness import ENVIRONMENT, Checks

DONE, FAILED = 0, 1
CALLS = {"x86_64": 298, "aarch64": 241}  # perf_event_open
RECORD = "record -e cpu-clock -o made.data -- true"
CANNOT_OPEN = r"event '.*': the container's seccomp filter blocks perf_event_open"

# What is done to the place in a namespace of its own, a command, its exit status, and what it says.
MOUNTED = {
    "no symbols of the kernel": ("mount --bind /dev/null /proc/kallsyms", [
        (RECORD, DONE, r"kernel code will have no symbols: /proc/kallsyms cannot be read"),
        ("doctor", None, r"the kernel's symbols cannot be read"),
        ("report CAPTURE", DONE, r"")]),
    "no PMU": ("mount -t tmpfs none /sys/bus/event_source", [
        ("record -o made.data -- true", DONE, r"no hardware counters here: sampling time \(cpu-clock\), not cycles"),
        ("stat -- true", DONE, r"no hardware counters here"),
        ("list events --cpu neoverse-n1 INST_RETIRED", DONE, r"")]),
    "no /sys": ("mount -t tmpfs none /sys", [
        (RECORD, DONE, r""),
        ("hot CAPTURE", DONE, r"")]),
    "no /proc": ("mount -t tmpfs none /proc", [
        ("hot CAPTURE", DONE, r""),
        ("doctor", None, r"")]),
    "nothing can be written": ("mount --make-rprivate / && mount -o remount,ro,bind / && mount --bind . . && mount -o remount,ro,bind .", [
        ("hot CAPTURE", DONE, r""),
        ("hot -o made CAPTURE", FAILED, r"^cyclops: made: cannot write: Read-only file system$"),
        (RECORD, FAILED, r"^cyclops: made\.data: cannot create: Read-only file system$"),
        ("run -- true", FAILED, r"true\.cyclops: cannot make the folder: Read-only file system"),
        ("collect --into made CAPTURE", FAILED, r"made: cannot make the folder: Read-only file system")]),
    "little room": ("mount -t tmpfs -o size=64k none . && export TMPDIR=$PWD", [
        ("hot CAPTURE", DONE, r""),
        ("hot -", FAILED, r"^cyclops: standard input: cannot write the temporary copy: No space left on device"),
        ("export --format csv -o made CAPTURE", FAILED, r"^cyclops: made: cannot write: No space left on device")]),
    "little /dev/shm": ("mount -t tmpfs -o size=4k none /dev/shm", [
        ("report CAPTURE", DONE, r""),
        (RECORD, DONE, r"")]),
}
# An error for each perf_event_open.
FORBIDDEN = [(RECORD, FAILED, CANNOT_OPEN), ("stat -- true", FAILED, CANNOT_OPEN), ("run -- true", FAILED, CANNOT_OPEN),
             ("doctor", None, r"the container's seccomp filter blocks perf_event_open"), ("hot CAPTURE", DONE, r""),
             ("kernel chase --level l1", DONE, r""), ("kernel --validate chase", None, r"")]
# The end of who calls it.
KILL = 0x80000000
# Root may have more.
FEW_DESCRIPTORS = [(RECORD, None, r"made\.data: |event '.*': out of file descriptors at 16; one is needed for each event"),
                   ("hot CAPTURE", DONE, r"")]
LITTLE_MEMORY = [("report CAPTURE", DONE, r""), ("hot CAPTURE", DONE, r""), ("mem CAPTURE", DONE, r""), ("c2c CAPTURE", DONE, r""),
                 ("addr CAPTURE", DONE, r""), (RECORD, DONE, r""), ("doctor", None, r"")]
# Of a capture with as many records, in a container of 128 MiB
GROUP_RECORDS, GROUP_MIB = 300000, 128
GROUP = [(line, DONE, r"") for line in ("report CAPTURE", "hot CAPTURE", "hot -", "mem CAPTURE", "c2c CAPTURE", "addr CAPTURE", "quality CAPTURE",
                                        "export --format csv -o made CAPTURE", RECORD)]
# Of a capture with accesses to half a million pages, which take more than that
PAGES = ("--records", "1000000", "--cpus", "1", "--data", "2G", "--kernel-share", "0")
NO_ROOM = rf"^cyclops: out of memory: \d+ of the {GROUP_MIB} MiB of the memory cgroup are in use, and \d+ MiB more are needed; give it more, or select less \(--select\)$"
GROUP_OF_PAGES = [(line, None, rf"\A(cyclops: no symbols for program: .*)?\s*\Z|{NO_ROOM}") for line in ("report CAPTURE", "hot CAPTURE", "c2c CAPTURE", "addr CAPTURE")] + [
    (line, FAILED, NO_ROOM) for line in ("addr --by page --format csv CAPTURE", "addr --by line -j 8 CAPTURE")]
# Of one with most of a million places, twice
PLACES = 2500000
GROUP_OF_PLACES = [("diff -j 2 CAPTURE CAPTURE", FAILED, NO_ROOM)] * 2


def read(path):
    with open(path, "rb") as file:
        return file.read()


def forbid(action):
    """A filter: load the number of the call; is it this one: an error or the end, else allowed."""
    class Filter(ctypes.Structure):
        _fields_ = [("code", ctypes.c_ushort), ("yes", ctypes.c_ubyte), ("no", ctypes.c_ubyte), ("value", ctypes.c_uint)]

    class Program(ctypes.Structure):
        _fields_ = [("n", ctypes.c_ushort), ("filters", ctypes.POINTER(Filter))]

    filters = (Filter * 4)(Filter(0x20, 0, 0, 0), Filter(0x15, 0, 1, CALLS[platform.machine()]),
                           Filter(0x06, 0, 0, action), Filter(0x06, 0, 0, 0x7FFF0000))
    library = ctypes.CDLL(None, use_errno=True)
    library.prctl(38, 1, 0, 0, 0)
    if library.prctl(22, 2, ctypes.byref(Program(4, filters)), 0, 0) != 0:
        os._exit(99)


def limit_descriptors():
    resource.setrlimit(resource.RLIMIT_NOFILE, (16, 16))


def limit_memory():
    resource.setrlimit(resource.RLIMIT_AS, (128 << 20, 128 << 20))


def can_count(cyclops):
    with tempfile.TemporaryDirectory() as folder:
        return subprocess.run([cyclops, *RECORD.split()], cwd=folder, capture_output=True, check=False).returncode == DONE


def check_place(checks, place, cyclops, capture, cases, before=(), **settings):
    counts = can_count(cyclops)
    for line, status, pattern in cases:
        if not counts and line.startswith(("record", "stat")):
            checks.count("commands that this machine does not allow")
            continue
        with tempfile.TemporaryDirectory() as folder:
            words = [cyclops, *line.replace("CAPTURE", capture).split()]
            done = subprocess.run([*before, *words], cwd=folder, capture_output=True, check=False, input=read(capture),
                                  env=ENVIRONMENT, **settings)
        said = (done.stderr + (done.stdout if line == "doctor" else b"")).decode(errors="replace")
        name = f"{place}: cyclops {line}"
        checks.expect(status is None and done.returncode in (DONE, FAILED) or done.returncode == status,
                      f"{name}: exit status {done.returncode}: {said}")
        checks.expect(re.search(pattern, re.sub(r"\s*\n\s+", " ", said), re.M), f"{name}: says {said!r}, not {pattern}")
        checks.count("commands in such places")


def check_mounted(checks, cyclops, capture):
    if not shutil.which("unshare") or subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/mnt"], check=False,
                                                     capture_output=True).returncode != 0:
        print("skipped: no namespace for mounts can be made here: " + ", ".join(MOUNTED))
        return
    for place, (mount, cases) in MOUNTED.items():
        check_place(checks, place, cyclops, capture, cases,
                    before=("unshare", "-m", "sh", "-c", mount + ' && cd "$PWD" && exec "$@"', "sh"))


def make_memory_group():
    """A cgroup below this process's own, which may have little memory; None: none can be made."""
    for line in read("/proc/self/cgroup").decode().splitlines():
        _, controllers, path = line.split(":", maxsplit=2)
        top, limit = {"memory": ("/sys/fs/cgroup/memory", "memory.limit_in_bytes"), "": ("/sys/fs/cgroup", "memory.max")}.get(
            controllers, (None, None))
        group = f"{top}{path}/cyclops-{os.getpid()}"
        try:
            if top is not None:
                os.mkdir(group)
                pathlib.Path(group, limit).write_text(str(GROUP_MIB << 20), encoding="ascii")
                return group
        except OSError:
            if os.path.isdir(group):
                os.rmdir(group)
    return None


def check_memory_group(checks, cyclops, maker, make_family):
    """A container's memory, in which the pages of the capture count, too."""
    group = make_memory_group()
    if group is None:
        print(f"skipped: no group of {GROUP_MIB} MiB can be made here")
        return
    try:
        with tempfile.TemporaryDirectory() as folder:
            capture = os.path.join(folder, "large.data")
            subprocess.run([maker, "--records", str(GROUP_RECORDS), "--output", capture], check=True)
            pages = os.path.join(folder, "pages.data")
            subprocess.run([maker, *PAGES, "--output", pages], check=True)
            places = os.path.join(folder, "places.data")
            subprocess.run([make_family, "many-places", str(PLACES), places], check=True)
            for path, cases in ((capture, GROUP), (pages, GROUP_OF_PAGES), (places, GROUP_OF_PLACES)):
                check_place(checks, f"a group of {GROUP_MIB} MiB", cyclops, path, cases,
                            preexec_fn=lambda: pathlib.Path(group, "cgroup.procs").write_text(str(os.getpid()), encoding="ascii"))
    finally:
        os.rmdir(group)


def main():
    if len(sys.argv) != 5:
        sys.exit(__doc__)
    cyclops, capture, maker, make_family = map(os.path.abspath, sys.argv[1:])
    checks = Checks()
    check_mounted(checks, cyclops, capture)
    if platform.machine() in CALLS:
        for error in (errno.EPERM, errno.ENOSYS):
            check_place(checks, f"perf_event_open forbidden ({errno.errorcode[error]})", cyclops, capture, FORBIDDEN,
                        preexec_fn=lambda number=error: forbid(0x00050000 | number))
        check_place(checks, "perf_event_open kills", cyclops, capture, FORBIDDEN, preexec_fn=lambda: forbid(KILL))
    check_place(checks, "16 descriptors", cyclops, capture, FEW_DESCRIPTORS, preexec_fn=limit_descriptors)
    check_place(checks, "128 MiB of address space", cyclops, capture, LITTLE_MEMORY, preexec_fn=limit_memory)
    check_memory_group(checks, cyclops, maker, make_family)
    for home in ({"HOME": "/nonexistent"}, {}):
        words = [cyclops, "hot", capture]
        bare = {key: value for key, value in ENVIRONMENT.items() if key not in ("HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME")}
        done = subprocess.run(words, env=bare | home, capture_output=True, check=False)
        checks.expect(done.returncode == DONE, f"no home: {done}")
        checks.count("commands in such places")
    checks.finish()


if __name__ == "__main__":
    main()
