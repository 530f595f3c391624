# SPDX-License-Identifier: Apache-2.0
"""Writes an AArch64 program of a few functions, so that tests need no compiler."""

import struct

BASE = 0x400000
TEXT = 0x1000  # offset of the code in the file, and from BASE in memory


def align(data, to):
    return data + bytes(-len(data) % to)


def write(path, functions, aliases=None, sections=None):
    """
    `functions`: {name: [instruction words]}. Returns {name: address of its start}. Names may have any bytes: surrogates.
    `aliases`: {weak name: the function that it is another name of}. `sections`: {name: its bytes}, beside what it takes.
    """
    code, addresses, names = b"", {}, b"\0"
    symbols = bytes(24)
    for name, words in functions.items():
        addresses[name] = BASE + TEXT + len(code)
        body = b"".join(struct.pack("<I", word) for word in words)
        symbols += struct.pack("<IBBHQQ", len(names), 0x12, 0, 1, addresses[name], len(body))
        names += name.encode(errors="surrogateescape") + b"\0"
        code += body
    for alias, name in (aliases or {}).items():
        symbols += struct.pack("<IBBHQQ", len(names), 0x22, 0, 1, addresses[name], 4 * len(functions[name]))
        names += alias.encode() + b"\0"
    sections = sections or {}
    sections_names = b"\0.text\0.symtab\0.strtab\0.shstrtab\0" + b"".join(name.encode() + b"\0" for name in sections)
    data, table = bytes(TEXT) + code, []

    def add(name, kind, flags, address, content, link=0, info=0, entry=0):
        nonlocal data
        data = align(data, 8)
        table.append(struct.pack("<IIQQQQIIQQ", sections_names.index(name), kind, flags, address,
                                 len(data), len(content), link, info, 8, entry))
        data += content

    table.append(bytes(64))
    table.append(struct.pack("<IIQQQQIIQQ", sections_names.index(b".text"), 1, 6, BASE + TEXT, TEXT,
                             len(code), 0, 0, 4, 0))
    add(b".symtab", 2, 0, 0, symbols, 3, 1, 24)
    add(b".strtab", 3, 0, 0, names)
    add(b".shstrtab", 3, 0, 0, sections_names)
    for name, content in sections.items():
        add(name.encode() + b"\0", 7 if name.startswith(".note") else 1, 0, 0, content)
    data = align(data, 8)
    header = struct.pack("<16sHHIQQQIHHHHHH", b"\x7fELF\2\1\1", 2, 183, 1, BASE + TEXT, 64, len(data),
                         0, 64, 56, 1, 64, len(table), 4)
    header += struct.pack("<IIQQQQQQ", 1, 5, 0, BASE, BASE, TEXT + len(code), TEXT + len(code), 0x1000)
    data = header + data[len(header):] + b"".join(table)
    with open(path, "wb") as file:
        file.write(data)
    return addresses
