#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
What `make dist` packs: the same bytes twice, everything in it, and it works where it lands.

usage: dist.py SOURCE BUILD
       dist.py --whole [--only ARCHITECTURE]... SOURCE

Packs the program of BUILD, which need not be static. --whole makes static programs for each architecture instead,
twice, in two folders; it links them again from what the licences ask for, and asks the tarball, the packages and the
image, those of other architectures under qemu. The Debian package is installed into systems of Debian 11, 12 and 13 that
have nothing else, the RPM into an empty tree (needs root and mmdebstrap); there they count, record, model where that
release's qemu can, and answer.
"""

import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile

from harness import SKIP, Checks, Failed, need, run, skip

RELEASES = {"bullseye": 11, "bookworm": 12, "trixie": 13}
KEYRING = "/usr/share/keyrings/debian-archive-keyring.gpg"
# The name in Debian, and what runs its programs elsewhere
ARCHITECTURES = {"x86_64": ("amd64", []), "aarch64": ("arm64", ["qemu-aarch64"]), "armv6": (None, ["qemu-arm", "-cpu", "arm1176"])}
MEMBERS = ("bin/cyclops", "share/man/man1/cyclops.1", "share/man/man1/cyclops-c2c.1",
           "share/bash-completion/completions/cyclops", "share/zsh/site-functions/_cyclops",
           "share/fish/vendor_completions.d/cyclops.fish", "share/cyclops/sql/top.sql",
           "share/cyclops/sysctl.d/60-cyclops.conf", "share/cyclops/samples/sharing.data",
           "share/cyclops/samples/root/opt/kernels/start.h", "share/doc/cyclops/LICENSE", "share/doc/cyclops/THIRD-PARTY",
           "share/doc/cyclops/README.md", "share/doc/cyclops/CHANGELOG.md", "share/doc/cyclops/schema/c2c.json")
PLUGIN = "lib/cyclops/cyclops-model.so"
NOTICES = ("LGPL", "elfutils", "glibc", "liblzma", "zstd", "jansson", "zlib", "Zydis", "-relink.tar.xz")
VERDICT = "False sharing in account (struct account, 64 bytes)"
SAMPLES = "share/cyclops/samples"
VERSION = r"^cyclops \S+ \([0-9a-f]{12}\)\nbuilt with .*\nfeatures: .*\ncatalog of \d{4}-\d\d-\d\d"
# Spends time in its own shell, so that record has samples
BUSY = "i=0; while [ $i -lt 300000 ]; do i=$((i+1)); done"


def pack(source, into, *words):
    """The files of a run of dist.sh, by name. In the user's environment, as cargo has its programs at home."""
    done = subprocess.run([os.path.join(source, "scripts/dist.sh"), "--into", into, *map(str, words)], stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise Failed(f"dist.sh {' '.join(map(str, words))}: exit status {done.returncode}: {done.stdout.decode()[-1000:]}")
    return {path.name: path.read_bytes() for path in sorted(pathlib.Path(into).iterdir()) if path.is_file()}


def wanted_files(version, architecture):
    debian = ARCHITECTURES[architecture][0]
    yield f"cyclops-{version}-{architecture}.tar.xz"
    if debian is not None:
        yield from (f"cyclops-{version}-{architecture}.oci.tar", f"cyclops_{version}_{debian}.deb",
                    f"cyclops-{version}-1.{architecture}.rpm")
        for option in ("sysctl", "perfmon"):
            yield from (f"cyclops-{option}_{version}_all.deb", f"cyclops-{option}-{version}-1.noarch.rpm")


def unpack_image(path, into):
    """Unpacks the layers of an OCI layout; returns its name and its configuration."""
    with tarfile.open(path) as layout:
        def blob(digest):
            return layout.extractfile("./blobs/" + digest.replace(":", "/"))

        described = json.load(layout.extractfile("./index.json"))["manifests"][0]
        manifest = json.load(blob(described["digest"]))
        for layer in manifest["layers"]:
            with tarfile.open(fileobj=blob(layer["digest"])) as archive:
                archive.extractall(into)
        return described["annotations"]["org.opencontainers.image.ref.name"], json.load(blob(manifest["config"]["digest"]))


def check_tree(checks, what, tree, packed, architecture):
    """A tree below /usr; packed: manual pages are compressed."""
    for member in MEMBERS + ((PLUGIN,) if architecture != "armv6" else ()):
        path = member + ".gz" if packed and "/man/" in member else member
        checks.expect(os.path.isfile(os.path.join(tree, path)), f"{what} lacks {path}")
        checks.count("files looked for")
    with open(os.path.join(tree, "share/doc/cyclops/THIRD-PARTY"), encoding="utf-8", errors="replace") as file:
        notices = file.read()
    for word in NOTICES + (("LLVM",) if architecture != "armv6" else ()):
        checks.expect(word in notices, f"the notices of {what} do not say {word}")


def check_contents(checks, folder, architecture, version):
    """Unpacks what was packed for an architecture; returns the folders below /usr of tarball, packages and image."""
    debian = ARCHITECTURES[architecture][0]
    into = os.path.join(folder, f"unpacked-{architecture}")
    name = f"cyclops-{version}-{architecture}"
    with tarfile.open(os.path.join(folder, f"{name}.tar.xz")) as archive:
        archive.extractall(into)
        for member in archive.getmembers():
            checks.expect(member.uid == 0 and member.gid == 0, f"{member.name} is of somebody")
    trees = {"the tarball": os.path.join(into, name)}
    check_tree(checks, "the tarball", trees["the tarball"], False, architecture)
    if debian is None:
        return trees
    deb, rpm, image = (os.path.join(into, kind) for kind in ("deb", "rpm", "image"))
    run("dpkg-deb", "-x", os.path.join(folder, f"cyclops_{version}_{debian}.deb"), deb)
    os.mkdir(rpm)
    run("sh", "-c", 'rpm2archive - <"$0" | tar -xzf - -C "$1"', os.path.join(folder, f"cyclops-{version}-1.{architecture}.rpm"), rpm)
    image_name, config = unpack_image(os.path.join(folder, f"{name}.oci.tar"), image)
    checks.expect(config["architecture"] == debian and config["config"]["Entrypoint"] == ["/usr/bin/cyclops"], f"image: {config}")
    checks.expect(image_name == f"cyclops:{version}", f"podman load would name the image {image_name}")
    for what, root in (("the Debian package", deb), ("the RPM", rpm), ("the image", image)):
        trees[what] = os.path.join(root, "usr")
        check_tree(checks, what, trees[what], what != "the image", architecture)
    return trees


def check_answers(checks, what, tree, emulator):
    """A program answers from the samples beside it, from where it was unpacked."""
    samples = os.path.join(tree, SAMPLES)
    ask = [*emulator, os.path.join(tree, "bin/cyclops")]
    told = run(*ask, "--version").decode()
    checks.expect(re.search(VERSION, told), f"{what}: --version: {told}")
    found = " ".join(run(*ask, "c2c", "--symfs", os.path.join(samples, "root"), os.path.join(samples, "sharing.data")).decode().split())
    checks.expect(VERDICT in found, f"{what}: c2c: {found[:200]}")
    checks.count("answers", 2)


def check_same_answers(checks, program, emulator, tree, mine, has_disassembler):
    """Another architecture's program says the same as this one's, of each sample."""
    samples = pathlib.Path(tree, SAMPLES)
    questions = ["hot", "hot --format json", "c2c", "mem", "quality", "dump --raw", "export --format csv"]
    of_code = ["report", "report --format json"] + (["addr", "blocks", "annotate"] if has_disassembler else [])
    for sample in sorted(samples.glob("*.data")):
        for words in questions + of_code:
            # What is said of types that only instructions tell needs the disassembler: then there is no program.
            found = ["--symfs", samples / "root"] if has_disassembler or words not in of_code else []
            question = [*words.split(), *found, sample]
            answers = [subprocess.run([*ask, *question], capture_output=True, check=False) for ask in ([*emulator, program], [mine])]
            same = answers[0].returncode == answers[1].returncode and answers[0].stdout == answers[1].stdout
            checks.expect(same, f"{' '.join(map(str, question))}: {program} answers otherwise")
            checks.count("answers equal on both architectures", same)


def inside(root, *words):
    """A command in a system; its output and errors, and its exit status."""
    done = subprocess.run(["chroot", root, *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                          env={"PATH": "/usr/bin:/bin:/usr/sbin:/sbin", "LC_ALL": "C.UTF-8", "DEBIAN_FRONTEND": "noninteractive"},
                          check=False)
    return " ".join(done.stdout.decode(errors="replace").split()), done.returncode


def expect_inside(checks, where, root, *questions):
    """Asks what users would: (words, what the answer has)."""
    for words, wanted in questions:
        text, status = inside(root, *words)
        checks.expect(status == 0 and wanted in text, f"{where}: {' '.join(words)}: {status}: {text[-300:]}")
        checks.count(f"commands on {where}")


ANSWERS = (
    (("cyclops", "--version"), "static"),
    (("cyclops", "report", f"/usr/{SAMPLES}/chase.data"), "SPE records"),
    (("cyclops", "c2c", "--symfs", f"/usr/{SAMPLES}/root", f"/usr/{SAMPLES}/sharing.data"), VERDICT),
    (("cyclops", "stat", "-e", "task-clock", "--", "/usr/bin/cyclops", "--version"), "task-clock"),
    (("cyclops", "record", "-e", "cpu-clock", "-o", "/tmp/r.data", "--", "/usr/bin/cyclops", "report",
      f"/usr/{SAMPLES}/chase.data"), "samples"),
    (("cyclops", "hot", "/tmp/r.data"), "cyclops"),
)


class Mounted:
    """A system with /proc and /sys."""

    def __init__(self, root):
        self.root = root

    def __enter__(self):
        for kind, place in (("proc", "proc"), ("sysfs", "sys")):
            os.makedirs(os.path.join(self.root, place), exist_ok=True)
            subprocess.run(["mount", "-t", kind, kind, os.path.join(self.root, place)], check=False)

    def __exit__(self, *_):
        for place in ("proc", "sys"):
            subprocess.run(["umount", os.path.join(self.root, place)], check=False)


def check_release(checks, release, root, folder, version):
    """Installs the packages into a system and asks it what users would."""
    where = f"Debian {RELEASES[release]}"
    for name in (f"cyclops_{version}_amd64.deb", f"cyclops-sysctl_{version}_all.deb", f"cyclops-perfmon_{version}_all.deb"):
        shutil.copy(os.path.join(folder, name), os.path.join(root, name.split("_", maxsplit=1)[0] + ".deb"))
    with Mounted(root):
        expect_inside(checks, where, root, (("dpkg", "-i", "/cyclops.deb"), "Setting up cyclops"), *ANSWERS)
        expect_inside(checks, where, root,
                      (("cyclops", "record", "-e", "cpu-clock", "-o", "/tmp/s.data", "--", "sh", "-c", BUSY), "samples"),
                      (("cyclops", "report", "/tmp/s.data"), "dash"),
                      (("sh", "-c", "apt-get -qq update && apt-get -qq install -y --no-install-recommends libcap2-bin procps "
                        "/cyclops-perfmon.deb"), "Setting up cyclops-perfmon"),
                      (("getcap", "/usr/bin/cyclops"), "cap_perfmon"),
                      (("dpkg", "-i", "/cyclops.deb"), "triggers for cyclops-perfmon"),
                      (("getcap", "/usr/bin/cyclops"), "cap_perfmon"),
                      (("cyclops", "--version"), "static"),
                      (("dpkg", "-r", "cyclops-perfmon"), "Removing"),
                      (("sh", "-c", "test -z \"$(getcap /usr/bin/cyclops)\" && echo none"), "none"),
                      (("dpkg", "--unpack", "/cyclops-sysctl.deb"), "Unpacking cyclops-sysctl"),
                      (("cat", "/usr/lib/sysctl.d/60-cyclops.conf"), "kernel.perf_event_paranoid = -1"))
        text, status = inside(root, "sh", "-c", "apt-get -qq install -y --no-install-recommends qemu-user && "
                              "cyclops run --model -o /tmp/run -- /usr/lib/cyclops/cyclops-kernel-aarch64 chase")
        print(f"{where}: run --model: {status}: {text[-300:]}")
        checks.expect(status == 0 and "the files are in" in text or "/usr/bin/qemu-aarch64 has no plugins" in text, f"{where}: run --model: {text[-300:]}")
        checks.count("modelled runs", status == 0)
        expect_inside(checks, where, root, (("dpkg", "--purge", "cyclops", "cyclops-sysctl"), "Removing cyclops"))


def check_rpm(checks, folder, architecture, version):
    """The RPM in a tree that has nothing else, not even a shell."""
    root = os.path.join(folder, f"empty-{architecture}")
    emulator = ARCHITECTURES[architecture][1]
    os.mkdir(root)
    run("rpm", "-i", "--root", root, "--dbpath", "/var/lib/rpm", *(["--ignorearch"] if emulator else []),
        os.path.join(folder, f"cyclops-{version}-1.{architecture}.rpm"))
    os.mkdir(os.path.join(root, "tmp"))
    if emulator:
        check_answers(checks, f"an empty tree with the RPM for {architecture}", os.path.join(root, "usr"), emulator)
    else:
        with Mounted(root):
            expect_inside(checks, "an empty tree with the RPM", root, *ANSWERS)
    text = run("rpm", "--root", root, "--dbpath", "/var/lib/rpm", "-V", "cyclops").decode()
    checks.expect(text == "", f"rpm -V: {text}")


def check_rpm_options(checks, root, folder, version):
    """The RPM and its options in a system with a shell and setcap, whose own packages are of another kind."""
    def package(name, kind):
        return os.path.join(folder, f"{name}-{version}-1.{kind}.rpm")

    def rights():
        return inside(root, "getcap", "/usr/bin/cyclops")[0]

    run("rpm", "-i", "--root", root, "--nodeps", package("cyclops", "x86_64"), package("cyclops-sysctl", "noarch"))
    run("rpm", "-i", "--root", root, "--nodeps", package("cyclops-perfmon", "noarch"))
    checks.expect("cap_perfmon" in rights(), f"rpm -i cyclops-perfmon: {rights()}")
    run("rpm", "-U", "--force", "--root", root, "--nodeps", package("cyclops", "x86_64"))
    checks.expect("cap_perfmon" in rights(), f"a newer cyclops.rpm: {rights()}")
    setting = pathlib.Path(root, "usr/lib/sysctl.d/60-cyclops.conf").read_text(encoding="utf-8")
    checks.expect("kernel.perf_event_paranoid = -1" in setting, f"cyclops-sysctl.rpm: {setting}")
    run("rpm", "-e", "--root", root, "--nodeps", "cyclops-perfmon")
    checks.expect(rights() == "", f"rpm -e cyclops-perfmon: {rights()}")
    run("rpm", "-e", "--root", root, "--nodeps", "cyclops", "cyclops-sysctl")
    left = [str(path) for path in pathlib.Path(root, "usr").rglob("*cyclops*")]
    checks.expect(not left, f"rpm -e leaves {left}")
    checks.count("steps with options of the RPM", 6)


def check_image(checks, tree):
    """The image as root of its own."""
    root = os.path.dirname(tree)
    with Mounted(root):
        expect_inside(checks, "the image", root, *ANSWERS)


def check_relinking(checks, folder, architecture, parts, version):
    """Links the program from its object and this system's libraries."""
    into = os.path.join(folder, f"relinked-{architecture}")
    debian, emulator = ARCHITECTURES[architecture]
    with tarfile.open(os.path.join(folder, f"cyclops-{version}-{architecture}-relink.tar.xz")) as archive:
        archive.extractall(into)
    sysroot = parts / f"sysroot-{debian or 'armel'}/usr/lib"
    run("sh", os.path.join(into, f"cyclops-{version}-{architecture}-relink/relink.sh"), *(f"-L{path}" for path in sysroot.glob("*-linux-gnu*")),
        cwd=into)
    told = run(*emulator, os.path.join(into, "cyclops"), "--version").decode()
    checks.expect(re.search(VERSION, told), f"relinked for {architecture}: {told}")
    checks.count("programs relinked")


def check_machine(checks, source, program, package):
    """The program counts and records on the emulated Neoverse N1, and the package is installed there."""
    run("sh", os.path.join(source, "scripts/build-arm64.sh"), "--vm")
    for name, words in (("machine", []), ("stat", []), ("package", [package])):
        done = subprocess.run([sys.executable, os.path.join(source, "tests/vm", f"{name}.py"), *words], check=False, stdin=subprocess.DEVNULL,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, env={**os.environ, "CYCLOPS_ARM64": program})
        text = done.stdout.decode(errors="replace")
        if done.returncode == SKIP:
            print(f"vm/{name}: {text}")
            continue
        checks.expect(done.returncode == 0, f"vm/{name}: {text}")
        checks.count("tests on the emulated machine")


def debian_mirror():
    """Where this machine has Debian's packages from."""
    return run("apt-get", "indextargets", "--format", "$(REPO_URI)", "Created-By: Packages", "Origin: Debian",
               "Label: Debian").decode().split("\n", maxsplit=1)[0]


def check_everywhere(checks, source, folder, architectures, version):
    """Static builds of one commit in two folders, then what is in them, then the systems."""
    packed = []
    for name in ("one", "another-one"):
        copy = os.path.join(folder, name)
        run("git", "clone", "--quiet", "--no-hardlinks", source, copy)
        packed.append(pack(copy, os.path.join(copy, "dist"), *architectures))
    for name in sorted({*packed[0], *packed[1]}):
        checks.expect(packed[0].get(name) == packed[1].get(name), f"{name} differs between two builds of one commit")
        checks.count("files built twice")
        print(f"{name}: {len(packed[0].get(name, b''))} bytes")
    into = os.path.join(folder, "one", "dist")
    programs = {}
    for architecture in architectures:
        trees = check_contents(checks, into, architecture, version)
        emulator = ARCHITECTURES[architecture][1]
        for what, tree in trees.items():
            check_answers(checks, f"{what} for {architecture}", tree, emulator)
        check_relinking(checks, into, architecture, pathlib.Path(folder, "one", "build-dist"), version)
        programs[architecture] = os.path.join(trees["the tarball"], "bin/cyclops")
        if architecture != architectures[0]:
            check_same_answers(checks, programs[architecture], emulator, trees["the tarball"], programs[architectures[0]],
                               architecture != "armv6")
        if architecture == "aarch64":
            check_machine(checks, source, programs[architecture], os.path.join(into, f"cyclops_{version}_arm64.deb"))
        if architecture == "x86_64":
            check_image(checks, trees["the image"])
        if architecture != "armv6":
            check_rpm(checks, into, architecture, version)
    if "x86_64" not in architectures:
        return
    for release in RELEASES:
        root = os.path.join(folder, release)
        run("mmdebstrap", "--quiet", "--variant=minbase", f"--keyring={KEYRING}", release, root, debian_mirror())
        check_release(checks, release, root, into, version)
    check_rpm_options(checks, root, into, version)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--whole", action="store_true")
    parser.add_argument("--only", action="append", choices=ARCHITECTURES)
    parser.add_argument("source")
    parser.add_argument("build", nargs="?")
    arguments = parser.parse_args()
    if arguments.whole == (arguments.build is not None):
        parser.error("either --whole or BUILD")
    checks = Checks()
    for tool in ("git", "dpkg-deb", "xz", "rpmbuild", "umoci"):
        need(tool)
    if os.uname().machine != "x86_64":
        skip("the package is for x86-64")
    if not os.path.exists(os.path.join(arguments.source, ".git")):
        skip("not a clone: the commit is not known")
    version = re.search(r"^  version: '(.*)',", pathlib.Path(arguments.source, "meson.build").read_text(encoding="utf-8"), re.M)[1]
    with tempfile.TemporaryDirectory() as folder:
        if arguments.whole:
            if os.geteuid() != 0 or shutil.which("mmdebstrap") is None:
                raise Failed("--whole needs root and mmdebstrap")
            check_everywhere(checks, os.path.abspath(arguments.source), folder, arguments.only or list(ARCHITECTURES), version)
        else:
            once, again = (pack(arguments.source, os.path.join(folder, name), "--from", os.path.abspath(arguments.build), "--level", 0)
                           for name in ("once", "again"))
            for name in sorted({*once, *again}):
                checks.expect(once.get(name) == again.get(name), f"{name}: packing twice gives other bytes")
            wanted = sorted(["SHA256SUMS", *wanted_files(version, "x86_64")])
            checks.expect(sorted(once) == wanted, f"files: {sorted(once)}, wanted {wanted}")
            trees = check_contents(checks, os.path.join(folder, "once"), "x86_64", version)
            check_answers(checks, "the tarball", trees["the tarball"], [])
    checks.finish()


if __name__ == "__main__":
    main()
