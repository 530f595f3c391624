# SPDX-License-Identifier: Apache-2.0
"""What binutils' objdump says of code, and texts brought to one spelling; for tests that compare."""

import re
import subprocess

LINE = re.compile(r" *(?P<address>[0-9a-f]+):\t(?P<bytes>[0-9a-f ]+)\t?(?P<text>.*)")
ANY_NUMBER = re.compile(r"(?<![\w%.])-?(?:0x[0-9a-f]+|\d+)\b(?!\.)")


def machine_of(path):
    """The ELF machine number of a file."""
    with path.open("rb") as file:
        head = file.read(20)
    return int.from_bytes(head[18:20], "little") if head[:4] == b"\x7fELF" else 0


def text_section(objdump, path):
    """(address, bytes) of .text; None if there is none."""
    out = subprocess.run([objdump, "-h", "-w", path], text=True, capture_output=True, check=True)
    for line in out.stdout.splitlines():
        words = line.split()
        if len(words) > 5 and words[1] == ".text":
            size, address, offset = int(words[2], 16), int(words[3], 16), int(words[5], 16)
            with path.open("rb") as file:
                file.seek(offset)
                return address, file.read(size)
    return None


def theirs(objdump, path, *options):
    """{address: (size, text)} of objdump."""
    command = [objdump, "-d", "-w", "-z", *(options if "-j" in options else ("-j", ".text", *options)), path]
    found = {}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, errors="replace") as process:
        for line in process.stdout:
            if match := LINE.fullmatch(line.rstrip("\n")):
                found[int(match["address"], 16)] = (len(match["bytes"].replace(" ", "")) // 2, match["text"])
    return found


def ours(disassemble, isa, syntax, address, code):
    """{address: (size, text)} of cyclops."""
    out = subprocess.run([disassemble, isa, syntax, f"{address:x}"], input=code, capture_output=True, check=True)
    found = {}
    for line in out.stdout.decode().splitlines():
        words = line.split("\t")
        found[int(words[0], 16)] = (int(words[1]), words[5])
    return found


def plain(text):
    """Without names of addresses, remarks, runs of blanks; numbers decimal."""
    text = re.split(r"\s+(?:// |# )|\s+;\s", text)[0]
    text = re.sub(r"\b([0-9a-f]+) <[^>]*(?:<[^>]*>[^>]*)*>$", r"0x\1", text)
    text = re.sub(r"\s+", " ", text).strip().replace(", ", ",")
    return ANY_NUMBER.sub(lambda found: str(int(found[0], 16 if "x" in found[0] else 10)), text)


def wrapped(bits):
    """Negative numbers as the unsigned ones of this many bits."""
    return lambda match: str(int(match[0]) % (1 << bits))


def same_by_rules(their, our, rules, counts):
    """Whether texts are equal once rules (name, pattern, replacement) were applied to both; counts the rules needed."""
    for name, pattern, replacement in rules:
        if their == our:
            break
        before = their, our
        their, our = (re.sub(pattern, replacement, text) for text in before)
        counts[name] += before != (their, our)
    return their == our
