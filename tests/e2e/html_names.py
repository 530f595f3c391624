#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Names that are programs for a browser, on the pages of every command that writes some: they are shown as they are, and nothing
of them runs. Names of functions, types, members, source files, programs and machines; and of the capture's file.

usage: html_names.py CYCLOPS DATA

Captures are those of DATA, their programs with other names. In each page that is opened, the mouse is put on all that answers to it.
"""

import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

import browser
import engines
import html_pages
import small_elf
from harness import ENVIRONMENT, Checks, Failed, has_model, run, skip

# What runs opens a dialog, which Browser.errors tells; see check_control().
RUNS = [b"</script><script>alert(1)</script>", b"<img src=x onerror=alert(1)>", b"\"><svg onload=alert(1)>", b"' onmouseover='alert(1)",
        b"--><iframe srcdoc='<script>alert(1)</script>'>", b"</title></style></textarea><script>alert(1)</script>",
        b"javascript:alert(1)", b"{{constructor.constructor('alert(1)')()}}${alert(1)}`", b"\xff\xfe<script>alert(1)</script>\xc0",
        b"\xe2\x80\xaeline\nof\x1b[31mits own\r<script>alert(1)</script>", b"l" * 5000 + b"<img src=x onerror=alert(1)>"]

# Of DWARF: strings that stay as long as they are.
SHORT = {b"account": b"<b>'\"&>", b"limit": b"<u>\"'", b"lock": b"<s>'", b"sharing.c": b"</script>", b"demo.c": b"<i>.c>", b"struct account": b"<b>"}
MACHINE = (b"\0model\0", b"\0<img>\0")

# Of machines, in a dataset: bytes that are no text, quotes, what steers a terminal; and how each begins where it is shown.
HOSTS = [b"</script><script>alert(0)</script>\xff\xfe'\"", b"line\nof\x1b[31m \xe2\x80\xae</script><img src=x onerror=alert(1)>",
         b"\"><svg onload=alert(2)>" + b"h" * 300]
SHOWN_HOSTS = ["</script><script>alert(0)</script>", "line", "\"><svg onload=alert(2)>hhhh"]

# What the mouse and the keyboard do to whatever answers to them, but links; what is folded is opened.
TOUCH = """(() => {
    document.querySelectorAll("details").forEach((details) => { details.open = true; });
    for (const element of document.querySelectorAll("main *, dialog *"))
    for (const kind of ["mouseover", "mouseenter", "mousemove", "focusin", "pointerover", "pointermove"])
        element.dispatchEvent(new MouseEvent(kind, { bubbles: true, clientX: 5, clientY: 5 }));
})()"""

# Elements and attributes that the viewer does not make; addresses that leave the file.
STRANGE = """[...document.querySelectorAll("*")].flatMap((element) => [
    ...["script", "img", "iframe", "object", "embed", "b", "u", "s", "i", "form", "base", "meta", "link"].includes(element.localName) &&
        element.closest("body") !== null && element.closest("main, header, nav, footer, dialog") !== null ? [element.localName] : [],
    ...[...element.attributes].filter((a) => a.name.startsWith("on") || a.name === "srcdoc" ||
        ["href", "src", "xlink:href", "action"].includes(a.name) && !/^(#|data:|blob:)/.test(a.value) && element.closest("body") !== null)
        .map((a) => `${element.localName} ${a.name}=${a.value.slice(0, 80)}`)])"""

CONTROLS = "[...document.body.innerText].filter((c) => /[\\u0000-\\u0008\\u000b-\\u001f\\u007f-\\u009f\\u202a-\\u202e\\u2066-\\u2069]/.test(c)).length"


def hostile(number, name):
    """A function's other name: what it runs, and its own name, so that no two are equal."""
    return RUNS[number % len(RUNS)] + name


def rename_all(data, folder):
    """All programs of DATA below `root`, with hostile names."""
    for program in (data / "root").rglob("*"):
        copy = folder / program.relative_to(data)
        copy.parent.mkdir(parents=True, exist_ok=True)
        if not program.is_file():
            continue
        if program.read_bytes()[:4] != b"\x7fELF":
            shutil.copy(program, copy)
            for old, new in SHORT.items():
                if program.name.encode() == old and b"/" not in new:
                    shutil.copy(program, copy.parent / os.fsdecode(new))
            continue
        numbers = {}
        small_elf.rename(program, copy, lambda name: hostile(numbers.setdefault(name, len(numbers)), name), SHORT)
        copy.chmod(0o755)


def capture_of(data, folder, name):
    """The capture, from a machine of another name; its own name does something, too."""
    copy = folder / f"<img src=x onerror=alert(1)>{name.replace('/', '-')}"
    copy.write_bytes((data / name).read_bytes().replace(*MACHINE))
    return copy


def check_control(checks, page, folder):
    """A page whose names are markup is found out, in each of the ways that count."""
    path = folder / "control.html"
    path.write_text("<html><body data-ready='#'><main><img src=x onerror=alert(1)><a href='javascript:alert(2)'>x</a><p onmouseover='alert(3)'>"
                    "hover</p>\x1b</main></body></html>", encoding="utf-8")
    page.open(path)
    page.run(TOUCH)
    page.run("new Promise((done) => setTimeout(done, 100))")
    text = " ".join(page.errors)
    checks.expect("dialog: 1" in text and "dialog: 3" in text, f"control: what runs is not heard of: {text}")
    strange = page.run(STRANGE)
    checks.expect(len(strange) == 5, f"control: {strange}")
    checks.expect(page.run(CONTROLS) == 1, "control: a control character is not seen")
    page.errors.clear()
    checks.count("controls")


def check_pages(checks, page, what, path, shows=("alert(1)",)):
    """All pages of the file, as they are and touched."""
    page.open(path)
    seen = ""
    for address in html_pages.addresses(page):
        page.show(address)
        page.run(TOUCH)
        strange = page.run(STRANGE)
        checks.expect(not strange, f"{what} {address[:100]}: names became elements: {strange[:5]}")
        checks.expect(page.run(CONTROLS) == 0, f"{what} {address[:100]}: control characters are shown")
        width = page.run("document.documentElement.scrollWidth")
        checks.expect(width <= html_pages.WIDE, f"{what} {address[:100]}: a name makes the page {width} pixels wide")
        seen += page.run("document.body.innerText") + html_pages.twin_of(page)
        html_pages.check_quiet(checks, page, f"{what} {address[:100]}")
        checks.count(f"{what}: pages")
    for name in shows:
        checks.expect(name in seen, f"{what}: {name} is not shown")


def write(cyclops, folder, *words):
    """The page that a command writes."""
    path = folder / "pages.html"
    path.unlink(missing_ok=True)
    run(cyclops, *words, "--html", path, cwd=folder)
    return path


def check_fleet(checks, page, cyclops, folder, captures):
    """Questions to a dataset of captures with such names."""
    duckdb = engines.find_duckdb(cyclops)
    if duckdb is None:
        print("skipped: pages of fleet, as duckdb is not there and pip does not bring it")
        return
    root = folder / "fleet"
    run(cyclops, "collect", "--into", root, "--symfs", "root", *captures, cwd=folder)
    for number, host in enumerate(HOSTS):  # each of a machine of its own, else they are one capture
        counted = folder / "counted.data"
        counted.write_bytes(captures[-1].read_bytes().replace(MACHINE[1], b"\0host%d\0" % number))
        run(cyclops, "collect", "--into", root, "--symfs", "root", "--host", os.fsdecode(host), counted, cwd=folder)
    for question, names in ((["top"], ["alert(1)"]), (["sharing"], ["<b>'"]), (["coverage"], []), (["counts", "--by", "host", "--all"], SHOWN_HOSTS)):
        path = write(cyclops, folder, "fleet", *question, root, "--program", duckdb)
        check_pages(checks, page, "fleet", path, names)


def check_run(checks, page, cyclops, folder):
    """A program of such a name, with such an argument, on the model."""
    if not has_model():
        return
    program = folder / "<img src=x onerror=alert(1)>"
    shutil.copy(folder / "root" / "opt" / "demo" / "demo", program)
    path = folder / "pages.html"
    path.unlink(missing_ok=True)
    run(cyclops, "run", "--model", "--folder", folder / "result", "--html", path, "--", program, RUNS[0].decode())
    check_pages(checks, page, "run", path)


def main():
    cyclops, data = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    if browser.find() is None:
        skip("there is no Chromium")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="cyclops-names-") as name:
        folder = pathlib.Path(name)
        rename_all(data, folder)
        sharing, padded, cycles, calls, demo = (capture_of(data, folder, f"{each}.data") for each in (
            "samples/sharing", "samples/padded", "cycles", "calls", "demo"))
        try:
            write(cyclops, folder, "report", "--symfs", "root", demo)
        except Failed as failure:
            if "built without its viewer" not in str(failure):
                raise
            skip("cyclops was built without its viewer")
        with browser.Browser() as page:
            page.size(html_pages.WIDE, 900)
            check_control(checks, page, folder)
            for capture in (sharing, calls):
                check_pages(checks, page, "report", write(cyclops, folder, "report", "--symfs", "root", capture))
                html_pages.check_values(checks, page, cyclops, folder, capture, ["--symfs", "root"], html_pages.addresses(page))
            check_pages(checks, page, "c2c", write(cyclops, folder, "c2c", "--symfs", "root", sharing), ("alert(1)", "<b>'"))
            check_pages(checks, page, "cycles", write(cyclops, folder, "cycles", "--symfs", "root", cycles))
            path = write(cyclops, folder, "diff", "--symfs", "root", padded, sharing)
            check_pages(checks, page, "diff", path)
            page.show("#functions/compare?a=a.all&b=b.all")
            checks.expect(not page.run(STRANGE) and "alert(1)" in html_pages.twin_of(page), "compare: names")
            html_pages.check_quiet(checks, page, "compare")
            check_run(checks, page, cyclops, folder)
            check_fleet(checks, page, cyclops, folder, [sharing, demo, cycles])
    checks.finish()


if __name__ == "__main__":
    main()
