# SPDX-License-Identifier: Apache-2.0
"""Writes SPE packets, by docs/reference/spe-packets.md and by nothing else of this project."""

import struct

PC, TARGET, VA, PA, PREVIOUS = range(5)
TOTAL, ISSUE, XLAT = range(3)
OTHER, LDST, BRANCH = range(3)
END = b"\x01"
MAX_PAD = 40


def indexed(base, index, payload, extended):
    """Address and counter packets: their extended form has five bits of index."""
    if extended or index > 7:
        return bytes([0x20 | index >> 3, base | index & 7]) + payload
    return bytes([base | index]) + payload


def address(index, value, extended=False):
    return indexed(0xB0, index, struct.pack("<Q", value), extended)


def code(index, value, level, secure=False, extended=False):
    """A code address with the level that it runs at."""
    return address(index, value & (1 << 56) - 1 | level << 61 | (not secure) << 63, extended)


def counter(index, cycles, extended=False):
    return indexed(0x98, index, struct.pack("<H", cycles), extended)


def context(level, value):
    return bytes([0x64 | level - 1]) + struct.pack("<I", value)


def operation(kind, payload):
    return bytes([0x48 | kind, payload])


def sized(base, value, size):
    return bytes([base | size.bit_length() - 1 << 4]) + value.to_bytes(size, "little")


def events(bits, size=2):
    return sized(0x42, bits, size)


def source(value, size=1):
    return sized(0x43, value, size)


def timestamp(ticks):
    return b"\x71" + struct.pack("<Q", ticks)


ODD_ADDRESSES = (0, 1, 0xFFFFFFFFFFFFFF, 0xF0000000000000, 0x0F123456789ABC, 0xFF000000000000)


def some_address(random, region):
    """Mostly in the region, sometimes anywhere, sometimes at an edge."""
    kind = random.random()
    if kind < 0.8:
        return region + random.randrange(1 << 20) * 4
    return random.choice(ODD_ADDRESSES) if kind < 0.85 else random.getrandbits(64)


class Wild:
    """
    Records such as no CPU makes, but any may: packets in any order, any operation, any sizes,
    extended headers, packets left out, packets without a meaning so far, padding between them.
    """

    def __init__(self, random, regions, threads):
        self.random = random
        self.text, self.data = regions
        self.threads = threads  # ids for the context packets; none: no such packets
        self.with_repeats = False

    def maybe(self, share, make):
        return [make()] if self.random.random() < share else []

    def extended(self):
        return self.random.random() < 0.05

    def code(self, index):
        r = self.random
        return code(index, some_address(r, self.text), r.choice((0, 0, 0, 1, 2, 2, 3)),
                    r.random() < 0.03, self.extended())

    def cycles(self):
        r = self.random
        return r.choice((0, 4095, 65535)) if r.random() < 0.05 else r.getrandbits(r.choice((4, 9, 12, 16)))

    def events(self):
        r = self.random
        size = r.choice((1, 2, 2, 2, 4, 8))
        bits = r.getrandbits(8 * size)
        return events(bits & r.getrandbits(8 * size) if r.random() < 0.7 else bits, size)

    def source(self):
        r = self.random
        size = r.choice((1, 1, 1, 1, 2, 4, 8))
        value = r.choice((0, 8, 9, 10, 11, 12, 13, 14)) if r.random() < 0.7 else r.getrandbits(8 * size)
        return source(value, size)

    def operation(self):
        r = self.random
        payload = r.choice((0, 1, 4, 5)) if r.random() < 0.2 else r.getrandbits(8)
        return operation(r.choice((OTHER, LDST, LDST, BRANCH)), payload)

    def packets(self):
        """The packets of one record, the last one left out."""
        r = self.random
        packets = [self.code(PC)]
        if self.threads:
            packets.append(context(r.choice((1, 1, 2, 2, 2, 3, 4)), r.choice(self.threads)))
        packets += self.maybe(0.95, self.operation)
        packets += self.maybe(0.9, self.events)
        packets += self.maybe(0.9, lambda: counter(TOTAL, self.cycles(), self.extended()))
        packets += self.maybe(0.8, lambda: counter(ISSUE, self.cycles(), self.extended()))
        packets += self.maybe(0.5, lambda: counter(XLAT, self.cycles(), self.extended()))
        packets += self.maybe(0.6, lambda: address(VA, some_address(r, self.data), self.extended()))
        packets += self.maybe(0.4, lambda: address(PA, some_address(r, self.data), self.extended()))
        packets += self.maybe(0.3, lambda: self.code(TARGET))
        packets += self.maybe(0.1, lambda: self.code(PREVIOUS))
        packets += self.maybe(0.5, self.source)
        packets += self.maybe(0.05, lambda: address(r.randrange(5, 32), r.getrandbits(64)))
        packets += self.maybe(0.05, lambda: counter(r.randrange(3, 32), self.cycles()))
        if self.with_repeats:
            packets += self.maybe(0.1, self.events)
            packets += self.maybe(0.1, self.source)
            packets += self.maybe(0.1, lambda: self.code(PC))
            packets += self.maybe(0.1, lambda: counter(TOTAL, self.cycles()))
            packets += self.maybe(0.1, lambda: address(VA, some_address(r, self.data)))
        if r.random() < 0.5:
            r.shuffle(packets)
        return packets

    def record(self, ticks):
        """The packets of one record, padding among them; without ticks it ends with END."""
        r = self.random
        out = []
        for packet in self.packets():
            out.append(packet)
            if r.random() < 0.1:
                out.append(bytes(r.randrange(MAX_PAD)))
        out.append(END if ticks is None else timestamp(ticks))
        return out


class Trace:
    """
    The trace of one CPU, chunk by chunk. Records go on in the next chunk, but no packet is cut
    in two: a chunk ends with padding where the next packet has no room.
    """

    def __init__(self, wild, ticks, gap, share_without_time=0.0):
        self.wild = wild
        self.ticks = ticks
        self.gap = gap
        self.share_without_time = share_without_time
        self.waiting = []  # packets

    def next_ticks(self):
        random = self.wild.random
        self.ticks += random.randrange(self.gap)
        return None if random.random() < self.share_without_time else self.ticks

    def chunk(self, size):
        out = bytearray()
        while len(out) + len(self.waiting[0] if self.waiting else b"") <= size:
            if self.waiting:
                out += self.waiting.pop(0)
            else:
                self.waiting = self.wild.record(self.next_ticks())
        return bytes(out.ljust(size, b"\0"))
