# SPDX-License-Identifier: Apache-2.0
"""Writes an AArch64 program of a few functions, so that tests need no compiler; gives functions of others new names."""

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


def rename(path, copy, name_of, strings=None):
    """
    A copy of a 64-bit program whose functions have other names: `name_of`(bytes) gives bytes of any length. `strings`: {whole string
    of DWARF: its bytes, no longer}; they are replaced where they are.
    """
    with open(path, "rb") as file:
        data = bytearray(file.read())
    for old, new in (strings or {}).items():
        data = data.replace(b"\0" + old + b"\0", b"\0" + new.ljust(len(old), b"_") + b"\0")
    table, n = struct.unpack_from("<Q", data, 40)[0], struct.unpack_from("<H", data, 60)[0]
    sections = [struct.unpack_from("<IIQQQQIIQQ", data, table + 64 * i) for i in range(n)]
    for _, kind, _, _, offset, size, link, _, _, entry in sections:
        if kind != 2:  # SHT_SYMTAB
            continue
        names, old_names = bytearray(b"\0"), sections[link][4]
        for at in range(offset, offset + size, entry):
            name = bytes(data[old_names + struct.unpack_from("<I", data, at)[0]:]).split(b"\0", 1)[0]
            struct.pack_into("<I", data, at, len(names))
            names += (name_of(name) if data[at + 4] & 15 == 2 else name) + b"\0"  # STT_FUNC
        struct.pack_into("<QQ", data, table + 64 * link + 24, len(data), len(names))
        data += names
    with open(copy, "wb") as file:
        file.write(data)
