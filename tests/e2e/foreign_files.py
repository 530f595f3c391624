#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
Files that are not perf.data as perf writes it today: raw SPE buffers, captures that zstd, gzip or xz compressed as a whole, and
perf.data of version 1.

usage: foreign_files.py CYCLOPS MAKE-CAPTURE

The packets of a raw buffer are those that perf script -D prints of a capture that holds the same bytes, its records
those of that capture without what only the capture knows. Raw buffers of WindowsPerf, and their rows as spe-parser
wrote them, are in the folder that CYCLOPS_NEIGHBOURS names.
"""

import ctypes
import ctypes.util
import gzip
import lzma
import os
import random
import re
import struct
import subprocess
import sys
import tarfile
import tempfile

import perf_file
import spe_bytes as spe
from harness import Checks, ENVIRONMENT, NO_DATA, csv_rows, need, run

# What a buffer does not tell.
UNKNOWN = ("cpu", "pid", "time_ns")
PACKETS = re.compile(rb"^\. \.\.\. ARM SPE data.*$", re.M)
SMALL_ATTR = 72
MIDR = "0x410fd0c1"  # make-capture's: Neoverse N1
ROWS = ("export", "--table", "spe", "--format", "csv")


def write(path, data):
    with open(path, "wb") as file:
        file.write(data)
    return path


def read(path):
    with open(path, "rb") as file:
        return file.read()


def packets_of(text):
    """The lines of packets of each chunk."""
    return [[line for line in part.splitlines() if re.match(rb"\.  [0-9a-f]{8}:", line)] for part in PACKETS.split(text)[1:]]


def thread_of(row):
    """The number of the context packet, as a thread: -1 is 4294967295."""
    number = int(row["context"], 16) if row["context"] else None
    return "" if number is None else str(number - (1 << 32) if number >> 31 else number)


def blank(rows):
    """Without what a buffer does not tell: the context packet alone knows the thread."""
    return [{**row, **dict.fromkeys(UNKNOWN, ""), "tid": thread_of(row)} for row in rows]


def check_buffers(checks, tools, folder):
    """Each chunk of a capture as a buffer of its own."""
    cyclops, maker = tools
    path, raw = os.path.join(folder, "capture.data"), os.path.join(folder, "spe.data")
    run(maker, "--output", path, "--cpus", 2, "--records", 4000, "--chunk", 65536)
    data = read(path)
    chunks = [chunk for chunk in perf_file.chunks(data) if chunk.size]
    theirs = [part for part in packets_of(run("perf", "script", "-D", "-i", path)) if part]
    checks.equal("chunks", [len(chunks)], [len(theirs)], "perf")
    found = []
    for chunk, lines in zip(chunks, theirs):
        write(raw, data[chunk.start:chunk.end])
        checks.equal("packets", sum(packets_of(run(cyclops, "dump", "--raw", "--packets", raw)), []), lines, "perf")
        found += csv_rows(cyclops, *ROWS, "--raw", "--midr", MIDR, raw)
    checks.equal("records", [tuple(row.items()) for row in found],
                 [tuple(row.items()) for row in blank(csv_rows(cyclops, *ROWS, path))], "the capture")
    without = csv_rows(cyclops, *ROWS, "--raw", raw)
    checks.expect(all(re.fullmatch("(0x[0-9a-f]+)?", row["source"]) for row in without), "sources have names without a CPU")


def check_wild(checks, tools, folder):
    """Records as no CPU makes them, some of them damaged, beside the same bytes in a capture."""
    cyclops, maker = tools
    path, raw = os.path.join(folder, "capture.data"), os.path.join(folder, "spe.data")
    run(maker, "--output", path, "--cpus", 1, "--records", 3000)
    data = bytearray(read(path))
    chunk = perf_file.chunks(data)[0]
    for seed in range(3):
        wild = spe.Wild(random.Random(seed), (0xAAAAC0000000, 0xFFFF40000000), (4000, 77))
        trace = bytearray(spe.Trace(wild, 1000, 100, 0.1).chunk(chunk.size))
        for _ in range(seed * 20):
            trace[wild.random.randrange(len(trace))] = wild.random.randrange(256)
        data[chunk.start:chunk.end] = trace
        whole = csv_rows(cyclops, *ROWS, write(path, data))
        ours = csv_rows(cyclops, *ROWS, "--raw", "--midr", MIDR, write(raw, trace))
        checks.equal("wild records", [tuple(row.items()) for row in ours],
                     [tuple(row.items()) for row in blank(whole[:len(ours)])], "the capture")


def check_windows_perf(checks, cyclops, folder):
    """Buffers of WindowsPerf, with spe-parser's rows."""
    shared = os.path.join(os.environ.get("CYCLOPS_NEIGHBOURS", ""), "wperf-spe")
    names = sorted(name for name in os.listdir(shared) if name.endswith(".raw")) if os.path.isdir(shared) else []
    for name in names:
        path, prefix = os.path.join(shared, name), os.path.join(folder, "out")
        run(cyclops, "export", "--raw", "--format", "spe-parser", "-o", prefix, path)
        checks.equal("files of spe-parser", [read(prefix + "-br.csv")], [read(path[:-4] + ".csv")], "spe-parser")
        checks.expect_failure("--raw", cyclops, "report", path)
        checks.expect_failure("leave out --raw", cyclops, "report", "--raw", path[:-4] + ".data")


def check_commands(checks, tools, folder):
    """Every command that reads captures takes a buffer, says what it lacks, and how to go on with it."""
    cyclops, maker = tools
    path, raw = os.path.join(folder, "capture.data"), os.path.join(folder, "spe.data")
    run(maker, "--output", path, "--cpus", 1, "--records", 4000)
    data = read(path)
    write(raw, b"".join(data[chunk.start:chunk.end] for chunk in perf_file.chunks(data)))
    commands = [line.split("\t")[0] for line in run(cyclops, "--list-commands").decode().splitlines()]
    takes = [name for name in commands if name != "help" and b" --raw " in run(cyclops, name, "--help")]
    checks.expect(len(takes) >= 13, f"only {takes} take --raw")
    for name in takes:
        paths = [raw, raw] if name == "diff" else [raw]
        done = subprocess.run([cyclops, name, "--raw", "--midr", MIDR, *paths], stdin=subprocess.DEVNULL,
                              capture_output=True, env=ENVIRONMENT, check=False)
        checks.expect(done.returncode in (0, NO_DATA), f"{name}: {done.returncode}: {done.stderr.decode()}")
        checks.expect(b"no time base, no mappings" in done.stderr, f"{name} does not say what a buffer lacks")
        for tip in re.findall(r"cyclops (?:annotate|hot|mem|c2c|addr|quality) [^\n]*" + re.escape(raw), done.stdout.decode()):
            checks.expect(f"--raw --midr {MIDR}" in tip, f"{name}: {tip}")
        checks.count("commands")
    checks.expect_failure("only a raw SPE buffer", cyclops, "report", "--midr", MIDR, path)
    checks.expect_failure("in hexadecimal", cyclops, "report", "--raw", "--midr", "n1", raw)


def compress(data):
    """A frame of zstd."""
    library = ctypes.CDLL(ctypes.util.find_library("zstd"))
    library.ZSTD_compressBound.restype = library.ZSTD_compress.restype = ctypes.c_size_t
    library.ZSTD_compressBound.argtypes = [ctypes.c_size_t]
    library.ZSTD_compress.argtypes = [ctypes.c_char_p, ctypes.c_size_t, ctypes.c_char_p, ctypes.c_size_t, ctypes.c_int]
    out = ctypes.create_string_buffer(library.ZSTD_compressBound(len(data)))
    size = library.ZSTD_compress(out, len(out), bytes(data), len(data), 3)
    return out.raw[:size]


# Each may stand twice in a file.
PACKERS = {"zst": compress, "gz": gzip.compress, "xz": lzma.compress}


def check_compressed(checks, tools, folder, packer):
    cyclops, maker = tools
    path, packed = os.path.join(folder, "capture.data"), os.path.join(folder, f"capture.data.{packer}")
    pack = PACKERS[packer]
    run(maker, "--output", path, "--cpus", 2, "--records", 3000, "--samples", 3000)
    data = read(path)
    for half in (len(data), len(data) // 2):
        frames = pack(data[:half]) + (pack(data[half:]) if half < len(data) else b"")
        write(packed, frames)
        for words in (ROWS, ("export", "--table", "samples", "--format", "csv"), ("report", "--format", "csv")):
            theirs = run(cyclops, *words, path)
            checks.equal("answers of compressed captures", [run(cyclops, *words, packed).replace(packed.encode(), path.encode())],
                         [theirs], "the capture")
        with open(packed, "rb") as file:
            done = subprocess.run([cyclops, *ROWS, "-"], stdin=file, capture_output=True, env=ENVIRONMENT, check=True)
        checks.equal("answers of compressed captures", [done.stdout], [run(cyclops, *ROWS, path)], "the capture")
    write(packed, frames[:len(frames) - 100])
    done = subprocess.run([cyclops, *ROWS, packed], capture_output=True, env=ENVIRONMENT, check=True)
    checks.expect(b"only a part of the compressed file" in done.stderr, f"cut: {done.stderr.decode()}")
    damaged = bytearray(frames)  # what zstd compresses at once has no checksum
    damaged[len(frames) // 3] ^= 0x5A
    write(packed, damaged)
    done = subprocess.run([cyclops, *ROWS, packed], capture_output=True, env=ENVIRONMENT, check=False)
    checks.expect(packer == "zst" or re.search(b"only a part of the compressed file|cannot decompress", done.stderr),
                  f"{packer}, damaged: {done.stderr.decode()}")
    write(packed, frames[:6])
    checks.expect_failure("cut off", cyclops, "report", packed)
    write(packed, pack(pack(data)))
    checks.expect_failure("compressed more than once", cyclops, "report", packed)
    with tarfile.open(os.path.join(folder, "archive"), "w") as archive:
        archive.add(path)
    write(packed, pack(read(os.path.join(folder, "archive"))))
    checks.expect_failure("an archive of tar", cyclops, "report", packed)


def with_small_attrs(data):
    """With attrs of 72 bytes, as recorders before version 2 wrote them: perf takes no others in version 1."""
    out = bytearray(data)
    entry, at, size = struct.unpack_from("<QQQ", data, 16)
    for i in range(size // entry):
        attr = data[at + i * entry:at + (i + 1) * entry]
        small = attr[:4] + struct.pack("<I", SMALL_ATTR) + attr[8:SMALL_ATTR] + attr[entry - 16:]
        out[at + i * len(small):at + (i + 1) * len(small)] = small
    struct.pack_into("<QQQ", out, 16, SMALL_ATTR + 16, at, size // entry * (SMALL_ATTR + 16))
    return out


def check_version_1(checks, tools, folder):
    """As perf reads it: the magic of version 1, with and without features."""
    cyclops, maker = tools
    path = os.path.join(folder, "capture.data")
    run(maker, "--output", path, "--cpus", 2, "--records", 100, "--samples", 2000)
    data = with_small_attrs(read(path))
    ours = run(cyclops, "dump", write(path, data))
    words = ("script", "-i", path, "--no-itrace", "-G", "-F", "pid,tid,time,ip")
    theirs = run("perf", *words)
    checks.equal("samples of perf", [theirs.count(b"\n") >= 2000], [True])
    data[:8] = b"PERFFILE"
    write(path, data)
    checks.equal("captures of version 1", [run(cyclops, "dump", path)], [ours], "version 2")
    checks.equal("captures of version 1, by perf", [run("perf", *words)], [theirs], "version 2")
    data[8:16] = (72).to_bytes(8, "little")
    write(path, data)
    checks.equal("captures of version 1", [run(cyclops, "dump", path)], [ours], "version 2")


def main():
    if len(sys.argv) != 3:
        sys.exit(__doc__)
    need("perf")
    tools = [os.path.abspath(tool) for tool in sys.argv[1:]]
    checks = Checks()
    with tempfile.TemporaryDirectory() as folder:
        check_buffers(checks, tools, folder)
        check_wild(checks, tools, folder)
        check_windows_perf(checks, tools[0], folder)
        check_commands(checks, tools, folder)
        for packer in PACKERS:
            check_compressed(checks, tools, folder, packer)
        check_version_1(checks, tools, folder)
    checks.finish()


if __name__ == "__main__":
    main()
