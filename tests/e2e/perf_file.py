# SPDX-License-Identifier: Apache-2.0
"""Finds the trace data in a perf.data file, so that tests can put other bytes there."""

import struct

AUXTRACE = 71
HEADER_BYTES = 104
RECORD_HEADER = struct.Struct("<IHH")
AUXTRACE_BODY = struct.Struct("<QQQIIII")


class Chunk:
    """The data behind an AUXTRACE record: bytes [start, end) of the file."""

    def __init__(self, start, size, offset, cpu):
        self.start = start
        self.end = start + size
        self.size = size
        self.offset = offset  # in the trace of its CPU
        self.cpu = cpu


def records(data):
    """(position, type, size with the data that follows) of the records of a file's bytes."""
    if data[:8] != b"PERFILE2" or len(data) < HEADER_BYTES:
        raise ValueError("not a perf.data file")
    position, length = struct.unpack_from("<QQ", data, 40)
    end = position + length
    while position + RECORD_HEADER.size <= end:
        kind, _, size = RECORD_HEADER.unpack_from(data, position)
        if kind == AUXTRACE:
            size += struct.unpack_from("<Q", data, position + RECORD_HEADER.size)[0]
        yield position, kind, size
        position += size


def chunks(data):
    """The chunks of trace data, in file order."""
    found = []
    for position, kind, _ in records(data):
        if kind != AUXTRACE:
            continue
        fixed = RECORD_HEADER.size + AUXTRACE_BODY.size
        size, offset, _, _, _, cpu, _ = AUXTRACE_BODY.unpack_from(
            data, position + RECORD_HEADER.size)
        found.append(Chunk(position + fixed, size, offset, cpu))
    return found
