#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
`clickhouse local` as `cyclops fleet` calls it, by chDB, the same engine as a library that pip brings: statements of the standard
input, each ended by ";" at the end of a line; answers as CSVWithNames.

usage: chdb_local.py local --multiquery --format CSVWithNames < SCRIPT
"""

import sys
import tempfile

from chdb import session


def main():
    if sys.argv[1:] == ["-version"]:
        return
    with tempfile.TemporaryDirectory() as folder:
        engine = session.Session(folder)
        for statement in sys.stdin.read().split(";\n"):
            if statement.strip():
                sys.stdout.buffer.write(engine.query(statement, "CSVWithNames").bytes())
        engine.close()


if __name__ == "__main__":
    main()
