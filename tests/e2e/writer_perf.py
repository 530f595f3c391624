#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What perf makes of a file the writer wrote: writer_perf.py WRITE-CAPTURE.

Each check runs one command of the real perf on the file and looks for lines that hold values
write_capture.c put there. The expectations are those of perf 6.1. Without perf the test is
skipped, by name.
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile

SKIP = 77

# What must not be said about a sound file.
COMPLAINTS = re.compile(
    r"corrupt|malformed|failed|cannot|invalid|bad |incompatible|not found|unknown|out of order",
    re.IGNORECASE,
)


class Check:
    def __init__(self, folder):
        self.folder = folder
        self.failures = 0

    def run(self, arguments):
        """Output of perf on the capture; complaints and bad exit codes are failures."""
        command = ["perf"] + arguments + ["-i", os.path.join(self.folder, "perf.data")]
        environment = dict(os.environ, PERF_CONFIG="/dev/null", HOME=self.folder, LC_ALL="C")
        done = subprocess.run(
            command, capture_output=True, text=True, env=environment, check=False
        )
        self.name = "perf " + " ".join(arguments)
        self.expect(done.returncode == 0, f"exit code {done.returncode}: {done.stderr}")
        for line in done.stderr.splitlines():
            self.expect(not COMPLAINTS.search(line) or "kallsyms" in line, "says: " + line)
        return done.stdout

    def expect(self, holds, what):
        if not holds:
            self.failures += 1
            print(f"{self.name}: {what}")

    def lines(self, output, pattern, times):
        found = len(re.findall(pattern, output, re.MULTILINE))
        self.expect(found == times, f"'{pattern}' found {found} times instead of {times}")


HEADER_LINES = [
    r"^# hostname : pluto$",
    r"^# os release : 6\.1\.0-test$",
    r"^# perf version : 0\.1$",
    r"^# arch : aarch64$",
    r"^# nrcpus online : 2$",
    r"^# nrcpus avail : 3$",
    r"^# cpudesc : Test CPU$",
    r"^# cpuid : 0x00000000413fd0c1$",
    r"^# total memory : 2097152 kB$",
    r"^# cmdline : perf record two words \./main",
    r"^# event : name = arm_spe_0/ts_enable=1/, , id = \{ 101, 102 \}, type = 10, size = 128, "
    r"config = 0x700010003, .* = 1024, ",
    r"^# event : name = dummy:u, , id = \{ 201, 202 \}, type = 1, .*context_switch = 1$",
    r"^# event : name = cycles:P, , id = \{ 301, 302 \}, .*freq = 1",
    r"^# event : name = LLC-load-misses:up, , id = \{ 401, 402 \}, type = 3, ",
    r"^# sibling sockets : 0-2$",
    r"^# sibling dies    : 0-2$",
    r"^# sibling threads : 1$",
    r"^# CPU 0: Core ID 4, Die ID 0, Socket ID 1$",
    r"^# CPU 1: Core ID 5, Die ID 2, Socket ID 1$",
    r"^# node0 meminfo  : total = 1048576 kB, free = 524288 kB$",
    r"^# node0 cpu list : 0-1$",
    r"^# pmu mappings: software = 1, arm_spe_0 = 10$",
    r"^# contains AUX area data",
    r"^#  L1 Data                 64K \[0\]$",
    r"^#  L2 Unified            1024K \[0\]$",
    r"^# time of first sample : 1\.000000$",
    r"^# time of last sample : 1\.000300$",
    r"^# memory nodes \(nr 1, block size 0x40000000\):$",
    r"^#    0 \[72G\]: 0-71$",
    r"^# clockid frequency: 5000 MHz$",
    r"TOD\) = 1\.234567890 \(monotonic\)$",
]


def header(check, _binary):
    output = check.run(["report", "--header-only", "-I"])
    for line in HEADER_LINES:
        check.lines(output, line, 1)
    output = check.run(["buildid-list"])
    check.lines(output, r"^12340{34}ff /opt/app/main$", 1)
    output = check.run(["evlist"])
    check.lines(output, r"^LLC-load-misses:up$", 1)


def records(check, binary):
    output = check.run(["script", "-D"])
    path = re.escape(binary)
    for pattern, times in [
        (r"PERF_RECORD_TIME_CONV$", 1),
        (r"^\.\.\. Time Multiplier +1|^\.\.\. Time Muliplier +1", 1),
        (r"PERF_RECORD_AUXTRACE_INFO type: 4$", 1),
        (r"PERF_RECORD_FINISHED_INIT", 1),
        (r"PERF_RECORD_FINISHED_ROUND$", 1),
        (r"^0 1000000000 0x.*PERF_RECORD_COMM exec: worker:4100/4100$", 1),
        (r"^1 1000000600 0x.*PERF_RECORD_COMM: helper:4100/4101$", 1),
        (r"PERF_RECORD_MMAP2 4100/4100: \[0x400000\(0x10000\) @ 0x1000 08:01 77 0\]: r-xp " + path,
         1),
        (r"PERF_RECORD_MMAP2 4100/4100: \[0x7f0000000000\(0x100000\) @ 0 00:00 0 0\]: rw-p //anon",
         1),
        (r"PERF_RECORD_MMAP2 .* @ 0 <deadbeef>\]: r-xp /opt/app/library\.so$", 1),
        (r"PERF_RECORD_FORK\(4100:4101\):\(4100:4100\)$", 1),
        (r"^0 1000001000 0x.*PERF_RECORD_ITRACE_START pid: 4100 tid: 4100$", 1),
        (r"PERF_RECORD_AUX offset: 0 size: 0x2580 flags: 0x8 \[\]$", 1),
        (r"PERF_RECORD_AUXTRACE size: 0x2580  offset: 0  ref: 0  idx: 1  tid: -1  cpu: 1$", 1),
        (r"PERF_RECORD_SWITCH_CPU_WIDE OUT preempt  next pid/tid: +0/0", 1),
        (r"PERF_RECORD_SWITCH_CPU_WIDE IN +prev pid/tid: +0/0", 1),
        (r"PERF_RECORD_LOST", 1),
        (r"PERF_RECORD_KSYMBOL addr ffff800000100000 len 64 type 1 flags 0x0 name bpf_prog_1$", 1),
        (r"^1 1000200100 0x.*PERF_RECORD_EXIT\(4100:4101\):\(4100:4100\)$", 1),
        (r"PERF_RECORD_SAMPLE\(IP, 0x2\): 4100/410[01]: 0x400200 period: 50[01][0-9] addr: 0$", 40),
        (r"PERF_RECORD_SAMPLE\(IP, 0x4002\): .* period: 100 addr: 0x7f00000010[0-9a-f]{2}$", 40),
        (r"^\.\.\. FP chain: nr:4$", 40),
        (r"^\.\.\. branch stack: nr:2$", 40),
        (r"0000000000400044 -> 0000000000400080 9 cycles +P", 40),
        (r"^\.\.\. weight: 319,0x7,0x0$", 2),
        (r"^ \. data_src: 0x1a88101042$", 40),
        (r"phys_addr: 0x90000013$", 2),
        (r" LAT 100 TOT$", 2),
        (r" PC 0x400100 el0 ns=1$", 2),
    ]:
        check.lines(output, pattern, times)


def samples(check, binary):
    name = os.path.basename(binary)
    output = check.run(["script", "--itrace=i1i"])
    check.lines(output, r"^ +(worker|helper) +410[01] .* 1 +instructions: .*/" + name, 300)
    check.lines(output, r"^ +helper +4101 \[001\] +1\.000010: .* 400100 ", 1)


def report(check, binary):
    output = check.run(["report", "--stdio", "--no-children", "-g", "none"])
    check.lines(output, r"^# Samples: 40  of event 'cycles:P'$", 1)
    check.lines(output, r"^# Event count \(approx\.\): 200380$", 1)
    check.lines(output, r"^# Samples: 40  of event 'LLC-load-misses:up'$", 1)
    check.lines(output, r"^ +50\.00% +worker +" + os.path.basename(binary)[:15], 2)


def c2c(check, _binary):
    output = check.run(["c2c", "report", "--stdio"])
    for label, value in [
        ("Total records", 380),
        ("Load Operations", 190),
        ("Load L2D hit", 150),
        ("Load Local DRAM", 40),
        ("Load HIT Local Peer", 150),
        ("Store Operations", 150),
        ("Load LLC Misses", 40),
        ("No Page Map Rejects", 0),
        ("Total Shared Cache Lines", 3),
    ]:
        check.lines(output, f"^  {label} +: +{value}$", 1)
    check.lines(output, r"^ +0 +0 +50 +0 +0 +50 +0x7f0000000000$", 1)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    if shutil.which("perf") is None:
        print("skipped: perf is not installed")
        return SKIP
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as folder:
        check = Check(folder)
        subprocess.run([program, os.path.join(folder, "perf.data"), program], check=True)
        for step in (header, records, samples, report, c2c):
            step(check, program)
    return 1 if check.failures else 0


if __name__ == "__main__":
    sys.exit(main())
