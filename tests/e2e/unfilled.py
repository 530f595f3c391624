# SPDX-License-Identifier: Apache-2.0
"""
Columns that have no value in any answer to the questions of schema.py, by the reason. A column that is neither here nor
ever filled has a cell that was forgotten; one that is here and is filled has to be taken off the list.
"""

# {why: {command and table: columns}}
UNFILLED = {
    "the table of findings is one for all kinds, each of which fills some; these captures and counts have not all kinds": {
        "c2c findings": "objects slice_0 slice_1 slice_2",
        "report findings": "predicted_gain cause from part all unit caller caller_file caller_line affected_share mean_cycles mean_cycles_of_all "
                           "coverage least_coverage spread",
        "report evidence": "issue event value threshold scalar_share penalty_cycles is_estimate lines_per_page",
        "report loops": "register_chain_cycles division_cycles prefetch prefetch_file prefetch_line prefetch_distance "
                        "prefetch_lacks",
        "run findings": "predicted_gain cause caller caller_file caller_line affected_share mean_cycles mean_cycles_of_all coverage "
                        "least_coverage spread",
        "run evidence": "threshold scalar_share",
        "run loops": "register_chain_cycles division_cycles division_wait_cycles stride_bytes prefetch prefetch_file "
                     "prefetch_line prefetch_distance prefetch_lacks",
        "stat findings": "from share_error predicted_gain what_if writer_file writer_line subject function module place file line caller caller_file caller_line writer event "
                         "affected_share mean_cycles mean_cycles_of_all samples all_samples sampled samples_error spread",
        "stat evidence": "metric threshold scalar_share part all lines_per_page",
    },
    "a table of several conditions and ways to ask, which are not all asked for": {
        "c2c gates": "measure measured_low measured_high",
        "diff gates": "measure measured_low measured_high",
        "hot gates": "measure",
        "kernel gates": "measure",
        "mem gates": "measure",
        "run gates": "measure measured_low measured_high",
        "stat gates": "measure measured_low measured_high",
        "diff metrics": "event module error a_samples b_samples a_full_share b_full_share",
        "diff events": "event module error a_samples b_samples a_full_share b_full_share",
        "diff regions": "event module error a_samples b_samples a_full_share b_full_share",
        "diff totals": "module",
        "diff sources": "module",
        "diff instructions": "a_full_share b_full_share",
        "diff lines": "a_full_share b_full_share",
        "diff cycles": "module a_full_share b_full_share",
        "diff shared": "module b_samples a_full_share b_full_share",
        "hot elapsed": "time_share time_ns ns_per_operation cycles_per_operation",
        "report elapsed": "cycles_per_operation",
        "mem functions": "total_p50_cycles total_p90_cycles total_p99_cycles total_max_cycles total_mean_ns execution_p50_cycles "
                         "execution_p90_cycles execution_p99_cycles execution_max_cycles execution_mean_ns issue_p50_cycles "
                         "issue_p90_cycles issue_p99_cycles issue_max_cycles issue_mean_ns translation_p50_cycles "
                         "translation_p90_cycles translation_p99_cycles translation_max_cycles translation_mean_ns "
                         "access_p50_cycles access_p90_cycles access_p99_cycles access_max_cycles access_mean_ns",
        "mem sources": "total_mean_ns execution_mean_ns issue_mean_ns translation_mean_ns access_mean_ns",
        "run sweep": "cycles instructions ipc status",
        "run run": "date runs counters least_coverage exit_status",
        "kernel penalties": "not_written",
        "kernel events": "factor kernel iteration least most counted",
        "fleet gates": "measure",
        "fleet sharing": "share_error",
        "fleet counts": "ipc ipc_error pki pki_error per_cycle per_cycle_error",
        "fleet top": "share_error",
        "fleet changed": "change_error significant",
        "fleet history": "share_error",
    },
    "only other captures have it: of other CPUs, recorders and kernels, with symbols, paths or counts that these lack": {
        "annotate function": "shortage",
        "annotate instructions": "target_name",
        "blocks blocks": "inlined cost_underutilization cost_Wrong_path_cycles",
        "blocks edges": "to_name",
        "c2c lines": "object_frame object_tid",
        "c2c accesses": "mean_peer_remote_cycles mean_hitm_local_cycles mean_hitm_remote_cycles",
        "c2c layouts": "role",
        "calls calls": "call_records returns_per_call",
        "calls callers": "via call_records returns_per_call",
        "calls callees": "via call_records returns_per_call",
        "cycles cycles": "cap overlap",
        "export branches": "spec priv",
        "export spe": "branch prev_target",
        "export samples": "addr weight data_src weight2 weight3 paddr",
        "list events": "note",
        "report capture": "start_ns other_trace",
        "report user_code": "file line",
        "run capture": "start_ns other_trace",
        "stat counts": "cpu tid where spread pmu",
        "stat cycles": "samples cycles_se overlap",
        "stat metrics": "spread",
        "stat regions": "kind claim",
        "stat run": "counters exit_status",
    },
}

# What these fill depends on programs that run here, and on which question is asked of which sample: unless all are asked,
# they are not judged.
AT_TIMES = {"c2c", "diff", "fleet", "kernel", "report", "run", "stat"}


def known():
    """Whatever is on the list, as (command, table, column)."""
    return {(*where.split(), column) for tables in UNFILLED.values() for where, columns in tables.items() for column in columns.split()}
