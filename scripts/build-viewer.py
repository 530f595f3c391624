#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Makes the viewer of --html: one HTML file with its style and its program, without data.

usage: build-viewer.py NPM SOURCE WORK OUT --required|--optional

SOURCE is the folder viewer/, which is not written to. npm gets its packages into WORK, once for each lock
file. Where it cannot get them, or one of them does not do its work, an optional viewer is an empty file, and the program
is built without --html. Mistakes in the sources end any build. Types are not checked here: that takes most of the time, and
does not change the file (tests/e2e/viewer_types.py).
"""

import base64
import hashlib
import pathlib
import resource
import shutil
import signal
import subprocess
import sys

# Ends what computes for ever: of CPU time, as other programs lengthen any other. npm has limits for its requests.
CPU_SECONDS = 600


class Failed(Exception):
    """A step failed; its output."""


class Mistake(Failed):
    """The sources are wrong, as they are on each machine."""


def limit():
    resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS + 1))


def step(work, *command):
    try:
        done = subprocess.run(command, cwd=work, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", preexec_fn=limit)
    except OSError as e:
        raise Failed(f"{command[0]}: {e.strerror}") from e
    if done.returncode < 0:
        raise Failed(f"{done.stdout}{command[0]}: {signal.strsignal(-done.returncode)}")
    if done.returncode != 0:
        raise (Mistake if "[ERROR]" in done.stdout else Failed)(done.stdout)


def copy_sources(source, work):
    shutil.rmtree(work / "src", ignore_errors=True)
    shutil.copytree(source / "src", work / "src")
    for name in ("package.json", "package-lock.json", ".npmrc", "tsconfig.json"):
        shutil.copy(source / name, work / name)


def get_packages(npm, work):
    lock = hashlib.sha256((work / "package-lock.json").read_bytes()).hexdigest()
    stamp = work / "packages.stamp"
    if stamp.exists() and stamp.read_text() == lock:
        return
    step(work, npm, "ci", "--ignore-scripts", "--prefer-offline", "--no-audit", "--no-fund",
         "--fetch-retries=1", "--fetch-timeout=30000")
    stamp.write_text(lock)


def bundle(work):
    """The program and the style, each as one text."""
    tools = work / "node_modules" / ".bin"
    step(work, tools / "esbuild", "src/main.ts", "--bundle", "--minify", "--format=iife", "--target=es2022",
         "--charset=utf8", "--legal-comments=none", "--outfile=viewer.js")
    step(work, tools / "esbuild", "src/style.css", "--bundle", "--minify", "--charset=utf8", "--outfile=viewer.css")
    return [(work / name).read_text().strip() for name in ("viewer.js", "viewer.css")]


def digest(text):
    return "'sha256-" + base64.b64encode(hashlib.sha256(text.encode()).digest()).decode() + "'"


def make(npm, source, work):
    copy_sources(source, work)
    get_packages(npm, work)
    program, style = bundle(work)
    if "</script" in program or "</style" in style:
        raise Failed("the bundle ends its own element")
    page = (source / "index.html").read_text()
    for mark, text in (("SCRIPT_HASH", digest(program)), ("STYLE_HASH", digest(style)), ("STYLE", style),
                       ("SCRIPT", program)):
        before, after = page.split(f"@{mark}@")
        page = before + text + after
    return page


def main():
    npm, source, work, out, required = sys.argv[1:]
    source, work, out = pathlib.Path(source), pathlib.Path(work).resolve(), pathlib.Path(out)
    work.mkdir(parents=True, exist_ok=True)
    try:
        page = make(npm, source, work)
    except Failed as e:
        if required == "--required" or isinstance(e, Mistake):
            sys.exit(f"{e}\nthe viewer of --html was not made")
        print(f"{e}\nbuilding without the viewer of --html", file=sys.stderr)
        page = ""
    out.write_text(page)


if __name__ == "__main__":
    main()
