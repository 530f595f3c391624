#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""
The plugin has a heap of its own (model/shared_memory.h): nothing in it calls functions of the C library that take memory
of the C library's heap, or give private memory where the plugin has functions for shared memory.

usage: plugin_heap.py PLUGIN
"""

import shutil
import subprocess
import sys

from harness import Checks, skip

# Private memory is malloc()'s; the others are what the heap's functions fall back to.
USED = {"malloc", "malloc_usable_size", "free"}
OTHERS = {"calloc", "realloc", "reallocarray", "aligned_alloc", "posix_memalign", "getline", "getdelim"}


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if not shutil.which("readelf"):
        skip("needs readelf")
    # What is called has a relocation; lld leaves names that --wrap has replaced among the symbols.
    lines = subprocess.run(["readelf", "-rW", sys.argv[1]], capture_output=True, text=True, check=True).stdout.splitlines()
    names = {word.split("@")[0] for line in lines for word in line.split()[4:5]}
    checks = Checks()
    checks.equal("functions of the C library's heap", sorted(names & (USED | OTHERS)), sorted(USED))
    checks.finish()


if __name__ == "__main__":
    main()
