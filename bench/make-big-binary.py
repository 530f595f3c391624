#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a C++ program with much debug information, for timing symbol look-ups.

Every source file instantiates the standard library with types of its own, so that the
linker can merge little and inline chains are long. With 30 files the program has about
180 MB of DWARF; building takes some minutes. --copies links each object several times, under
other names: 2 files and 40 copies are 300 MB, in a minute.
"""

import argparse
import concurrent.futures
import os
import pathlib
import subprocess

SOURCE = """\
#include <algorithm>
#include <functional>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <unordered_map>
#include <variant>
#include <vector>

namespace unit_{n} {{

template <int N> struct key {{
	int value;
	std::string text;
	bool operator<(const key &other) const {{ return text < other.text; }}
	bool operator==(const key &other) const {{ return value == other.value; }}
}};

template <int N> struct hash {{
	size_t operator()(const key<N> &k) const {{ return std::hash<std::string>()(k.text); }}
}};

template <int N> using holder = std::variant<int, std::string, key<N>, std::vector<key<N>>>;

template <int N> int work(int seed)
{{
	std::map<key<N>, std::vector<int>> tree;
	std::unordered_map<key<N>, std::shared_ptr<key<N>>, hash<N>> table;
	std::vector<holder<N>> holders;
	std::set<key<N>> ordered;
	for (int i = 0; i < 8; i++) {{
		key<N> k{{seed + i, std::to_string(seed * i)}};
		tree[k].push_back(i);
		table.emplace(k, std::make_shared<key<N>>(k));
		holders.emplace_back(k);
		ordered.insert(k);
	}}
	std::vector<key<N>> keys(ordered.begin(), ordered.end());
	std::sort(keys.begin(), keys.end(), [](const auto &a, const auto &b) {{ return b < a; }});
	std::stable_sort(keys.begin(), keys.end());
	std::function<int(const key<N> &)> cost = [&](const key<N> &k) {{
		auto found = tree.find(k);
		return found == tree.end() ? 0 : std::accumulate(found->second.begin(),
								 found->second.end(), k.value);
	}};
	int sum = 0;
	for (const auto &k : keys)
		sum += cost(k) + (table.count(k) ? table[k]->value : 0);
	for (const auto &h : holders)
		sum += std::visit([](const auto &v) {{ return (int)sizeof(v); }}, h);
	return sum;
}}

int run(int seed)
{{
	std::ostringstream out;
	std::regex pattern("([a-z]+){n}|x*");
	int sum = std::regex_search(std::string("abc{n}"), pattern);
	sum += {calls};
	out << sum;
	return (int)out.str().size() + sum;
}}

}}
"""

# The program calls each unit `rounds` times, so that there is something to sample.
MAIN = """\
{declarations}
int main(int argc, char **)
{{
	int sum = 0;
	for (int round = 0; round < {rounds}; round++) {{
		{calls}
	}}
	return sum & 1;
}}
"""


def symbol_of(unit, copy):
    """The name of a unit's run(), in one of its copies; that of copy 0 is the compiler's."""
    name = f"unit_{unit}"
    return f"{'' if copy == 0 else f'copy_{copy}_'}_ZN{len(name)}{name}3runEi"


def copy_object(source, copy, prefix):
    """The object with other names for all that it defines, by binutils of this prefix. Its debug information stays."""
    target = source.with_name(f"{source.stem}-{copy}.o")
    names = target.with_suffix(".names")
    text = subprocess.run([f"{prefix}nm", "--defined-only", "--format=posix", source], check=True, capture_output=True, text=True).stdout
    defined = {line.split()[0] for line in text.splitlines()}
    names.write_text("".join(f"{name} copy_{copy}_{name}\n" for name in sorted(defined) if not name.startswith((".", "DW.ref."))))
    subprocess.run([f"{prefix}objcopy", f"--redefine-syms={names}", source, target], check=True)
    return target


def write_if_other(path, text):
    """What is there already need not be compiled again."""
    if not path.exists() or path.read_text() != text:
        path.write_text(text)


def compile_one(command, source, target):
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        subprocess.run([*command, "-c", str(source), "-o", str(target)], check=True)
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path, help="where to build; kept")
    parser.add_argument("--files", type=int, default=30)
    parser.add_argument("--instances", type=int, default=6, help="instantiations in each file")
    parser.add_argument("--copies", type=int, default=1, help="of each object, under other names")
    parser.add_argument("--rounds", type=int, default=1, help="that the program makes through all units")
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--flags", default="-g -O2 -std=c++17")
    parser.add_argument("-j", type=int, default=os.cpu_count())
    options = parser.parse_args()

    options.directory.mkdir(parents=True, exist_ok=True)
    command = [options.compiler, *options.flags.split()]
    sources = []
    for n in range(options.files):
        calls = " + ".join(f"work<{i}>(seed + {i})" for i in range(options.instances))
        sources.append(options.directory / f"unit_{n}.cc")
        write_if_other(sources[-1], SOURCE.format(n=n, calls=calls))
    units = [(n, copy) for n in range(options.files) for copy in range(options.copies)]
    sources.append(options.directory / "main.cc")
    write_if_other(
        sources[-1],
        MAIN.format(
            declarations="\n".join(f'int run_{n}_{c}(int) __asm__("{symbol_of(n, c)}");' for n, c in units),
            calls="\n\t\t".join(f"sum += run_{n}_{c}(argc + round);" for n, c in units),
            rounds=options.rounds,
        ),
    )
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        jobs = [pool.submit(compile_one, command, s, s.with_suffix(".o")) for s in sources]
        objects = [job.result() for job in jobs]
        prefix = options.compiler.rpartition("/")[2].removesuffix("g++") if options.compiler.endswith("-g++") else ""
        objects += pool.map(lambda unit: copy_object(objects[unit[0]], unit[1], prefix), [unit for unit in units if unit[1] > 0])
    program = options.directory / "big"
    subprocess.run([*command, *objects, "-o", str(program)], check=True)
    print(program)


if __name__ == "__main__":
    main()
