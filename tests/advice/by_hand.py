# SPDX-License-Identifier: Apache-2.0
"""
Arm's published method for the Neoverse N1, by thresholds alone: what somebody would say first who has counts of
`perf stat` and the Neoverse N1 performance analysis methodology, and does not look at the code.

Stalled cycles of front and back end, then the rates of the side that is stalled more, each against its threshold,
the one that is furthest above it first, then that paper's suggestion for it.
"""

FRONT_END_LEAST, BACK_END_LEAST = 0.10, 0.20  # of the cycles

# Metric, events, least for each 1000 instructions, remedy.
FRONT_END = [
    ("branch_mpki", "BR_MIS_PRED_RETIRED", 10, "branch-free"),
    ("itlb_mpki", "ITLB_WALK", 1, "code-pages"),
    ("l1i_cache_mpki", "L1I_CACHE_REFILL", 20, "code-order"),
]
BACK_END = [
    ("dtlb_mpki", "DTLB_WALK", 1, "huge-pages"),
    ("l1d_cache_mpki", "L1D_CACHE_REFILL", 20, "cache-l1"),
    ("l2_cache_mpki", "L2D_CACHE_REFILL", 10, "cache"),
    ("ll_cache_read_mpki", "LL_CACHE_MISS_RD", 10, "cache"),
]


def first(counts):
    """The first finding, in the form of cyclops' own; None: nothing is above its threshold."""
    events = {name: event["count"] for name, event in counts["events"].items()}
    cycles, thousands = events["CPU_CYCLES"], events["INST_RETIRED"] / 1000
    front, back = events["STALL_FRONTEND"] / cycles, events["STALL_BACKEND"] / cycles

    def largest(rates):
        above = [(events[event] / thousands / least, metric, remedy) for metric, event, least, remedy in rates]
        return max((row for row in above if row[0] > 1), default=None)

    if back > BACK_END_LEAST and back >= front:
        share, rate, other = back, largest(BACK_END), ("backend_stalled_cycles", "core")
    elif front > FRONT_END_LEAST:
        share, rate, other = front, largest(FRONT_END), ("frontend_stalled_cycles", "front-end")
    else:
        share, rate, other = None, largest(FRONT_END[:1]), None  # mispredictions may hide in what is not stalled
    kind, remedy = rate[1:] if rate else other or (None, None)
    return kind and {"kind": kind, "remedy_id": remedy, "function": None, "module": None, "share": share}
