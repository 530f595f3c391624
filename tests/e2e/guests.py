#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Samples of virtual machines, as `perf kvm record` takes them on the host: told apart from the host's, and named from the guest's files.

usage: guests.py CYCLOPS WRITE-SAMPLES [SEEDS]

Made-up captures of two machines whose kernels are at the same addresses as the host's. Each sample's module and function are
compared with what was made up, and with `perf script --guestkallsyms …`, and shares with `perf kvm --host --guest report`. Perf
does not name functions of a guest's modules and calls guest modules as the host's; nothing else may differ.
"""

import bisect
import collections
import os
import random
import re
import subprocess
import sys
import tempfile

from harness import Checks, Failed, csv_rows, need, run

HOST_KERNEL, HOST_USER, GUEST_KERNEL, GUEST_USER = 1, 2, 4, 5
IMAGE, IMAGE_SIZE, MODULE, MODULE_SIZE = 0xffffffff81000000, 0x400000, 0xffffffffc0000000, 0x4000
MACHINES = (100, 200)
NO_NAME = ""


class Kernel:
    """Of a guest: functions by address, in its image and in a module."""

    def __init__(self, rng, tag):
        self.tag = tag
        self.functions = [(IMAGE, "_text")]
        self.functions += [(IMAGE + 0x100 * i + rng.randrange(0x80), f"{tag}_work{i}") for i in range(1, 40)]
        self.module = [(MODULE + 0x100 * i, f"{tag}_poll{i}") for i in range(4)]

    def kallsyms(self, moved=0):
        lines = [f"{at + moved:016x} T {name}\n" for at, name in sorted(self.functions)]
        lines += [f"{IMAGE + moved + IMAGE_SIZE:016x} T _etext\n"]
        return "".join(lines + [f"{at:016x} t {name}\t[virtio_net]\n" for at, name in self.module])

    def name(self, address):
        functions = sorted(self.module if address >= MODULE else self.functions)
        at = bisect.bisect(functions, (address, "~")) - 1
        return functions[at][1] if at >= 0 else NO_NAME


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="ascii") as file:
        file.write(text)


def draw(rng, n):
    """(time, pid, mode, address), in order of time."""
    out = []
    for i in range(n):
        mode = rng.choice((HOST_KERNEL, HOST_USER, GUEST_KERNEL, GUEST_KERNEL, GUEST_USER))
        address = IMAGE + rng.randrange(0x2700)
        if mode == GUEST_KERNEL and rng.random() < 0.3:
            address = MODULE + rng.randrange(0x400)
        elif mode in (HOST_USER, GUEST_USER):
            address = 0x400000 + rng.randrange(0x1000)
        out.append((10**9 + 1000 * i, rng.choice(MACHINES), mode, address))
    return out


def capture(writer, path, samples, maps):
    lines = ["E cycles 0 0 0 101 0"]
    lines += [f"M {pid & 0xffffffff:x} {start:x} {size:x} {offset:x} {mode} {name}" for pid, start, size, offset, mode, name in maps]
    lines += [f"S 0 0 {pid:x} {pid:x} {time:x} {at:x} 0 3e8 0 0 0 0 {mode}" for time, pid, mode, at in samples]
    subprocess.run([writer, path, "/usr/bin/qemu-system-x86_64", "x86_64", "GenuineIntel-6-85-7"], input="\n".join(lines) + "\n", text=True, check=True)


def recorded(pids):
    """Mappings that perf records if it is told of the guests' files."""
    maps = [(-1, IMAGE, 0x1000000, IMAGE, HOST_KERNEL, "[kernel.kallsyms]_text")]
    for pid in pids:
        name = "[guest.kernel.kallsyms" + (f".{pid}" if pid else "") + "]_text"
        maps += [(pid, IMAGE, IMAGE_SIZE, IMAGE, GUEST_KERNEL, name), (pid, MODULE, MODULE_SIZE, 0, GUEST_KERNEL, "[virtio_net]")]
    return maps


def expected(sample, kernels, has_modules=True):
    """Module and function, as cyclops says them; `kernels`: by pid, 0 for all."""
    _, pid, mode, address = sample
    if mode == HOST_USER:
        return "/usr/bin/qemu-system-x86_64", NO_NAME
    if mode == HOST_KERNEL:
        return "[kernel.kallsyms]", NO_NAME
    if mode == GUEST_USER:
        return "[guest.user]", NO_NAME
    kernel = kernels.get(pid, kernels.get(0))
    if address >= MODULE and has_modules:
        return "[guest.virtio_net]", kernel.name(address) if kernel else NO_NAME
    own = f".{pid}" if pid in kernels else ""
    return f"[guest.kernel.kallsyms{own}]", kernel.name(address) if kernel else NO_NAME


def check_ours(checks, cyclops, path, samples, kernels, words, has_modules=True):
    found = collections.Counter()
    for row in csv_rows(cyclops, "hot", path, "--by", "process,module,function", "--format", "csv", "--all", *words):
        module = row["path"] if row["module"].startswith("qemu") else row["module"]
        found[int(row["pid"]), module, row["function"].replace("[unknown]", NO_NAME)] += int(row["samples"])
    wanted = collections.Counter((s[1], *expected(s, kernels, has_modules)) for s in samples)
    checks.equal(f"samples by module and function {' '.join(words[::2])}", sorted(found.items()), sorted(wanted.items()), "made up")


LINE = re.compile(r"^\s*(\d+)\s+(\d+)\.(\d{9}):\s+([0-9a-f]+)\s+(\S+)\s+\((.*)\)$")


def check_script(checks, path, samples, kernels, words):
    """Each sample of guests, beside perf's line."""
    lines = {}
    for line in run("perf", "script", "--ns", "-F", "tid,time,ip,sym,dso", "-i", path, *words).decode().splitlines():
        m = LINE.match(line)
        if m is None:
            raise Failed(f"perf script: {line}")
        lines[int(m.group(2)) * 10**9 + int(m.group(3))] = (int(m.group(4), 16), m.group(5), m.group(6))
    for sample in samples:
        if sample[2] not in (GUEST_KERNEL, GUEST_USER):
            continue
        address, symbol, dso = lines[sample[0]]
        module, function = expected(sample, kernels)
        if module == "[guest.virtio_net]":
            checks.expect((symbol, dso) == ("[unknown]", "[virtio_net]"), f"{sample}: perf names {symbol} of {dso}")
        elif module == "[guest.user]":
            checks.expect((symbol, dso) == ("[unknown]", "[unknown]"), f"{sample}: perf has {symbol} of {dso}")
        else:
            checks.expect((address, symbol, dso) == (sample[3], function, module), f"{sample}: {function} of {module}, perf {symbol} of {dso}")
        checks.count("samples as in perf script")


ROW = re.compile(r"^\s*\d+\.\d+%\s+(\d+)\s+(\S+)\s+\[(.)\] (\S+)")


def check_report(checks, path, samples, kernels, words):
    """Samples by module and function of both machines and the host."""
    found = collections.Counter()
    for line in run("perf", "kvm", "--host", "--guest", *words, "-i", path, "report", "--stdio", "-n", "--sort", "dso,sym").decode().splitlines():
        m = ROW.match(line)
        if m and m.group(3) in "gu":
            found[m.group(2), m.group(4) if not m.group(4).startswith("0x") else NO_NAME] += int(m.group(1))
    wanted = collections.Counter()
    for sample in samples:
        if sample[2] in (GUEST_KERNEL, GUEST_USER):
            module, function = expected(sample, kernels)
            module = {"[guest.virtio_net]": "[virtio_net]", "[guest.user]": "[unknown]"}.get(module, module)
            wanted[module, function if module.startswith("[guest.kernel") else NO_NAME] += 1
    checks.equal("guests in perf kvm report", sorted(found.items()), sorted(wanted.items()), "made up")


def check_seed(checks, cyclops, writer, folder, seed):
    rng = random.Random(seed)
    one, other = Kernel(rng, "one"), Kernel(rng, "other")
    samples = draw(rng, 300)
    path, kallsyms, modules, mount = (os.path.join(folder, name) for name in ("g.data", "kallsyms", "modules", "mount"))
    list_of_modules = f"virtio_net {MODULE_SIZE} 0 - Live 0x{MODULE:016x}\n"
    write(kallsyms, one.kallsyms())
    write(modules, list_of_modules)
    for pid, kernel in zip(MACHINES, (one, other)):
        write(f"{mount}/{pid}/proc/kallsyms", kernel.kallsyms())
        write(f"{mount}/{pid}/proc/modules", list_of_modules)
    names, both = ["--guestkallsyms", kallsyms], dict(zip(MACHINES, (one, other)))
    # nothing recorded of the guests; without and with their lists of modules
    capture(writer, path, samples, [])
    check_ours(checks, cyclops, path, samples, {}, [], has_modules=False)
    write(f"{folder}/alone/kallsyms", one.kallsyms())
    check_ours(checks, cyclops, path, samples, {0: one}, ["--guestkallsyms", f"{folder}/alone/kallsyms"], has_modules=False)
    check_ours(checks, cyclops, path, samples, {0: one}, names)
    check_ours(checks, cyclops, path, samples, both, ["--guestmount", mount])
    # what perf records if it knows the guest's files
    capture(writer, path, samples, recorded([0]))
    check_ours(checks, cyclops, path, samples, {}, [])
    check_ours(checks, cyclops, path, samples, {0: one}, names)
    check_script(checks, path, samples, {0: one}, [*names, "--guestmodules", modules])
    check_report(checks, path, samples, {0: one}, [f"--guestkallsyms={kallsyms}", f"--guestmodules={modules}"])
    capture(writer, path, samples, recorded(MACHINES))
    check_ours(checks, cyclops, path, samples, both, ["--guestmount", mount])
    # another boot: the image moved, and nothing tells where modules are
    write(kallsyms, one.kallsyms(0x200000))
    capture(writer, path, [s for s in samples if s[3] < MODULE], recorded([0]))
    check_ours(checks, cyclops, path, [s for s in samples if s[3] < MODULE], {0: one}, names)


def main():
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    cyclops, writer = sys.argv[1:3]
    need("perf")
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        for seed in range(int(sys.argv[3]) if len(sys.argv) > 3 else 3):
            check_seed(checks, cyclops, writer, folder, seed)
    checks.finish()


if __name__ == "__main__":
    main()
