#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What `make dist` packs: the same bytes twice, everything in it, and it works where it lands.

usage: dist.py [--whole] SOURCE BUILD

Packs the program of BUILD, which need not be static. --whole makes the static program instead, twice, in two
folders, and installs the package into systems of Debian 11, 12 and 13 that have nothing else (needs root and
debootstrap); there it counts, records, models where that release's qemu can, and answers.
"""

import argparse
import os
import pathlib
import re
import shutil
import subprocess
import tarfile
import tempfile

from harness import Checks, Failed, need, run, skip

RELEASES = {"bullseye": 11, "bookworm": 12, "trixie": 13}
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
MEMBERS = ("bin/cyclops", "lib/cyclops/cyclops-model.so", "share/man/man1/cyclops.1", "share/man/man1/cyclops-c2c.1",
           "share/bash-completion/completions/cyclops", "share/zsh/site-functions/_cyclops",
           "share/fish/vendor_completions.d/cyclops.fish", "share/cyclops/sql/top.sql",
           "share/cyclops/sysctl.d/60-cyclops.conf", "share/cyclops/samples/sharing.data",
           "share/cyclops/samples/root/", "share/doc/cyclops/LICENSE", "share/doc/cyclops/THIRD-PARTY",
           "share/doc/cyclops/README.md", "share/doc/cyclops/CHANGELOG.md", "share/doc/cyclops/schema/c2c.json")
NOTICES = ("LGPL", "elfutils", "glibc", "liblzma", "zstd", "jansson", "zlib", "LLVM", "Zydis")
VERDICT = "False sharing in account (struct account, 64 bytes)"
SAMPLES = "share/cyclops/samples"


def pack(source, into, *words):
    """The files of a run of dist.sh, by name."""
    run(pathlib.Path(source, "scripts/dist.sh"), "--into", into, *words)
    return {path.name: path.read_bytes() for path in sorted(pathlib.Path(into).iterdir()) if path.is_file()}


def check_contents(checks, files, folder):
    """Unpacks the tarball and the package; returns the folder of the tarball."""
    tarball = next(name for name in files if name.endswith("x86_64.tar.xz"))
    version = re.match(r"cyclops-(\d+\.\d+\.\d+)-", tarball)[1]
    wanted = ["SHA256SUMS", tarball, f"cyclops_{version}_amd64.deb"]
    checks.expect(sorted(files) == wanted, f"files: {sorted(files)}, wanted {wanted}")
    with tarfile.open(os.path.join(folder, tarball)) as archive:
        archive.extractall(folder)
        for member in archive.getmembers():
            checks.expect(member.uid == 0 and member.gid == 0, f"{member.name} is of somebody")
    tree = os.path.join(folder, tarball.removesuffix(".tar.xz"))
    package = os.path.join(folder, "package")
    run("dpkg-deb", "-x", os.path.join(folder, next(name for name in files if name.endswith(".deb"))), package)
    for member in MEMBERS:
        checks.expect(os.path.exists(os.path.join(tree, member)), f"the tarball lacks {member}")
        packed = member + ".gz" if "/man/" in member else member
        checks.expect(os.path.exists(os.path.join(package, "usr", packed)), f"the package lacks {packed}")
        checks.count("files looked for", 2)
    with open(os.path.join(tree, "share/doc/cyclops/THIRD-PARTY"), encoding="utf-8", errors="replace") as file:
        notices = file.read()
    for word in NOTICES:
        checks.expect(word in notices, f"the notices do not say {word}")
    return tree


def check_answers(checks, tree):
    """Programs of the tarball answer from its own samples, from where it was unpacked."""
    cyclops, samples = os.path.join(tree, "bin/cyclops"), os.path.join(tree, SAMPLES)
    told = run(cyclops, "--version").decode()
    checks.expect(re.search(r"^cyclops \S+ \(\S+\)\nbuilt with .*\nfeatures: .*\ncatalog of \S", told), f"--version: {told}")
    found = " ".join(run(cyclops, "c2c", "--symfs", os.path.join(samples, "root"), os.path.join(samples, "sharing.data")).decode().split())
    checks.expect(VERDICT in found, f"c2c: {found[:200]}")
    checks.count("answers", 2)


def inside(root, *words):
    """A command in a system; its output and errors, and its exit status."""
    done = subprocess.run(["chroot", root, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"},
                          check=False)
    return " ".join(done.stdout.decode(errors="replace").split()), done.returncode


def check_release(checks, release, root, package):
    """Installs the package into a system and asks it what users would."""
    where = f"Debian {RELEASES[release]}"
    shutil.copy(package, os.path.join(root, "cyclops.deb"))
    for kind, place in (("proc", "proc"), ("sysfs", "sys")):
        subprocess.run(["mount", "-t", kind, kind, os.path.join(root, place)], check=False)
    try:
        for words, wanted in (
                (("dpkg", "-i", "/cyclops.deb"), "Setting up cyclops"),
                (("cyclops", "--version"), "static"),
                (("cyclops", "report", f"/usr/{SAMPLES}/chase.data"), "SPE records"),
                (("cyclops", "c2c", "--symfs", f"/usr/{SAMPLES}/root", f"/usr/{SAMPLES}/sharing.data"), VERDICT),
                (("cyclops", "record", "-e", "cpu-clock", "-o", "/tmp/r.data", "--", "sh", "-c",
                  "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"), "samples"),
                (("cyclops", "report", "/tmp/r.data"), "dash"),
                (("cyclops", "stat", "-e", "task-clock", "--", "true"), "task-clock")):
            text, status = inside(root, *words)
            checks.expect(status == 0 and wanted in text, f"{where}: {' '.join(words)}: {status}: {text[-300:]}")
            checks.count(f"commands on {where}")
        text, status = inside(root, "sh", "-c", "apt-get -qq install -y --no-install-recommends qemu-user && "
                              "cyclops run --model -o /tmp/run -- /usr/lib/cyclops/cyclops-kernel-aarch64 chase")
        print(f"{where}: run --model: {status}: {text[-200:]}")
        has_plugins = "unknown option 'plugin'" not in text  # Debian 13's qemu-user has none
        checks.expect(status == 0 or release == "bullseye" or not has_plugins, f"{where}: run --model: {text[-300:]}")
        checks.count("modelled runs", status == 0)
    finally:
        for place in ("proc", "sys"):
            subprocess.run(["umount", os.path.join(root, place)], check=False)


def check_everywhere(checks, source, folder):
    """Two static builds of one commit in two folders, then the releases."""
    packed = []
    for name in ("one", "another"):
        copy = os.path.join(folder, name)
        run("git", "clone", "--quiet", "--no-hardlinks", source, copy)
        packed.append(pack(copy, os.path.join(copy, "dist")))
    for name in sorted({*packed[0], *packed[1]}):
        checks.expect(packed[0].get(name) == packed[1].get(name), f"{name} differs between two builds of one commit")
        checks.count("files built twice")
    mirror = run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian",
                 "Label: Debian").decode().split("\n", maxsplit=1)[0]
    package = next(pathlib.Path(folder, "one", "dist").glob("*.deb"))
    for release in RELEASES:
        root = os.path.join(folder, release)
        run("debootstrap", "--variant=minbase", f"--keyring={KEYRING}", release, root, mirror)
        check_release(checks, release, root, package)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("source")
    parser.add_argument("build")
    arguments = parser.parse_args()
    checks = Checks()
    for tool in ("git", "dpkg-deb", "xz"):
        need(tool)
    if os.uname().machine != "x86_64":
        skip("the package is for x86-64")
    if not os.path.exists(os.path.join(arguments.source, ".git")):
        skip("not a clone: the commit is not known")
    with tempfile.TemporaryDirectory() as folder:
        if arguments.whole:
            if os.geteuid() != 0 or shutil.which("debootstrap") is None:
                raise Failed("--whole needs root and debootstrap")
            check_everywhere(checks, os.path.abspath(arguments.source), folder)
        else:
            once, again = (pack(arguments.source, os.path.join(folder, name), "--from", os.path.abspath(arguments.build), "--level", 0)
                           for name in ("once", "again"))
            checks.expect(once == again, "packing twice gives other bytes")
            check_answers(checks, check_contents(checks, once, os.path.join(folder, "once")))
    checks.finish()


if __name__ == "__main__":
    main()
