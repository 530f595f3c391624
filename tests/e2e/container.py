#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The container for developing: the Containerfile becomes an image, and `make check` passes in it, where nothing may count.

usage: container.py SOURCE    (a clone; needs root, buildah and mmdebstrap; takes 6 GB below the folder of temporary files)

The base is made of Debian's packages. Images and containers stay in a folder of their own, which goes at the end.
"""

import os
import re
import subprocess
import sys
import tempfile

from dist import debian_mirror, KEYRING
from harness import Checks, need, run


def main():
    source = os.path.abspath(sys.argv[1])
    checks = Checks()
    for tool in ("git", "buildah", "mmdebstrap"):
        need(tool)
    with tempfile.TemporaryDirectory() as folder:
        store = ["--root", os.path.join(folder, "store"), "--runroot", os.path.join(folder, "run"), "--storage-driver", "vfs"]

        def buildah(command, *words):
            return run("buildah", *store, command, *words).decode().split()[-1]

        base, copy = os.path.join(folder, "base.tar"), os.path.join(folder, "cyclops")
        run("mmdebstrap", "--quiet", "--variant=minbase", f"--keyring={KEYRING}", "bookworm", base, debian_mirror())
        empty = buildah("from", "scratch")
        buildah("add", empty, base, "/")
        buildah("commit", "--rm", empty, "localhost/debian:12")
        buildah("build", "--isolation", "chroot", "--pull-never", "--tag", "cyclops-dev", source)
        container = buildah("from", "--pull-never", "localhost/cyclops-dev")
        run("git", "clone", "--quiet", "--no-hardlinks", source, copy)
        done = subprocess.run(["buildah", *store, "run", "--isolation", "chroot", "--volume", f"{copy}:/src", container, "--", "make", "check"],
                              stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        told = done.stdout.decode(errors="replace")
        passed = re.search(r"^(\d+) passed, 0 failed", told, re.M)
        checks.expect(done.returncode == 0 and passed is not None, f"make check: {done.returncode}: {told[-3000:]}")
        checks.count("tests in the container", int(passed[1]) if passed else 0)
    checks.finish()


if __name__ == "__main__":
    main()
