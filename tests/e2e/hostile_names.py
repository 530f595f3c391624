#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Names that would do something: escape sequences in names of processes, programs and functions, and paths that lead elsewhere.
Nothing of them reaches a terminal, a page or another folder.

usage: hostile_names.py CYCLOPS WRITE-SAMPLES
"""

import csv
import io
import json
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import xml.etree.ElementTree
import zlib

import small_elf
from harness import ENVIRONMENT, Checks, run

# Each has what it is, and the bytes. `here` would be done by a terminal, a browser, a spreadsheet or a shell.
CORPUS = {
    "clears the screen": b"\x1b[2J\x1b[H", "a window's title": b"\x1b]0;owned\x07", "the clipboard": b"\x1b]52;c;cm0gLXJmIC8=\x07",
    "a link": b"\x1b]8;;http://x\x1b\\text\x1b]8;;\x1b\\", "an answer of the terminal": b"\x1b[6n\x1b[c\x1bP$qm\x1b\\",
    "C1 in UTF-8": b"\xc2\x9b2J\xc2\x9d0;x\xc2\x9c", "C1 as bytes": b"\x9b2J\x9d0;x\x9c", "back over it": b"abc\b\b\bxyz\r",
    "a line of its own": b"x\ncyclops: all is well", "bell and vertical tabs": b"\a\v\f", "another charset": b"\x0e\x0f\x1b(0",
    "right to left": "x\u202egpj.exe\u202c\u2066\u2069".encode(), "lines of Unicode": "a b c".encode(),
    "not UTF-8": b"\xff\xfe\xc0\xaf\xed\xa0\x80", "delete": b"a\x7fb",
    "a script": b"</script><script>alert(1)</script>", "a handler": b"\"><img src=x onerror=alert(1)>",
    "a comment": b"<!--<script>", "an entity": b"&lt;b&gt;&#x1b;[2J", "of a template": b"${7*7}{{7*7}}`id`",
    "a path up": b"../../../../etc/passwd", "a path": b"/etc/passwd", "of a table": b"..", "a formula": b"=HYPERLINK(\"http://x\")",
    "of a shell": b"$(touch owned);`touch owned`", "a format": b"%s%n%1000000d",
}
# No text has these: controls but for lines, C1, and what turns the direction of text.
FORBIDDEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u206f]")
COLOUR = re.compile(r"\x1b\[[0-9;]*m")

# Commands on the capture: all with text and messages for people, and those whose files have names from outside.
ASKED = (["report"], ["hot"], ["hot", "--by", "process,thread,module,function"], ["hot", "--by", "program", "--wide", "--width", "500"],
         ["quality"], ["hot", "--callers"], ["annotate"], ["export", "--format", "folded"], ["dump"],
         ["hot", "--format", "markdown", "--by", "function"], ["hot", "--by", "function", "--format", "csv"],
         ["cycles", "--template", "neoverse-n1"])


# What is asked of a capture that has all names at once, and how its answer is read.
FORMATS = {
    "json": (["hot", "--format", "json"], ["report", "--format", "json"], ["annotate", "--format", "json"], ["quality", "--format", "json"],
             ["export", "--format", "json", "--table", "samples"], ["export", "--format", "speedscope"], ["export", "--format", "chrome-trace"],
             ["export", "--format", "firefox"]),
    "xml": (["export", "--format", "svg"], ["hot", "--junit", "/dev/stdout", "-o", "/dev/null", "--fail-if", "samples > 1000000"]),
    "csv": (["hot", "--format", "csv", "--table", "hot"], ["export", "--format", "csv", "--table", "samples"]),
    "markdown": (["hot", "--format", "markdown"], ["report", "--format", "markdown"]),
    "text": (["export", "--format", "folded"], ["export", "--format", "perf-script"], ["export", "--format", "callgrind"]),
}


def write_capture(writer, folder, name, thing, *more, sections=None, program=None):
    """
    A capture of a program of that name with a function of that name, and of `more`, and the program itself below `root`. `program`: its
    path as recorded.
    """
    program = program or b"/opt/n" + thing.replace(b"\n", b"?").replace(b"/", b"|").replace(b"\0", b"")[:60]
    path = os.path.join(os.fsencode(folder), b"root" + os.path.normpath(program))
    os.makedirs(os.path.dirname(path), exist_ok=True)
    functions = [each.decode(errors="surrogateescape") for each in (thing, *more)]
    addresses = list(small_elf.write(path, {function: [0xD503201F] * 8 for function in functions}, sections=sections).values())
    lines = ["E cycles 0 0 0 107 0"]
    for i in range(max(200, 16 * len(functions))):
        at = addresses[i % len(functions)] - small_elf.BASE + 0x400000
        lines.append(f"S 0 0 1000 1000 {1000000 + 1000 * i:x} {at + 4 * (i % 8):x} 0 100 0 0 0 0 2")
    capture = os.path.join(folder, f"{name}.data")
    done = subprocess.run([os.fsencode(writer), os.fsencode(capture), program, b"aarch64", b"0x00000000410fd0c0"],
                          input="\n".join(lines).encode() + b"\n", env=ENVIRONMENT, stderr=subprocess.PIPE, check=False)
    if done.returncode != 0:
        raise SystemExit(f"write-samples: {done.stderr.decode()}")
    return capture


def check_text(checks, what, data):
    text = data.decode(errors="surrogateescape")
    found = FORBIDDEN.search(COLOUR.sub("", text) if "--color" in what else text)
    if "--format csv" in what:  # a field in quotes
        found = FORBIDDEN.search(text.replace("\r", ""))
    checks.expect(found is None, f"{what}: {found and ascii(text[max(found.start() - 30, 0):found.end() + 30])}")
    checks.expect("\\udc" not in ascii(text), f"{what}: bytes that are not UTF-8")
    checks.count("texts")


def ask(cyclops, folder, *words):
    return subprocess.run([cyclops, *words], cwd=folder, env={**ENVIRONMENT, "LC_ALL": "C.UTF-8"}, stdin=subprocess.DEVNULL,
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)


def check_names(checks, cyclops, writer, folder):
    seen = 0
    for number, (name, thing) in enumerate(CORPUS.items()):
        capture = write_capture(writer, folder, str(number), thing)
        for words in ASKED:
            done = ask(cyclops, folder, *words, "--symfs", "root", "-i", capture) if words[0] != "dump" else \
                ask(cyclops, folder, "dump", capture)
            what = f"{name}: {' '.join(words)}"
            checks.expect(done.returncode in (0, 4), f"{what}: exit status {done.returncode}: {done.stderr[-300:]}")
            check_text(checks, what, done.stdout)
            check_text(checks, f"{what}: messages", done.stderr)
            seen += words[0] == "hot" and b"owned" in done.stdout
        page = os.path.join(folder, "page.html")
        done = ask(cyclops, folder, "report", "--html", page, "--symfs", "root", capture)
        if os.path.exists(page):
            with open(page, "rb") as file:
                data = file.read()
            for markup in (b"<script>alert", b"onerror=alert", b"<!--<script>"):
                checks.expect(markup not in data, f"{name}: a page has {markup}")
            os.unlink(page)
            checks.count("pages")
    checks.expect(seen > 0, "no name was shown at all")
    checks.expect(not os.path.exists(os.path.join(folder, "owned")), "a shell has run a name")


def read_as(kind, data):
    """Reads an answer as other programs would; a fault raises ValueError or a kind of it. Returns what of it is text."""
    text = data.decode()
    if kind == "json":
        json.loads(text)
    elif kind == "xml":
        for element in xml.etree.ElementTree.fromstring(text).iter():
            if any(name.startswith("on") and "alert(1)" in value for name, value in element.items()):
                raise ValueError(f"{element.tag} does something: {element.attrib}")
    elif kind == "csv":
        rows = list(csv.reader(io.StringIO(text, newline="")))
        if len({len(row) for row in rows}) != 1:
            raise ValueError(f"rows have {sorted({len(row) for row in rows})} fields")
        text = "\n".join(field for row in rows for field in row).replace("\r", "") # as it is, in quotes
    elif kind == "markdown":
        tables = re.findall(r"(?:^\|.*\n)+", text, re.MULTILINE)
        if not tables or any(len({len(re.findall(r"(?<!\\)\|", line)) for line in table.splitlines()}) != 1 for table in tables):
            raise ValueError("a row of a table has other columns than the rest")
    return text


def check_formats(checks, cyclops, writer, folder):
    """All names in one capture: each format can be read, and has none that would do something."""
    capture = write_capture(writer, folder, "all", b"\x1b[2J<b>|`\"", *CORPUS.values())
    for kind, questions in FORMATS.items():
        for words in questions:
            done = ask(cyclops, folder, *words, "--symfs", "root", *(["--all"] if words[0] == "hot" else []), "-i", capture)
            what = " ".join(words)
            checks.expect(done.returncode in (0, 3) and done.stdout, f"all names: {what}: exit status {done.returncode}: {done.stderr[-300:]}")
            try:
                text = read_as(kind, done.stdout)
            except (ValueError, xml.etree.ElementTree.ParseError) as error:
                checks.expect(False, f"all names: {what}: {error}")
                continue
            found = FORBIDDEN.search(text)
            checks.expect(found is None, f"all names: {what}: {found and ascii(text[max(found.start() - 30, 0):found.end() + 30])}")
            checks.count("answers read back")


def names_of(cyclops, folder, symfs, capture):
    done = ask(cyclops, folder, "hot", "--by", "function", "--format", "csv", "--symfs", symfs, capture)
    return done.stdout.decode(errors="replace")


def check_symfs(checks, cyclops, writer, folder):
    """Links and `..` of a --symfs folder do not lead to a program outside, and do lead to one inside."""
    capture = write_capture(writer, folder, "symfs", b"victim")
    program = os.path.join(folder, "root/opt/nvictim")
    for kind, link in (("absolute", program), ("relative", "../../root/opt/nvictim"), ("many up", "../" * 20 + program[1:])):
        symfs = os.path.join(folder, f"symfs-{kind.replace(' ', '-')}")
        os.makedirs(os.path.join(symfs, "opt"))
        os.symlink(link, os.path.join(symfs, "opt/nvictim"))
        checks.expect("\nvictim," not in names_of(cyclops, folder, symfs, capture), f"--symfs: {kind} link leads outside")
    symfs = os.path.join(folder, "symfs-inside")
    os.makedirs(os.path.join(symfs, "real"))
    os.symlink("/real", os.path.join(symfs, "opt"))
    with open(program, "rb") as file, open(os.path.join(symfs, "real/nvictim"), "wb") as copy:
        copy.write(file.read())
    checks.expect("\nvictim," in names_of(cyclops, folder, symfs, capture), "--symfs: an absolute link does not lead inside")
    checks.count("links", 4)


def check_devices(checks, cyclops, writer, folder):
    """What is no file is not opened: a FIFO would wait, a device would answer for ever."""
    capture = write_capture(writer, folder, "fifo", b"fifo")
    symfs = os.path.join(folder, "symfs-fifo")
    os.makedirs(os.path.join(symfs, "opt"))
    os.mkfifo(os.path.join(symfs, "opt/nfifo"))
    checks.expect(ask(cyclops, folder, "hot", "--symfs", symfs, capture).returncode == 0, "a FIFO in place of a program")
    os.unlink(os.path.join(symfs, "opt/nfifo"))
    os.symlink("/dev/zero", os.path.join(symfs, "opt/nfifo"))
    checks.expect(ask(cyclops, folder, "hot", "--symfs", symfs, capture).returncode == 0, "a device in place of a program")
    os.unlink(os.path.join(symfs, "opt/nfifo"))
    with open(os.path.join(symfs, "opt/nfifo"), "wb") as file:
        file.write(b"\x7fELF")
        file.truncate(100 << 30)
    checks.expect(ask(cyclops, folder, "hot", "--symfs", symfs, capture).returncode == 0, "a file of 100 GiB in place of a program")
    checks.count("devices", 3)


def opened_by(cyclops, folder, *words):
    """The paths that the program looks at, as they are written."""
    log = os.path.join(folder, "trace")
    done = subprocess.run(["strace", "-f", "-s", "100000", "-e", "trace=file", "-o", log, cyclops, *words], cwd=folder,
                          env=ENVIRONMENT | {"ASAN_OPTIONS": "detect_leaks=0"},  # which cannot work under strace
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    with open(log, "rb") as file:
        return done, [match[1].decode("unicode_escape").encode("latin-1") for match in re.finditer(rb'"((?:[^"\\]|\\.)*)"', file.read())]


def links_to(folder, name):
    """Ways to say where a file of the folder `outside` is; those of a path are for links that may be one."""
    target = os.path.join(folder, "outside", name)
    ups = "../" * 20 + target[1:]
    return {"up": "../outside/" + name, "two up": "../../outside/" + name, "many up": ups, "absolute": target,
            "down and up": "opt/../../outside/" + name,
            "with a NUL": "plain\0" + ups, "with a line": "a\n" + ups, "twice a slash": "/" + target, "a folder": "..", "itself": ".",
            "nothing": "", "long": "../" * 30000 + target[1:], "of a long name": "n" * 70000}


def debug_info(address, size):
    """DWARF of a function whose name is in the file that .gnu_debugaltlink names."""
    name = b"\x03\xa1\x3e"  # DW_AT_name, DW_FORM_GNU_strp_alt
    span = b"\x11\x01\x12\x07\0\0"  # from an address on, so many bytes
    abbreviations = b"\x01\x11\x01" + name + span + b"\x02\x2e\0" + name + span + b"\0"
    entry = struct.pack("<IQQ", 0, address, size)
    unit = struct.pack("<HIB", 4, 0, 8) + b"\x01" + entry + b"\x02" + entry + b"\0"
    return {".debug_info": struct.pack("<I", len(unit)) + unit, ".debug_abbrev": abbreviations}


def split_unit(kind, address, size, *names):
    """A unit that has its contents in another file, or the other one: kinds 4 and 5 of DWARF 5."""
    attributes = b"\x76\x08\x1b\x08\x11\x01\x12\x07" if kind == 4 else b""  # dwo_name, comp_dir, from an address on, so many bytes
    entry = b"\x01" + b"".join(name + b"\0" for name in names) + (struct.pack("<QQ", address, size) if kind == 4 else b"")
    unit = struct.pack("<HBBIQ", 5, kind, 8, 0, 0x1234567890) + entry
    end = ".dwo" if kind == 5 else ""
    return {".debug_info" + end: struct.pack("<I", len(unit)) + unit,
            ".debug_abbrev" + end: b"\x01" + (b"\x4a" if kind == 4 else b"\x11") + b"\0" + attributes + b"\0\0\0"}


def check_splits(checks, cyclops, writer, folder):
    """Files of split DWARF are taken from beside the program, and from nowhere else."""
    opt, outside = os.path.join(folder, "root", "opt"), os.path.join(folder, "outside")
    code = {"own": [0xD503201F] * 8}
    for place in (opt, outside):
        small_elf.write(os.path.join(place, "leaked.dwo"), code, sections=split_unit(5, 0, 0))
    small_elf.write(os.path.join(opt, "other.dwo"), code, sections={
        name: data.replace(b"\x90\x78", b"\x91\x78") for name, data in split_unit(5, 0, 0).items()})
    os.mkfifo(os.path.join(opt, "fifo.dwo"))
    os.symlink(os.path.join(outside, "leaked.dwo"), os.path.join(opt, "link.dwo"))
    os.symlink(outside, os.path.join(opt, "linked"))
    cases = {f"split file {way}": (link.partition("\0")[0].encode(), b"/build", False)
             for way, link in links_to(folder, "leaked.dwo").items()}
    cases |= {f"folder of a split file {way}": (b"leaked.debug", os.path.dirname(link.partition("\0")[0]).encode() or b".", False)
              for way, link in links_to(folder, "leaked.debug").items()}
    cases |= {"beside": (b"leaked.dwo", outside.encode(), True), "beside, another unit": (b"other.dwo", outside.encode(), False),
              "beside, of the folder": (b"leaked.dwo", b".", True), "beside, twice a slash": (b".//leaked.dwo", b".", True),
              "a FIFO": (b"fifo.dwo", b".", False), "a link": (b"link.dwo", b".", False), "of a link": (b"linked/leaked.dwo", b".", False),
              "up from a link": (b"linked/../leaked.dwo", b".", False), "below --symfs": (b"leaked.dwo", opt.encode(), True)}
    for what, (name, place, is_found) in cases.items():
        sections = split_unit(4, small_elf.BASE + small_elf.TEXT, 32, name, place)
        capture = write_capture(writer, folder, "splits", b"own", sections=sections, program=b"/opt/split")
        done, paths = opened_by(cyclops, folder, "hot", "--by", "line", "--symfs", "root", capture)
        checks.expect(done.returncode == 0, f"{what}: exit status {done.returncode}: {done.stderr[-300:]}")
        looked = [path for path in paths if os.path.normpath(os.path.join(os.fsencode(folder), path)).startswith(os.fsencode(outside))]
        checks.expect(not looked, f"{what}: looks at {[path[:100] for path in looked]}")
        checks.expect((b".dwo files were not found" in done.stdout + done.stderr) != is_found, f"{what}: {done.stdout} {done.stderr}")
        checks.count("split files")


def check_links(checks, cyclops, writer, folder):
    """Names of debug files in binaries, build-ids and recorded folders lead to no file but below --symfs and --debug-dir."""
    if shutil.which("strace") is None or subprocess.run(["strace", "true"], capture_output=True, check=False).returncode != 0:
        print("skipped: strace cannot be used here, so what links of binaries lead to is not seen")
        return
    outside = os.path.join(folder, "outside")
    os.makedirs(outside)
    os.makedirs(os.path.join(folder, "debug", "opt"))
    os.makedirs(os.path.join(folder, "root", "a"))
    with open(os.path.join(folder, "debug", "opt", "none"), "wb"):
        pass
    note = struct.pack("<III4s8s", 4, 8, 3, b"GNU\0", b"../../..")
    small_elf.write(os.path.join(outside, "leaked.debug"), {"leaked": [0xD503201F] * 8}, sections={".note.gnu.build-id": note})
    with open(os.path.join(outside, "leaked.debug"), "rb") as file:
        crc = struct.pack("<I", zlib.crc32(file.read()))
    cases = {"recorded folder": (b"/../outside/program", {".gnu_debuglink": b"leaked.debug\0\0\0\0" + crc}),
             "recorded folder, down and up": (b"/a/../../outside/program", {".gnu_debuglink": b"leaked.debug\0\0\0\0" + crc}),
             "build-id": (b"/opt/id", {".note.gnu.build-id": note}),
             "long build-id": (b"/opt/id", {".note.gnu.build-id": struct.pack("<III4s", 4, 4096, 3, b"GNU\0") + b"../." * 1024}),
             "build-id of another size": (b"/opt/id", {".note.gnu.build-id": struct.pack("<III4s", 4, 0xFFFFFFF0, 3, b"GNU\0") + b"../."})}
    for way, link in links_to(folder, "leaked.debug").items():
        words = link.encode() + b"\0"
        cases[f"debuglink {way}"] = (b"/opt/link", {".gnu_debuglink": words + bytes(-len(words) % 4) + crc})
        cases[f"debugaltlink {way}"] = (b"/opt/link", {".gnu_debugaltlink": words + b"../../..",
                                                       **debug_info(small_elf.BASE + small_elf.TEXT, 32)})
    for what, (program, sections) in cases.items():
        capture = write_capture(writer, folder, "links", b"own", sections=sections, program=program)
        done, paths = opened_by(cyclops, folder, "annotate", "own", "--symfs", "root", "--debug-dir", "debug", capture)
        checks.expect(done.returncode == 0 and b"own" in done.stdout, f"{what}: exit status {done.returncode}: {done.stderr[-300:]}")
        seen = [path for path in paths if os.path.normpath(os.path.join(os.fsencode(folder), path)).startswith(os.fsencode(outside))]
        checks.expect(not seen, f"{what}: looks at {[path[:100] for path in seen]}")
        checks.expect(b"leaked" not in done.stdout, f"{what}: names are of a file outside")
        checks.count("links of binaries")
    beside = {".gnu_debuglink": b"beside.debug\0\0\0\0" + crc}
    shutil.copy(os.path.join(outside, "leaked.debug"), os.path.join(folder, "root/opt/beside.debug"))
    capture = write_capture(writer, folder, "links", b"own", sections=beside, program=b"/opt/link")
    paths = opened_by(cyclops, folder, "annotate", "own", "--symfs", "root", "--debug-dir", "debug", capture)[1]
    checks.expect(any(path.endswith(b"root/opt/beside.debug") for path in paths), "a debug file beside its program is not looked at")
    check_splits(checks, cyclops, writer, folder)


def main():
    cyclops, writer = (os.path.abspath(path) for path in sys.argv[1:])
    checks = Checks()
    run(cyclops, "--version")
    with tempfile.TemporaryDirectory(prefix="cyclops-names-") as folder:
        check_names(checks, cyclops, writer, folder)
        check_formats(checks, cyclops, writer, folder)
        check_symfs(checks, cyclops, writer, folder)
        check_devices(checks, cyclops, writer, folder)
        check_links(checks, cyclops, writer, folder)
    checks.finish()


if __name__ == "__main__":
    main()
