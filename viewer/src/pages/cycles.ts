// SPDX-License-Identifier: Apache-2.0
// Cycle accounting: what cycles are lost for, as a tree of the whole capture or of one function, and by function.
import { Table, type Column, type Value } from "../data.js";
import { h } from "../dom.js";
import { addGrid, addressOf, addTable, type Page } from "../page.js";

/** Columns that name an object, in the order of a label. */
const NAMES = ["program", "function", "module", "file", "line", "block", "address"];

/** An object with its rows, a node each. */
interface Accounted {
  label: string;
  readonly rows: number[];
}

/** The objects, in their order. Where labels do not tell them apart (two threads of one name), numbers do. */
function objectsOf(table: Table): Accounted[] {
  const objects: Accounted[] = [];
  const seen = new Map<string, number>();
  for (let row = 0; row < table.rows; row++) {
    if (table.words(row, "node") === table.words(0, "node")) {
      const label = NAMES.map((name) => table.words(row, name)).filter((s) => s !== "").join("@");
      seen.set(label, (seen.get(label) ?? 0) + 1);
      objects.push({ label, rows: [] });
    }
    objects.at(-1)!.rows.push(row);
  }
  objects.forEach((o, i) => {
    if (o.label === "" || (seen.get(o.label) ?? 0) > 1) o.label = `${o.label}#${i + 1}`;
  });
  return objects;
}

/** Rows of one object as a tree: nodes below their parents, with shares as bars. */
function treeOf(table: Table, rows: readonly number[]): Table {
  const shown = ["node", "share", "cycles", "cycles_se", "samples", "events", "mux", "penalty", "state", "cap", "overlap"];
  const at = new Map(rows.map((row, i) => [table.words(row, "node"), i]));
  const columns = shown.map((name): Column => {
    const c = table.columns[table.column(name)]!;
    const flags = name === "node" ? [...c.flags, "tree" as const] : name === "share" ? [...c.flags, "share" as const, "bar" as const] : c.flags;
    return { ...c, flags: flags.filter((flag) => flag !== "programs") };
  });
  const numbers = shown.map((name) => table.column(name));
  return new Table({
    name: "tree", title: "Tree", style: "grid", readers: "all", rows: rows.length, columns, notes: [],
    ...(table.raw.meanings === undefined ? {} : { meanings: table.raw.meanings }),
    parents: rows.map((row, i) => {
      const parent = at.get(table.words(row, "parent"));
      return parent !== undefined && parent < i ? parent : -1;
    }),
    cells: numbers.map((c) => rows.map((row): Value => table.at(row, c))),
    marks: numbers.map((c) => Object.fromEntries(rows.map((row, i) => [String(i), table.mark(row, c)] as const)
      .filter(([, mark]) => mark !== "exact"))),
  });
}

/** Rows that pass, and those above them. */
function withAncestors(table: Table, rows: readonly number[], test: (row: number) => boolean): number[] {
  const byName = new Map(rows.map((row) => [table.words(row, "node"), row]));
  const kept = new Set<number>();
  for (const row of rows.filter(test))
    for (let at: number | undefined = row; at !== undefined && !kept.has(at); at = byName.get(table.words(at, "parent"))) kept.add(at);
  return rows.filter((row) => kept.has(row));
}

/** Shares as bars, to see at a glance which rows are alike. */
function withBars(table: Table): Table {
  return new Table({ ...table.raw, columns: table.columns.map((c) => (c.flags.includes("share") ? { ...c, flags: [...c.flags, "bar"] } : c)) });
}

export const cycles: Page = {
  id: "cycles",
  title: "Cycles",
  has: (data) => data.has("cycles"),
  async render(root, view) {
    const tables = await view.data.load(view.data.find("cycles"));
    const find = (name: string): Table | undefined => tables.find((t) => t.name === name);
    const answer = find("answer");
    const long = find("cycles")!;
    const whole = find("whole")!;
    const shares = tables.find((t) => t.name !== "answer" && t !== long && t !== whole);
    const about = view.route.about;
    const all = (t: Table): number[] => Array.from({ length: t.rows }, (_, row) => row);
    const objects = objectsOf(long);
    const rows = about === "" ? all(whole) : objects.find((o) => o.label === about)?.rows ?? [];

    if (about === "" && answer !== undefined) addTable(root, answer, view);
    if (about !== "") root.append(h("p", {}, h("a", { href: addressOf("cycles") }, "all of the capture")));
    const source = about === "" ? whole : long;
    const isNumbered = (row: number): boolean => source.get(row, "cycles") !== null || source.get(row, "samples") !== null;
    const kept = withAncestors(source, rows, isNumbered);
    const showsAll = view.route.state.get("all") === "1";
    const title = about === "" ? "All of the capture" : about.replace("@", " ");
    root.append(h("h2", {}, title));
    view.texts.push(() => `${title}\n`);
    if (rows.length === 0) root.append(h("p", {}, "This file has nothing of that name."));
    else {
      addGrid(root, treeOf(source, showsAll ? rows : kept), view, { hidden: ["cap", "overlap", ...(showsAll ? [] : ["state"])] });
      if (kept.length < rows.length)
        root.append(h("p", {}, h("a", { href: addressOf("cycles", about, new URLSearchParams(showsAll ? {} : { all: "1" })) },
          showsAll ? "only nodes with a number" : `${rows.length - kept.length} more nodes, which this capture has no events of`)));
    }
    if (shares === undefined || shares.rows === 0) return;
    const keys = shares.columns.slice(0, shares.columns.findIndex((c) => c.type === "number")).map((c) => c.title);
    const by = `By ${[...new Set(keys)].join(", ")}`;
    root.append(h("h2", {}, by));
    view.texts.push(() => `\n${by}\n`);
    const first = shares.columns[0]!.name;
    addGrid(root, withBars(shares), view, {
      state: view.route.state, onState: view.keep, linkColumns: [first],
      link: (row) => {
        const object = shares.rows === objects.length ? objects[row] : undefined;
        return object === undefined ? null : addressOf("cycles", object.label);
      },
    });
  },
};
