# SPDX-License-Identifier: Apache-2.0
# CYCLOPS_OUT=- python3 example.py
import array

import cyclops_measure

m = cyclops_measure.Measure()


@m.region("add")
def add(numbers):
    return sum(numbers)


with m.region("fill"):
    filled = array.array("d", range(1 << 20))
for _ in range(3):
    add(filled)
m.close()
