// SPDX-License-Identifier: Apache-2.0
// One function: its source beside its instructions, with what each took, and its control flow.
import { drawFlow } from "../flow.js";
import { lineKey, percent, readCode, type Code } from "../code.js";
import type { Table } from "../data.js";
import { button, h } from "../dom.js";
import type { Grid } from "../grid.js";
import { addGrid, addSentences, factsLegend, factsOf, type Page, type View } from "../page.js";
import { noteOf } from "../words.js";
import { partsBar, PARTS, sourcesBar, sourcesWidth } from "../bars.js";

/** The columns of instructions at first, of those that have a value. */
const FIRST = [
  "address", "instruction", "share", "events", "parts", "sources", "total_p50_cycles", "exec", "taken", "mispredicted",
  "spe_records", "line",
];

/** Characters of data sources that are shown, as in style.css; their bar has a title with the rest. */
const MOST_OF_SOURCES = 26;

function instructionColumns(code: Code): string {
  const has = (c: number): boolean => code.instructions.raw.cells[c]!.some((v) => v !== null);
  const names = FIRST.flatMap((name) => (name === "events"
    ? code.events : [name]));
  return names.filter((name) => {
    const c = code.instructions.column(name);
    return c >= 0 && has(c);
  }).join(",");
}

function addInstructions(root: HTMLElement, code: Code, view: View, onChoose: (row: number) => void): Grid {
  const most = code.parts.reduce((largest, p) => Math.max(largest, (p ?? []).reduce((sum, x) => sum + x.size, 0)), 0);
  return addGrid(root, code.instructions, view, {
    state: view.route.state,
    usual: instructionColumns(code),
    onState: view.keep,
    onChoose,
    room: 0.6, // as in style.css
    widths: { parts: 14, sources: Math.min(MOST_OF_SOURCES, code.sources.reduce((most, parts) => Math.max(most, sourcesWidth(parts)), 0)) },
    draw: {
      parts: (row) => partsBar(code.parts[row] ?? null, most),
      sources: (row) => sourcesBar(code.sources[row] ?? []),
    },
  });
}

/** A file's lines with what their instructions took. Choosing one shows its instructions. */
class Source {
  readonly element: HTMLElement;
  private readonly lines = new Map<string, HTMLElement>();

  constructor(source: Table | undefined, code: Code, choose: (rows: readonly number[]) => void) {
    const texts = new Map<string, string>();
    const files = new Map<string, Set<number>>();
    const add = (file: string, line: number): void => {
      if (file !== "" && line > 0) files.set(file, (files.get(file) ?? new Set()).add(line));
    };
    for (let i = 0; source !== undefined && i < source.rows; i++) {
      texts.set(`${source.words(i, "file")}:${source.words(i, "line")}`, source.words(i, "text"));
      add(source.words(i, "file"), Number(source.get(i, "line")));
    }
    for (let row = 0; row < code.instructions.rows; row++)
      add(code.instructions.words(row, "file"), Number(code.instructions.get(row, "line")));
    this.element = h("div", { class: "source", tabindex: 0, role: "region", "aria-label": "Source" },
      ...[...files].flatMap(([file, lines]) => this.file(file, [...lines].sort((a, b) => a - b), texts, code, choose)));
    if (files.size === 0)
      this.element.append(h("p", { class: "note" }, "no source lines: the program has no debug information, or it is not on this machine"));
  }

  private file(
    file: string, lines: readonly number[], texts: ReadonlyMap<string, string>, code: Code,
    choose: (rows: readonly number[]) => void,
  ): HTMLElement[] {
    const indent = lines.map((line) => texts.get(`${file}:${line}`) ?? "").filter((text) => text !== "")
      .reduce((least, text) => Math.min(least, text.search(/\S|$/)), Infinity);
    const hasText = lines.some((line) => texts.has(`${file}:${line}`));
    let before = 0;
    const rows = lines.flatMap((line) => {
      const key = `${file}:${line}`;
      const instructions = code.byLine.get(key) ?? [];
      const weight = instructions.reduce((sum, row) => sum + code.weights[row]!, 0);
      const number = instructions.length === 0 ? String(line)
        : button(String(line), () => choose(instructions), { "aria-label": `line ${line}: show its instructions` });
      const heat = h("td", { class: "number bar", "data-column": "share", "data-value": weight },
        instructions.length === 0 || weight === 0 ? "" : percent(weight));
      heat.style.setProperty("--part", `${100 * Math.min(1, weight)}%`);
      const row = h("tr", { "data-line": line }, h("td", { class: "number" }, number), heat,
        h("td", { class: "text" }, (texts.get(key) ?? "").slice(indent)));
      this.lines.set(key, row);
      const gap = before !== 0 && line > before + 1 ? [h("tr", { class: "gap" }, h("td", { colspan: 3 }, "⋯"))] : [];
      before = line;
      return [...gap, row];
    });
    return [
      h("h3", {}, file.split("/").pop() ?? file),
      ...(hasText ? [] : [h("p", { class: "note" }, `${file} is not on this machine`)]),
      h("table", { class: "code", "aria-label": file },
        h("thead", {}, h("tr", {}, ...["line", code.what, "source"].map((title) => h("th", { scope: "col" }, title)))),
        h("tbody", {}, ...rows)),
    ];
  }

  mark(keys: ReadonlySet<string>): void {
    for (const [key, row] of this.lines) row.classList.toggle("marked", keys.has(key));
    const first = [...keys].map((key) => this.lines.get(key)).find((row) => row !== undefined);
    if (first !== undefined) this.element.scrollTop = first.offsetTop - this.element.clientHeight / 2;
  }

  text(code: Code): string {
    return [...this.lines].map(([key, row]) => {
      const cells = [...row.children].map((cell) => cell.textContent ?? "");
      const isFirst = code.byLine.has(key);
      return `${cells[0]!.padStart(6)} ${(isFirst ? cells[1]! : "").padStart(8)}  ${cells[2]!}`.trimEnd() + "\n";
    }).join("");
  }
}

function legendOfParts(): HTMLElement {
  return h("p", { class: "note legend" }, "latency: ", ...PARTS.flatMap((name, i) =>
    [h("span", { class: `key part-${i}` }), ` ${name}  `]));
}

/** Columns of the facts: amounts of a kind of sample that there is none of say nothing, and what is missing is a note. */
function saidFacts(facts: Table): number[] {
  const has = (name: string): boolean => Number(facts.get(0, name) ?? 0) !== 0;
  const unsaid = new Set(["function", "shortage", ...(has("spe_records") ? [] : ["spe_records", "latency_cycles"]), ...(has("samples") ? [] : ["samples"])]);
  return facts.columns.flatMap((c, i) => (unsaid.has(c.name) ? [] : [i]));
}

export const functionPage: Page = {
  id: "function",
  title: "Function",
  isHidden: true,
  has: (data) => data.has("function"),
  async render(root, view) {
    const block = view.data.find("function", view.route.about === "" ? undefined : view.route.about);
    const heading = root.querySelector("h1")!;
    if (block < 0) {
      heading.textContent = view.route.about;
      root.append(h("p", {}, "This file has no page of that function: it has those of the hottest."));
      return;
    }
    const tables = await view.data.load(block);
    const find = (name: string): Table | undefined => tables.find((t) => t.name === name);
    const facts = find("function")!;
    const code = readCode(tables);
    const answer = find("answer");

    heading.textContent = facts.words(0, "function") === "[unknown]" ? `code in ${facts.words(0, "module")}` : facts.words(0, "function");
    view.texts.push(() => `${facts.words(0, "function")} (${facts.words(0, "module")})\n`);
    if (answer !== undefined) addSentences(root, answer, view);
    const list = factsOf(facts, 0, saidFacts(facts));
    const shortage = facts.words(0, "shortage");
    list.classList.add("in-line");
    root.append(list, ...[factsLegend(facts, 0, saidFacts(facts))].filter((legend) => legend !== null), ...[shortage].filter((words) => words !== "").map(noteOf),
      ...facts.raw.notes.map(noteOf));
    if (code === null) return;

    const left = h("div", { class: "pane" }, h("h2", {}, "Source"));
    const right = h("div", { class: "pane" }, h("h2", {}, "Instructions"));
    root.append(h("div", { class: "split" }, left, right));
    if (code.parts.some((p) => p !== null)) right.append(legendOfParts());
    const grid = addInstructions(right, code, view, (row) => show([row]));
    const source = new Source(find("source"), code, (rows) => show(rows));
    const show = (rows: readonly number[]): void => {
      grid.mark(new Set(rows));
      source.mark(new Set(rows.map((row) => lineKey(code.instructions, row))));
    };
    left.append(source.element);
    const hottest = code.weights.indexOf(Math.max(...code.weights));
    if (code.weights[hottest]! > 0) view.shown.push(() => show([hottest]));
    view.texts.push(() => "\nSource\n" + source.text(code));

    const blocks = find("blocks");
    const edges = find("edges");
    if (blocks !== undefined && edges !== undefined && blocks.rows > 1) {
      root.append(h("h2", {}, "Control flow"));
      drawFlow(root, blocks, edges, find("loops"), (number) => {
        show(Array.from({ length: code.instructions.rows }, (_, row) => row)
          .filter((row) => code.instructions.get(row, "block") === number));
        grid.element.scrollIntoView({ block: "nearest" });
      });
    }
    for (const [name, title] of [["loops", "Loops"], ["blocks", "Basic blocks"], ["edges", "Edges"]] as const) {
      const table = find(name);
      if (table === undefined || table.rows === 0) continue;
      root.append(h("h2", {}, title));
      view.texts.push(() => `\n${title}\n`);
      addGrid(root, table, view, { plain: table.rows < 12, hidden: ["function"] });
    }
  },
};
