// SPDX-License-Identifier: Apache-2.0
// The source lines that a finding is about, with what each took of its function.
import { percent, readCode, type Code } from "./code.js";
import type { Table } from "./data.js";
import { h } from "./dom.js";
import { addressOf, type View } from "./page.js";

/** Lines above and below. */
const AROUND = 3;

/** What happens at the line of a finding. Latency, which the bars show, may be larger where others wait for it. */
const HAPPENS: Readonly<Record<string, string>> = {
  "mispredictions": "mispredicted", "dependency-chain": "chain", "store-forwarding": "reloaded", "division": "division",
  "store-bound": "misses", "scalar-loop": "one element", "hot-function": "hottest", "false-sharing": "read", "true-sharing": "read",
  "unknown": "read",
};

/** A line that a finding names, and what it is there. */
interface Place {
  readonly function: string;
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

const isOf = (path: string, file: string): boolean => path === file || path.endsWith(`/${file}`);

/** What others do at the lines that threads contend for: each line of the two functions that accesses them. */
async function accessesOf(view: View, findings: Table, row: number): Promise<Place[]> {
  const block = findings.words(row, "writer") === "" ? -1 : view.data.find("sharing");
  if (block < 0) return [];
  const tables = await view.data.load(block);
  const lines = tables.find((t) => t.name === "lines"), accesses = tables.find((t) => t.name === "accesses");
  if (lines === undefined || accesses === undefined) return [];
  const rowsOf = (table: Table): number[] => Array.from({ length: table.rows }, (_, i) => i);
  const contended = new Set(rowsOf(lines).filter((i) => lines.words(i, "object") === findings.words(row, "subject"))
    .map((i) => lines.get(i, "line")));
  const found = new Map<string, Place>();
  for (const i of rowsOf(accesses)) {
    const [, file, line] = /^(.*):(\d+)$/.exec(accesses.words(i, "source_line")) ?? [];
    const writes = Number(accesses.get(i, "stores") ?? 0) + Number(accesses.get(i, "atomics") ?? 0) > 0;
    const key = `${accesses.words(i, "function")} ${accesses.words(i, "source_line")}`;
    if (file === undefined || !contended.has(accesses.get(i, "line")) || (found.has(key) && !writes)) continue;
    found.set(key, { function: accesses.words(i, "function"), file, line: Number(line), what: writes ? "written" : "read" });
  }
  return [...found.values()];
}

/** The line that waits; of shared data also the one that writes them; of prefetches the one to change. */
function placesOf(findings: Table, loops: Table | undefined, row: number): Place[] {
  const name = findings.words(row, "function");
  const at = (words: (column: string) => string, prefix: string, what: string, of = name): Place => ({
    function: of, file: words(`${prefix}file`), line: Number(words(`${prefix}line`) || 0), what,
  });
  const own = (column: string): string => String(findings.get(row, column) ?? "");
  const found = [at(own, "", HAPPENS[findings.words(row, "kind")] ?? "waits")];
  if (own("writer") !== "") found.push(at(own, "writer_", "written", own("writer")));
  for (let i = 0; loops !== undefined && i < loops.rows; i++)
    if (loops.get(i, "finding") === row + 1) {
      const ofLoop = (column: string): string => String(loops.get(i, column) ?? "");
      found.push(at(ofLoop, "prefetch_", "prefetch"));
      if (loops.get(i, "is_loop") === true) found.push(at(ofLoop, "", "loop"));
    }
  return found.filter((place) => place.line > 0);
}

const isOfOneFunction = (a: Place, b: Place): boolean => a.function === b.function && a.file === b.file;

/**
 * The lines around the places of one function, in the order of the file, with marks at all that are among them. Null: the source of
 * the first is not there.
 */
function figure(code: Code, source: Table, around: readonly Place[], places: readonly Place[], address: string, subject: string): HTMLElement | null {
  const of = around[0]!;
  const lineOf = (i: number): number => Number(source.get(i, "line"));
  const lines = Array.from({ length: source.rows }, (_, i) => i)
    .filter((i) => isOf(source.words(i, "file"), of.file) && around.some((place) => Math.abs(lineOf(i) - place.line) <= AROUND))
    .sort((a, b) => lineOf(a) - lineOf(b));
  if (!lines.some((i) => lineOf(i) === of.line)) return null;
  const texts = lines.map((i) => source.words(i, "text"));
  const indent = texts.filter((text) => text !== "").reduce((least, text) => Math.min(least, text.search(/\S|$/)), Infinity);
  const name = `${of.function}, ${of.file}`;
  return h("figure", { class: "snippet" },
    h("figcaption", {}, h("a", { href: address }, name), ` (bars: share of the function's ${code.what}${code.what === "latency" ? ", not of its time" : ""})`),
    h("div", { class: "source", tabindex: 0, role: "region", "aria-label": `Source of ${subject}: ${of.what}` },
      h("table", { class: "code", "aria-label": `${name}: ${of.what}` }, h("tbody", {}, ...lines.flatMap((i, k) => {
        const line = lineOf(i);
        const isGap = k > 0 && line > lineOf(lines[k - 1]!) + 1;
        const gap = isGap ? [h("tr", {}, h("td", { class: "number" }, "…"), h("td", {}), h("td", {}))] : [];
        const key = `${source.words(i, "file")}:${source.words(i, "line")}`;
        const weight = (code.byLine.get(key) ?? []).reduce((sum, at) => sum + code.weights[at]!, 0);
        const heat = h("td", { class: "number bar" }, weight === 0 ? "" : percent(weight));
        heat.style.setProperty("--part", `${100 * Math.min(1, weight)}%`);
        const marks = places.filter((place) => place.file === of.file && place.line === line);
        const text = texts[k]!.slice(indent);
        const row = h("tr", { class: marks.length > 0 ? "marked" : undefined },
          h("td", { class: "number" }, source.words(i, "line")), heat, h("td", { class: "text" }, text));
        if (marks.length === 0) return [...gap, row];
        const said = `${/^\s*/.exec(text)![0]}^ ${[...new Set(marks.map((place) => place.what))].join(", ")}`;
        return [...gap, row, h("tr", { class: "marked" }, h("td", {}), h("td", {}), h("td", { class: "text said" }, said))];
      })))));
}

/** Figures of the places `named`, one for each function; `places` are marked in them, too. Null: there is no source of any. */
async function figuresOf(view: View, module: string, named: readonly Place[], places: readonly Place[], subject: string): Promise<HTMLElement | null> {
  const figures: HTMLElement[] = [];
  const shown: Place[] = [];
  for (const place of named) {
    const isShown = shown.some((p) => isOfOneFunction(p, place));
    const block = view.data.find("function", `${place.function}@${module}`);
    if (isShown || block < 0) continue;
    const tables = await view.data.load(block);
    const code = readCode(tables);
    const source = tables.find((t) => t.name === "source");
    const one = code === null || source === undefined ? null
      : figure(code, source, named.filter((p) => isOfOneFunction(p, place)), places, addressOf("function", view.data.about.blocks[block]!.label), subject);
    if (one === null) continue;
    shown.push(place);
    figures.push(one);
  }
  return figures.length === 0 ? null : h("div", { class: "snippets" }, ...figures);
}

/** Null: the file has no page of the function, or its source is not there. */
export async function snippetOf(view: View, findings: Table, loops: Table | undefined, row: number): Promise<HTMLElement | null> {
  const named = placesOf(findings, loops, row);
  const isNamed = (at: Place): boolean => named.some((p) => isOfOneFunction(p, at) && p.line === at.line);
  const places = [...named, ...(await accessesOf(view, findings, row)).filter((at) => !isNamed(at))];
  return figuresOf(view, findings.words(row, "module"), named, places, `finding ${row + 1}`);
}

/** Of code without a finding: the loop that nothing explains, with the access that may be why. */
function unexplainedPlaces(rest: Table): Place[] {
  const at = (prefix: string, what: string): Place => ({
    function: rest.words(0, "function"), file: rest.words(0, `${prefix}file`), line: Number(rest.words(0, `${prefix}line`) || 0), what,
  });
  return [at("", "loop"), at("suspect_", "suspect")].filter((place) => place.line > 0);
}

/** The line that has most of a function; null: its source is not here. */
async function hottestPlace(view: View, name: string, module: string): Promise<Place | null> {
  const block = view.data.find("function", `${name}@${module}`);
  const code = block < 0 ? null : readCode(await view.data.load(block));
  if (code === null) return null;
  let hottest = null, most = 0;
  for (const [key, rows] of code.byLine) {
    const weight = rows.reduce((sum, row) => sum + code.weights[row]!, 0);
    const [, file, line] = /^(.*):(\d+)$/.exec(key) ?? [];
    if (file === undefined || weight <= most) continue;
    most = weight;
    hottest = { function: name, file, line: Number(line), what: `hottest by ${code.what}` };
  }
  return hottest;
}

/** Where an answer has no finding: what it says of unexplained time; else the hottest line of the first function that has source. */
export async function snippetWithoutFinding(view: View, unexplained: Table | undefined, functions: Table | undefined): Promise<HTMLElement | null> {
  if (unexplained !== undefined && unexplained.rows > 0) {
    const places = unexplainedPlaces(unexplained);
    return figuresOf(view, unexplained.words(0, "module"), places, places, "unexplained time");
  }
  if (functions === undefined || functions.rows === 0) return null;
  const module = functions.words(0, "module");
  const place = await hottestPlace(view, functions.words(0, "function"), module);
  return place === null ? null : figuresOf(view, module, [place], [place], "the hottest code");
}
