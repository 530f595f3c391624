// SPDX-License-Identifier: Apache-2.0
// Flame graph: callers above what they call, as wide as what they took; inverted, the callers of what was sampled.
import { Table, type Column, type Data } from "../data.js";
import { announce, h, svg } from "../dom.js";
import { humanValue } from "../human.js";
import { renamed } from "../modules.js";
import { addGrid, addressOf, type Page, type View } from "../page.js";
import { noteOf } from "../words.js";
import { functionAddress } from "./functions.js";

const ROW = 20;
const LETTER = 7.3;
const COLOURS = 6;
const LINES = 200;

interface Node {
  readonly name: string;
  readonly module: string;
  readonly parent: Node | null;
  readonly depth: number;
  readonly children: Node[];
  self: number;
  total: number;
  /** Of a comparison: its total in the other run. */
  other: number;
  x: number;
}

function child(parent: Node, name: string, module: string): Node {
  let found = parent.children.find((c) => c.name === name && c.module === module);
  if (found === undefined) {
    found = { name, module, parent, depth: parent.depth + 1, children: [], self: 0, total: 0, other: 0, x: 0 };
    parent.children.push(found);
  }
  return found;
}

const root = (): Node =>
  ({ name: "all", module: "", parent: null, depth: 0, children: [], self: 0, total: 0, other: 0, x: 0 });

function nodesOf(table: Table): Node[] {
  const nodes: Node[] = [];
  for (let row = 0; row < table.rows; row++) {
    const parent = nodes[table.parent(row)] ?? null;
    const node: Node = {
      name: table.words(row, "function"), module: table.words(row, "module"), parent,
      depth: parent === null ? 0 : parent.depth + 1, children: [],
      self: Number(table.get(row, "self")), total: Number(table.get(row, "total")), other: 0, x: 0,
    };
    parent?.children.push(node);
    nodes.push(node);
  }
  return nodes;
}

/** Two runs as one tree: as wide as `shown`, beside what `other` has. */
function merged(shown: readonly Node[], other: readonly Node[]): Node[] {
  const nodes = [root()];
  const moduleOf = renamed(shown.map((node) => node.module), other.map((node) => node.module));
  const add = (from: readonly Node[], nameOf: (module: string) => string, put: (to: Node, node: Node) => void): void => {
    const places = new Map<Node, Node>();
    for (const node of from) {
      const parent = node.parent === null ? null : places.get(node.parent)!;
      const known = parent?.children.length;
      const to = parent === null ? nodes[0]! : child(parent, node.name, nameOf(node.module));
      if (parent !== null && parent.children.length !== known) nodes.push(to);
      places.set(node, to);
      put(to, node);
    }
  };
  add(shown, (m) => m, (to, node) => {
    to.total += node.total;
    to.self += node.self;
  });
  add(other, moduleOf, (to, node) => (to.other += node.total));
  return nodes;
}

/** Callers below the functions that were sampled. What was left out counts as its caller's own. */
function inverted(nodes: readonly Node[]): Node {
  const top = root();
  for (const node of nodes) {
    const own = node.total - node.children.reduce((sum, c) => sum + c.total, 0);
    const other = node.other - node.children.reduce((sum, c) => sum + c.other, 0);
    if (own <= 0 && other <= 0) continue;
    let at = top;
    top.total += own;
    top.other += other;
    for (let from: Node | null = node; from !== null && from.parent !== null; from = from.parent) {
      at = child(at, from.name, from.module);
      at.total += own;
      at.other += other;
    }
    at.self += own;
  }
  return top;
}

/** What stands in its box: code without a name is its module's. */
function labelOf(node: Node): string {
  if (node.name !== "[unknown]" || node.module === "") return node.name;
  return node.module.startsWith("[") ? node.module : `[${node.module}]`;
}

/** The widest first; places each node behind its siblings. */
function arrange(node: Node): void {
  node.children.sort((a, b) => b.total - a.total || (a.name < b.name ? -1 : 1));
  let x = node.x;
  for (const c of node.children) {
    c.x = x;
    x += c.total;
    arrange(c);
  }
}

function colourOf(module: string): number {
  let sum = 0;
  for (const letter of module) sum = (31 * sum + letter.codePointAt(0)!) % 65521;
  return sum % COLOURS;
}

/** Functions with what they have themselves and in all: recursion counts once. */
function functionsOf(nodes: readonly Node[], unit: Column): Table {
  const sums = new Map<string, { node: Node; self: number; total: number }>();
  for (const node of nodes) {
    if (node.parent === null) continue;
    const key = `${node.module}\n${node.name}`;
    const sum = sums.get(key) ?? { node, self: 0, total: 0 };
    let isInside = false;
    for (let at: Node | null = node.parent; at !== null && !isInside; at = at.parent)
      isInside = at.name === node.name && at.module === node.module;
    sum.self += node.self;
    sum.total += isInside ? 0 : node.total;
    sums.set(key, sum);
  }
  const list = [...sums.values()].sort((a, b) => b.self - a.self || b.total - a.total || (a.node.name < b.node.name ? -1 : 1));
  const all = nodes[0]?.total ?? 0;
  const text = (name: string, meaning: string): Column => ({ name, title: name, unit: "", type: "text", meaning, flags: [] });
  const share = (name: string, title: string, meaning: string): Column =>
    ({ name, title, unit: "", type: "number", meaning, flags: ["share", "bar"] });
  return new Table({
    name: "flame_functions", title: "Functions", style: "grid", readers: "all", rows: list.length, notes: [],
    columns: [
      text("function", "function"), text("module", "module of the function"),
      share("self_share", "self", "its own part of all"), share("total_share", "total", "with all that it calls"),
      { ...unit, name: "self", title: "self", meaning: "its own part" },
      { ...unit, name: "total", title: "total", meaning: "with all that it calls" },
    ],
    cells: [
      list.map((f) => f.node.name), list.map((f) => f.node.module), list.map((f) => f.self / all),
      list.map((f) => f.total / all), list.map((f) => f.self), list.map((f) => f.total),
    ],
    marks: [{}, {}, {}, {}, {}, {}],
  });
}

class Graph {
  readonly element = h("div", { class: "flame", tabindex: 0, role: "group", "aria-label":
    "Flame graph: arrow keys go to callers, callees and neighbours, Enter enlarges, Escape shows all" });
  private readonly info = h("p", { class: "note flame-info" });
  private focus: Node;
  private chosen: Node;
  private words = "";
  private readonly drawn = new Map<Element, Node>();

  /** `runs`: of a comparison, the run that widths are of, and the other one. */
  constructor(
    private readonly top: Node, private readonly unit: Column, private readonly runs: readonly [string, string] | null,
    at: HTMLElement,
  ) {
    this.focus = this.chosen = top;
    at.append(this.info, this.element);
    this.element.addEventListener("click", (event) => this.click(event));
    this.element.addEventListener("mousemove", (event) => {
      const node = this.nodeAt(event);
      this.say(node ?? this.chosen);
    });
    this.element.addEventListener("keydown", (event) => this.key(event));
    this.say(top);
  }

  search(words: string): void {
    this.words = words.toLowerCase();
    this.draw();
  }

  describe(node: Node): string {
    const size = (n: number): string => `${humanValue(n, this.unit, 0)}${this.unit.unit === "ns" ? "" : ` ${this.unit.unit}`}`;
    const share = ((100 * node.total) / (this.top.total || 1)).toFixed(1);
    const module = node.module === "" ? "" : ` (${node.module})`;
    if (this.runs !== null) {
      const change = this.change(node);
      const shares = [[this.runs[0], node.total, this.top.total], [this.runs[1], node.other, this.top.other]] as const;
      const words = [...shares].sort((x, y) => (x[0] < y[0] ? -1 : 1))
        .map(([run, part, all]) => `${run} ${((100 * part) / (all || 1)).toFixed(1)} %`).join(", ");
      return `${node.name}${module}: ${words}, ${change < 0 ? "" : "+"}${change.toFixed(1)} points; ${size(node.total)} in ${this.runs[0]}`;
    }
    return `${node.name}${module}: ${share} %, ${size(node.total)}, self ${size(node.self)}`;
  }

  /** What its share has become larger by, from run a to run b, in points of a per cent. */
  private change(node: Node): number {
    const difference = 100 * (node.total / (this.top.total || 1) - node.other / (this.top.other || 1));
    return this.runs?.[0] === "a" ? -difference : difference;
  }

  private colour(node: Node): string {
    if (this.runs === null) return `module-${colourOf(node.module)}`;
    const change = this.change(node);
    const size = Math.abs(change);
    return size < 0.1 ? "same" : `${change > 0 ? "more" : "less"}-${size < 1 ? 1 : size < 5 ? 2 : 3}`;
  }

  private say(node: Node): void {
    this.info.textContent = this.describe(node);
  }

  private nodeAt(event: Event): Node | undefined {
    const group = (event.target as Element).closest("g");
    return group === null ? undefined : this.drawn.get(group);
  }

  private click(event: Event): void {
    const node = this.nodeAt(event);
    if (node === undefined) return;
    this.chosen = node;
    this.zoom(node);
  }

  private zoom(node: Node): void {
    this.focus = node;
    this.say(node);
    this.draw();
  }

  private key(event: KeyboardEvent): void {
    const siblings = this.chosen.parent?.children ?? [this.chosen];
    const at = siblings.indexOf(this.chosen);
    const next: Record<string, Node | null | undefined> = {
      ArrowUp: this.chosen.parent, ArrowDown: this.chosen.children[0], ArrowLeft: siblings[at - 1], ArrowRight: siblings[at + 1],
    };
    if (event.key === "Enter") this.zoom(this.chosen);
    else if (event.key === "Escape") this.zoom((this.chosen = this.top));
    else if (event.key in next) {
      this.chosen = next[event.key] ?? this.chosen;
      announce(this.describe(this.chosen));
      this.say(this.chosen);
      this.draw();
    } else return;
    event.preventDefault();
  }

  /** Nodes on the way to the one in focus, and those below it that are wide enough to be seen. */
  draw(): void {
    const width = this.element.clientWidth || 1000;
    const scale = width / (this.focus.total || 1);
    const picture = svg("svg", { width, role: "presentation" });
    let deepest = this.focus.depth;

    this.drawn.clear();
    for (let at = this.focus.parent; at !== null; at = at.parent) this.box(picture, at, 0, width);
    const add = (node: Node): void => {
      const wide = node.total * scale;
      if (wide < 0.7) return;
      deepest = Math.max(deepest, node.depth);
      this.box(picture, node, (node.x - this.focus.x) * scale, wide);
      node.children.forEach(add);
    };
    add(this.focus);
    picture.setAttribute("height", String((deepest + 1) * ROW));
    this.element.replaceChildren(picture);
  }

  private box(picture: SVGElement, node: Node, x: number, wide: number): void {
    const y = node.depth * ROW;
    const letters = Math.floor((wide - 6) / LETTER);
    const isFound = this.words !== "" && `${node.name} ${node.module}`.toLowerCase().includes(this.words);
    const classes = ["node", this.colour(node), isFound ? "found" : "", node === this.chosen ? "chosen" : ""];
    const label = labelOf(node);
    const name = label.length <= letters ? label : letters > 3 ? `${label.slice(0, letters - 1)}…` : "";
    const group = svg("g", { class: classes.filter((c) => c !== "").join(" ") },
      svg("rect", { x: x.toFixed(2), y, width: Math.max(0.5, wide - 0.6).toFixed(2), height: ROW - 1 }),
      name === "" ? null : svg("text", { x: (x + 4).toFixed(2), y: y + 14 }, name));
    picture.append(group);
    this.drawn.set(group, node);
  }
}

/** The tree in words: nodes with half of a per cent or more. */
function treeText(top: Node, graph: Graph): string {
  const lines: string[] = [];
  const add = (node: Node): void => {
    if (node.total * 200 < top.total || lines.length >= LINES) return;
    lines.push("  ".repeat(node.depth) + graph.describe(node));
    node.children.forEach(add);
  };
  add(top);
  return lines.join("\n") + "\n";
}

/** What a graph can be weighed by: blocks of data with a label; of a comparison two, of run a and of run b. */
interface Choice {
  readonly label: string;
  readonly blocks: readonly number[];
}

function choicesOf(view: View): Choice[] {
  const isCompared = view.data.about.command === "diff";
  const choices = new Map<string, number[]>();
  view.data.about.blocks.forEach((b, number) => {
    if (b.page !== "flame") return;
    const label = b.label ?? "";
    choices.set(label, [...(choices.get(label) ?? []), number]);
  });
  return [...choices].filter(([, blocks]) => blocks.length === (isCompared ? 2 : 1)).map(([label, blocks]) => ({ label, blocks }));
}

function tabs(choices: readonly Choice[], chosen: Choice, state: URLSearchParams): HTMLElement {
  return h("nav", { class: "tabs", "aria-label": "Weighed by" }, ...choices.map((c, i) =>
    h("a", { href: addressOf("flame", i === 0 ? "" : c.label, state), "aria-current": c === chosen ? "true" : undefined }, c.label)));
}

function checkbox(label: string, isChecked: boolean): [HTMLElement, HTMLInputElement] {
  const box = h("input", { type: "checkbox" });
  box.checked = isChecked;
  return [h("label", {}, box, ` ${label}`), box];
}

export const flame: Page = {
  id: "flame",
  title: "Flame graph",
  has: (data) => data.has("flame") && (data.about.command !== "diff" || hasBoth(data)),
  async render(at, view) {
    const choices = choicesOf(view);
    const choice = choices.find((c) => c.label === view.route.about) ?? choices[0]!;
    const tables = await Promise.all(choice.blocks.map(async (b) => (await view.data.load(b))[0]!));
    const state = view.route.state;
    const isInverted = state.get("inverted") === "1";
    const isCompared = tables.length === 2;
    const isBefore = isCompared && state.get("width") === "a";
    const trees = tables.map(nodesOf);
    const nodes = !isCompared ? trees[0]! : isBefore ? merged(trees[0]!, trees[1]!) : merged(trees[1]!, trees[0]!);
    const top = isInverted ? inverted(nodes) : nodes[0] ?? root();
    const unit: Column = { ...tables[0]!.columns[tables[0]!.column("total")]!, flags: [] };
    const [invertedLabel, invertedBox] = checkbox("inverted: callers below the functions that were sampled", isInverted);
    const [beforeLabel, beforeBox] = checkbox("as wide as in run a", isBefore);
    const search = h("input", { type: "search", class: "filter", placeholder: "mark functions", "aria-label": "Mark functions" });
    const keep = (): URLSearchParams => {
      const kept = new URLSearchParams();
      if (invertedBox.checked) kept.set("inverted", "1");
      if (beforeBox.checked) kept.set("width", "a");
      if (search.value !== "") kept.set("search", search.value);
      return kept;
    };

    arrange(top);
    for (const box of [invertedBox, beforeBox])
      box.addEventListener("change", () => (location.hash = addressOf("flame", view.route.about, keep())));
    search.value = state.get("search") ?? "";
    at.append(tabs(choices, choice, keep()), h("div", { class: "tools" }, invertedLabel, isCompared ? beforeLabel : null, search));
    const notes = [...new Set(tables.flatMap((t) => t.raw.notes))];
    at.append(...notes.map(noteOf));
    const graph = new Graph(top, unit, !isCompared ? null : isBefore ? ["a", "b"] : ["b", "a"], at);
    search.addEventListener("input", () => {
      graph.search(search.value);
      view.keep(keep());
    });
    view.shown.push(() => graph.search(search.value));
    view.texts.push(() => `${choice.label}${isInverted ? ", inverted" : ""}\n${treeText(top, graph)}${notes.join("\n")}\n`);
    if (isCompared)
      at.append(h("p", { class: "note legend" }, h("span", { class: "key less-3" }), " smaller share in b  ", h("span", { class: "key same" }),
        " the same  ", h("span", { class: "key more-3" }), " larger share in b"));
    if (isCompared) return;
    const functions = functionsOf(nodes, unit);
    at.append(h("h2", {}, "Functions"));
    addGrid(at, functions, view, {
      linkColumns: ["function"], link: (row) => functionAddress(view, functions, row),
    });
  },
};

/** Is there a graph of both runs that is weighed by the same? */
function hasBoth(data: Data): boolean {
  const labels = data.about.blocks.filter((b) => b.page === "flame").map((b) => b.label ?? "");
  return new Set(labels).size < labels.length;
}
