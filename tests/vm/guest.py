# SPDX-License-Identifier: Apache-2.0
"""A virtual Neoverse N1 that runs commands: Debian's arm64 kernel in qemu-system-aarch64.

    with Guest(files={"/bin/cyclops": path}) as guest:
        done = guest.run("cyclops doctor")
        print(done.status, done.out, done.err)

The machine has a PMU, and no SPE. With icount (the default) its clock counts instructions: runs
repeat, CPU_CYCLES equals INST_RETIRED, and a busy host changes nothing. Its root directory is in
memory and holds busybox, the files given, and perf if asked for.
"""

import base64
import gzip
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading

ROOT = pathlib.Path(__file__).resolve().parents[2]
SKIP = 77

INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
export PATH=/bin:/usr/bin HOME=/root LC_ALL=C
mount -t proc proc /proc
mount -t sysfs sysfs /sys
mount -t devtmpfs devtmpfs /dev
mount -t tmpfs tmpfs /tmp
mount -t tracefs tracefs /sys/kernel/tracing
chmod 1777 /tmp
stty -F /dev/ttyAMA0 raw -echo
exec </dev/ttyAMA0 >/dev/ttyAMA0 2>/dev/null
cd /root
echo; echo @@READY
while read -r line; do
	echo "$line" | base64 -d >/tmp/.command
	sh /tmp/.command </dev/null >/tmp/.out 2>/tmp/.err
	status=$?
	echo "@@STATUS $status"
	base64 /tmp/.out
	echo @@ERR
	base64 /tmp/.err
	echo @@END
done
poweroff -f
"""


class Failed(Exception):
    """The machine did not do what it has to."""


class Done:
    """What a command did: exit status, output and error output as bytes."""

    def __init__(self, status, out, err):
        self.status, self.out, self.err = status, out, err

    @property
    def text(self):
        return self.out.decode(errors="replace")

    @property
    def messages(self):
        return self.err.decode(errors="replace")


def skip(why):
    print(f"skipped: {why}")
    sys.exit(SKIP)


def sysroot():
    """Where the packages for the machine are unpacked (scripts/sysroot.sh --vm)."""
    return pathlib.Path(os.environ.get("CYCLOPS_SYSROOT", ROOT / "build-arm64-sysroot"))


def kernel():
    """CYCLOPS_KERNEL, such as one that scripts/kernels.sh fetched, else Debian 12's."""
    if "CYCLOPS_KERNEL" in os.environ:
        return pathlib.Path(os.environ["CYCLOPS_KERNEL"])
    images = sorted(sysroot().glob("boot/vmlinuz-*"))
    return images[-1] if images else None


def cross_built():
    """The static cyclops for AArch64 (scripts/build-arm64.sh)."""
    return pathlib.Path(os.environ.get("CYCLOPS_ARM64", ROOT / "build-arm64" / "cyclops"))


def need_guest():
    """Ends the test as skipped where there is nothing to boot."""
    if shutil.which("qemu-system-aarch64") is None:
        skip("qemu-system-aarch64 is not installed")
    if kernel() is None or not (sysroot() / "bin/busybox").exists():
        skip("no arm64 kernel and busybox; scripts/build-arm64.sh --vm fetches them")
    if not cross_built().exists():
        skip("no cyclops for AArch64; scripts/build-arm64.sh builds it")


def needed_libraries(path):
    """The shared libraries that a program asks for by name."""
    listing = subprocess.run(["aarch64-linux-gnu-readelf", "-d", path], stdout=subprocess.PIPE,
                             check=True, text=True).stdout
    return re.findall(r"\(NEEDED\).*\[(.*)\]", listing)


def find_library(name):
    for folder in ("lib/aarch64-linux-gnu", "usr/lib/aarch64-linux-gnu"):
        path = sysroot() / folder / name
        if path.exists():
            return path.resolve()
    raise Failed(f"{name} is not in {sysroot()}")


def with_libraries(inside, path):
    """A program and all it needs, as {path in the machine: path here}."""
    files = {inside: path}
    found, wanted = set(), needed_libraries(path)
    while wanted:
        name = wanted.pop()
        if name in found:
            continue
        found.add(name)
        library = find_library(name)
        where = "/lib/" if name.startswith("ld-") else "/usr/lib/aarch64-linux-gnu/"
        files[where + name] = library
        wanted += needed_libraries(library)
    return files


def perf_files():
    """Debian's perf 6.1 for the machine, as /bin/perf."""
    programs = [path for path in sorted(sysroot().glob("usr/bin/perf*")) if path.is_file()]
    for path in programs:
        with open(path, "rb") as file:
            if file.read(4) == b"\x7fELF":
                return with_libraries("/bin/perf", path)
    raise Failed(f"no perf in {sysroot()}")


class Archive:
    """A cpio archive of the form the kernel unpacks (newc)."""

    def __init__(self):
        self.parts, self.folders, self.number = [], set(), 0

    def entry(self, name, mode, data=b""):
        self.number += 1
        fields = [self.number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0]
        head = b"070701" + b"".join(b"%08X" % field for field in fields) + name.encode() + b"\0"
        self.parts += [head, b"\0" * (-len(head) % 4), data, b"\0" * (-len(data) % 4)]

    def folder(self, name):
        if name and name not in self.folders:
            self.folder(os.path.dirname(name))
            self.folders.add(name)
            self.entry(name, 0o040755)

    def file(self, name, data, mode=0o755):
        name = name.lstrip("/")
        self.folder(os.path.dirname(name))
        self.entry(name, 0o100000 | mode, data)

    def finish(self):
        self.entry("TRAILER!!!", 0)
        return b"".join(self.parts)


def root_image(files):
    archive = Archive()
    for folder in ("proc", "sys", "dev", "tmp", "root", "etc"):
        archive.folder(folder)
    archive.file("init", INIT.encode())
    archive.file("bin/busybox", (sysroot() / "bin/busybox").read_bytes())
    archive.file("etc/passwd", b"root:x:0:0::/root:/bin/sh\nuser:x:1000:1000::/tmp:/bin/sh\n", 0o644)
    archive.file("etc/group", b"root:x:0:\nuser:x:1000:\n", 0o644)
    for inside, path in files.items():
        archive.file(inside, path if isinstance(path, bytes) else pathlib.Path(path).read_bytes())
    return archive.finish()


class Guest:
    """
    The machine, from boot to power-off. Files: {path inside: path here, or bytes}. The timeout, in
    seconds of this machine's clock, only ends what hangs.
    """

    def __init__(self, files=None, with_perf=False, cpu="neoverse-n1", n_cpus=1, icount=True,
                 kernel_options="", timeout=600):
        self.files = {"/bin/cyclops": cross_built(), **(files or {})}
        if with_perf:
            self.files = {**perf_files(), **self.files}
        self.timeout = timeout
        self.command = [
            "qemu-system-aarch64", "-M", "virt", "-cpu", cpu, "-smp", str(n_cpus), "-m", "1024",
            "-display", "none", "-monitor", "none", "-serial", "stdio", "-nic", "none", "-no-reboot",
            "-kernel", str(kernel()),
            "-append", f"console=ttyAMA0 quiet loglevel=1 panic=-1 {kernel_options}",
        ]
        if icount:
            self.command += ["-icount", "shift=0,sleep=off"]
        self.seen = b""

    def __enter__(self):
        self.image = tempfile.NamedTemporaryFile(prefix="cyclops-vm-")
        self.image.write(root_image(self.files))
        self.image.flush()
        self.process = subprocess.Popen([*self.command, "-initrd", self.image.name],
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT)
        try:
            self.read_until(b"@@READY\n", self.timeout)
        except Failed:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        self.image.close()

    def read_until(self, end, timeout):
        """What the machine writes before `end`. Takes the machine down if it takes too long."""
        timer = threading.Timer(timeout, self.process.kill)
        timer.start()
        seen = b""
        try:
            while not seen.endswith(end):
                byte = self.process.stdout.readline()
                if not byte:
                    raise Failed(f"the machine stopped: {(self.seen + seen)[-2000:].decode(errors='replace')}")
                seen += byte.replace(b"\r", b"")
        finally:
            timer.cancel()
        self.seen = seen
        return seen[:-len(end)]

    def run(self, command, user=None, timeout=None):
        """Runs a command of its shell, as another user if told, and returns what it did."""
        if user is not None:
            script = base64.b64encode(command.encode()).decode()
            command = f"echo {script} | base64 -d >/tmp/.{user}; su {user} -s /bin/sh -c 'sh /tmp/.{user}'"
        line = base64.b64encode(command.encode())
        if len(line) > 3500:
            raise Failed("the command is too long for the machine's terminal: put it into a file")
        self.process.stdin.write(line + b"\n")
        self.process.stdin.flush()
        answer = self.read_until(b"@@END\n", timeout or self.timeout)
        match = re.search(rb"@@STATUS (\d+)\n(.*)@@ERR\n(.*)\Z", answer, re.DOTALL)
        if match is None:
            raise Failed(f"not an answer: {answer[-2000:].decode(errors='replace')}")
        return Done(int(match[1]), base64.b64decode(match[2]), base64.b64decode(match[3]))

    def read(self, path):
        """The bytes of a file in the machine."""
        done = self.run(f"gzip -c {path}")
        if done.status != 0:
            raise Failed(done.messages)
        return gzip.decompress(done.out)
