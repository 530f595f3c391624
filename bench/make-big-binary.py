#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Builds a C++ program with much debug information, for timing symbol look-ups.

Every source file instantiates the standard library with types of its own, so that the
linker can merge little and inline chains are long. With 30 files the program has about
180 MB of DWARF; building takes some minutes.
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

MAIN = """\
{declarations}
int main(int argc, char **)
{{
	int sum = 0;
	{calls}
	return sum & 1;
}}
"""


def compile_one(command, source, target):
    if not target.exists() or target.stat().st_mtime < source.stat().st_mtime:
        subprocess.run([*command, "-c", str(source), "-o", str(target)], check=True)
    return target


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("directory", type=pathlib.Path, help="where to build; kept")
    parser.add_argument("--files", type=int, default=30)
    parser.add_argument("--instances", type=int, default=6, help="instantiations in each file")
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
        sources[-1].write_text(SOURCE.format(n=n, calls=calls))
    numbers = range(options.files)
    sources.append(options.directory / "main.cc")
    sources[-1].write_text(
        MAIN.format(
            declarations="\n".join(f"namespace unit_{n} {{ int run(int); }}" for n in numbers),
            calls="\n\t".join(f"sum += unit_{n}::run(argc);" for n in numbers),
        )
    )
    with concurrent.futures.ThreadPoolExecutor(options.j) as pool:
        jobs = [pool.submit(compile_one, command, s, s.with_suffix(".o")) for s in sources]
        objects = [str(job.result()) for job in jobs]
    program = options.directory / "big"
    subprocess.run([*command, *objects, "-o", str(program)], check=True)
    print(program)


if __name__ == "__main__":
    main()
