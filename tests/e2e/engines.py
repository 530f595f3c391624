# SPDX-License-Identifier: Apache-2.0
"""The engines that answer `cyclops fleet`: found, or installed by pip beside the program that is tested."""

import fcntl
import os
import shutil
import subprocess
import sys

import harness

# pip's ways to its index come from outside.
PIP = {name: value for name, value in os.environ.items() if name.startswith(("PIP_", "SSL_", "HTTP", "http"))}
PIP.update({"PIP_DISABLE_PIP_VERSION_CHECK": "1", "PIP_ROOT_USER_ACTION": "ignore", "PIP_RETRIES": "0",
            "PIP_DEFAULT_TIMEOUT": "20"})


def runs(program):
    return program is not None and os.path.exists(program) and subprocess.run([program, "-version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                                  stdin=subprocess.DEVNULL, check=False).returncode == 0


def find_duckdb(cyclops):
    """The path of the program duckdb; None where it is not there and pip does not bring it."""
    found = os.environ.get("CYCLOPS_DUCKDB") or shutil.which("duckdb")
    if runs(found):
        return found
    folder = os.path.join(os.path.dirname(os.path.abspath(cyclops)), "engines")
    program = os.path.join(folder, "duckdb_cli", "duckdb")
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "lock"), "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        return program if runs(program) or install(folder, program) else None


def duckdb(cyclops):
    """The same; ends the test as skipped where there is none."""
    return find_duckdb(cyclops) or harness.skip("duckdb is not installed, and pip does not bring it")


def pip(folder, *packages):
    """Installs packages there; was that possible?"""
    done = subprocess.run([sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--upgrade", "--target", folder,
                           *packages], env={**harness.ENVIRONMENT, **PIP, "HOME": folder}, stdin=subprocess.DEVNULL, capture_output=True,
                          text=True, check=False)
    print(done.stderr[-300:], end="")
    return done.returncode == 0


def install(folder, program):
    return pip(folder, "duckdb-cli") and runs(program)
