// SPDX-License-Identifier: Apache-2.0
// A table on the page: sorted by any column, filtered, columns chosen, only the rows in sight drawn.
import type { Column, Table } from "./data.js";
import { announce, button, copy, h } from "./dom.js";
import { shown } from "./human.js";
import { legend, meaningOf } from "./marks.js";
import { descendsFirst, filterOf, sortRows, treeOrder, withParents } from "./rows.js";
import { noteOf } from "./words.js";
import { depthOf, gridCsv, gridText, heading, marksOf } from "./text.js";

export interface GridOptions {
  /** Where a row leads to: the address of a page; null: nowhere. */
  readonly link?: (row: number) => string | null;
  /** Columns that are the link. */
  readonly linkColumns?: readonly string[];
  /** Sorting, filter and columns to begin with, and who keeps what becomes of them. */
  readonly state?: URLSearchParams;
  readonly onState?: (state: URLSearchParams) => void;
  /** Without filter and choice of columns: for tables of a few rows. */
  readonly plain?: boolean;
  /** Columns that are not shown at first. */
  readonly hidden?: readonly string[];
  /** Texts that are too long have several lines: for a few rows, all of which are drawn. */
  readonly wraps?: boolean;
  /** Only so many rows. */
  readonly most?: number;
  /** Names of the columns at first, with commas; else those of the screens. */
  readonly usual?: string;
  /** Cells that are drawn in place of their words, by column. */
  readonly draw?: Readonly<Record<string, (row: number) => Node | null>>;
  /** Characters that drawn cells need, by column. */
  readonly widths?: Readonly<Record<string, number>>;
  /** Of the window's width, the part that the table has; else all. */
  readonly room?: number;
  /** A row was clicked. */
  readonly onChoose?: (row: number) => void;
}

const ROW_HEIGHT = 26;
const SPARE_ROWS = 12;
const MOST_PRINTED = 500;
const SAMPLED_ROWS = 1500;
const WIDEST = 64;
/** The same of texts on a narrow screen, which shows what stands behind them, too; a heading has several lines there. */
const WIDEST_NARROW = 16; /* with its padding 18, as in style.css */
const LETTER = 7.9; /* pixels, at most, as in style.css */
const MARGINS = 34;
/** Columns that no table is cut down to less than. */
const FEWEST = 2;
const SORTED = 2; /* the arrow of the column that rows are sorted by; in a heading of several lines it takes one */
const isNarrow = (): boolean => window.matchMedia("(max-width: 600px)").matches;
const longestWord = (words: string): number => words.split(" ").reduce((most, word) => Math.max(most, word.length), 0);

/** Columns in sight at first: those of the screens that have a value in any row. */
function defaultColumns(table: Table, hidden: readonly string[]): number[] {
  return table.columns.flatMap((c, i) => {
    if (c.flags.includes("programs") || hidden.includes(c.name)) return [];
    for (let row = 0; row < table.rows; row++) if (table.at(row, i) !== null) return [i];
    return [];
  });
}

export class Grid {
  readonly element: HTMLElement;
  private readonly body = h("tbody");
  private readonly head = h("thead");
  private readonly columnGroup = h("colgroup");
  private readonly scroller: HTMLElement;
  private readonly count = h("span", { class: "count" });
  private readonly legend = h("p", { class: "note legend" });
  /** Columns that are wanted, and of these those that there is room for. */
  private wanted: number[];
  private columns: number[];
  /** All that are wanted are shown, as somebody chose them; the table may then be wider than the page. */
  private isChosen = false;
  private readonly boxes: HTMLInputElement[] = [];
  private readonly hiddenColumns = h("p", { class: "note hidden-columns" });
  private readonly sideways = h("p", { class: "note sideways" }, "wider than the page: scroll it sideways →");
  private sort = -1;
  private descending = false;
  private filter = "";
  private extra: ((row: number) => boolean) | null = null;
  private readonly closed = new Set<number>();
  private marked: ReadonlySet<number> = new Set();
  private rows: number[] = [];
  private first = -1;
  private last = -1;
  private readonly isTree: boolean;
  private readonly widths = new Map<number, number>();
  /** Headings have several lines, as the table would be wider than the window. */
  private isTight = isNarrow();

  constructor(readonly table: Table, private readonly options: GridOptions = {}) {
    this.isTree = table.raw.parents !== undefined;
    this.wanted = this.columns = defaultColumns(table, options.hidden ?? []);
    this.readState(options.state);
    const element = h("table", { class: options.wraps === true ? "grid wraps" : "grid", "aria-label": table.title, "data-table": table.name },
      this.columnGroup, this.head, this.body);
    this.scroller = h("div", { class: "scroller", tabindex: 0, role: "region", "aria-label": `${table.title}: rows` },
      element);
    this.scroller.addEventListener("scroll", () => this.draw());
    this.element = h("section", { class: "grid-section" }, options.plain === true ? null : this.tools(), this.sideways, this.scroller,
      this.hiddenColumns, this.remarks());
    new ResizeObserver(() => this.sayWidth()).observe(this.scroller);
    this.refresh();
  }

  /** Rows that pass the filter, in their order: all of them, drawn or not. */
  get shownRows(): readonly number[] {
    return this.rows;
  }
  text(): string {
    return gridText(this.table, this.rows, this.columns);
  }

  /** Marks rows, and brings the first of them into sight. */
  mark(rows: ReadonlySet<number>): void {
    const first = this.rows.findIndex((row) => rows.has(row));
    const top = first * ROW_HEIGHT;

    this.marked = rows;
    if (first >= 0 && (top < this.scroller.scrollTop || top + 3 * ROW_HEIGHT > this.scroller.scrollTop + this.scroller.clientHeight))
      this.scroller.scrollTop = Math.max(0, top - 4 * ROW_HEIGHT);
    this.drawAgain();
  }

  /** Another condition on rows, beside the filter. */
  restrict(test: ((row: number) => boolean) | null): void {
    this.extra = test;
    this.refresh();
  }

  private readState(state: URLSearchParams | undefined): void {
    const sort = state?.get("sort") ?? "";
    this.descending = sort.startsWith("-");
    this.sort = this.table.column(sort.replace(/^-/, ""));
    this.filter = state?.get("filter") ?? "";
    const columns = state?.get("columns")?.split(",").map((name) => this.table.column(name)).filter((c) => c >= 0)
      ?? this.options.usual?.split(",").map((name) => this.table.column(name)).filter((c) => c >= 0);
    if (columns !== undefined && columns.length > 0) this.wanted = this.columns = columns;
    this.isChosen = state?.has("columns") ?? false;
  }

  private writeState(): void {
    const state = new URLSearchParams();
    if (this.sort >= 0) state.set("sort", (this.descending ? "-" : "") + this.table.columns[this.sort]!.name);
    if (this.filter !== "") state.set("filter", this.filter);
    const columns = this.wanted.map((c) => this.table.columns[c]!.name).join(",");
    const usual = this.options.usual ?? defaultColumns(this.table, this.options.hidden ?? [])
      .map((c) => this.table.columns[c]!.name).join(",");
    if (this.isChosen || columns !== usual) state.set("columns", columns);
    this.options.onState?.(state);
  }

  private tools(): HTMLElement {
    const input = h("input", {
      type: "search", class: "filter", placeholder: "filter: name samples>100 share>5 !kernel",
      "aria-label": `Filter ${this.table.title}`,
      title: "words that rows contain, !word: that they do not; column>number (shares in per cent), column=text",
    });
    input.value = this.filter;
    input.addEventListener("input", () => {
      this.filter = input.value;
      this.refresh();
      this.writeState();
    });
    return h("div", { class: "tools" }, input, this.chooser(), this.count,
      button("Copy as text", () => void copy(this.text(), "Table as text")),
      button("Copy as csv", () => void copy(gridCsv(this.table, this.rows, this.wanted), "Table as csv")));
  }

  private chooser(): HTMLElement {
    const boxes = this.table.columns.map((c, i) => {
      const box = h("input", { type: "checkbox" });
      this.boxes.push(box);
      box.addEventListener("change", () => this.choose(this.table.columns.flatMap((_, k) =>
        (k === i ? box.checked : this.columns.includes(k)) ? [k] : [])));
      return h("label", { title: c.meaning }, box, ` ${c.title} `, h("span", { class: "dim" }, c.meaning));
    });
    return h("details", { class: "chooser" }, h("summary", {}, "Columns"), h("div", { class: "boxes" }, ...boxes));
  }

  private choose(columns: readonly number[]): void {
    this.wanted = [...columns];
    this.isChosen = true;
    this.refresh();
    this.writeState();
  }

  /** Columns from the right are left out where the table would be wider than the page, as on the screens. */
  private fitColumns(): void {
    this.columns = [...this.wanted];
    while (!this.isChosen && !isNarrow() && this.columns.length > FEWEST && this.isTooWide()) this.columns.pop();
    this.boxes.forEach((box, i) => (box.checked = this.columns.includes(i)));
    const hidden = this.wanted.slice(this.columns.length).map((i) => this.table.columns[i]!.title);
    this.hiddenColumns.hidden = hidden.length === 0;
    this.hiddenColumns.replaceChildren(`hidden columns: ${hidden.join(", ")} `,
      button("Show all columns", () => this.choose(this.wanted), { class: "all-columns" }));
  }

  private sayWidth(): void {
    this.sideways.hidden = this.scroller.scrollWidth <= this.scroller.clientWidth + 1;
  }

  /** What the marks in the rows mean, whether they are in sight or not, and the notes of the table. */
  private remarks(): HTMLElement {
    return h("div", { class: "notes" }, this.legend, ...this.table.raw.notes.map(noteOf));
  }

  private explainMarks(): void {
    this.legend.textContent = legend(this.table, marksOf(this.table, this.rows, this.columns)).join("; ");
    this.legend.hidden = this.legend.textContent === "";
  }

  private refresh(): void {
    const test = filterOf(this.table, this.filter);
    let rows = Array.from({ length: this.table.rows }, (_, i) => i);

    if (test !== null) rows = rows.filter(test);
    if (this.extra !== null) rows = rows.filter(this.extra);
    if (this.isTree && rows.length < this.table.rows) rows = withParents(this.table, rows);
    if (this.sort >= 0) sortRows(this.table, rows, this.sort, this.descending);
    this.rows = (this.isTree ? treeOrder(this.table, rows, this.closed) : rows).slice(0, this.options.most);
    this.count.textContent = this.rows.length === this.table.rows
      ? `${this.table.rows} row${this.table.rows === 1 ? "" : "s"}` : `${this.rows.length} of ${this.table.rows} rows`;
    this.drawHead();
    this.explainMarks();
    this.first = this.last = -1;
    this.draw();
  }

  private sortBy(column: number): void {
    const descends = descendsFirst(this.table.columns[column]!);
    this.descending = this.sort === column ? !this.descending : descends;
    this.sort = column;
    this.refresh();
    this.writeState();
    announce(`sorted by ${this.table.columns[column]!.title}, ${this.descending ? "largest" : "smallest"} first`);
    this.head.querySelector<HTMLElement>(`[data-column="${column}"] button`)?.focus();
  }

  private drawHead(): void {
    this.columns = [...this.wanted];
    if (!isNarrow()) this.setTight(false);
    if (this.isTooWide()) this.setTight(true);
    this.fitColumns();
    const cells = this.columns.map((i) => {
      const c = this.table.columns[i]!;
      const order = this.sort !== i ? "none" : this.descending ? "descending" : "ascending";
      const arrow = this.sort !== i ? "" : this.descending ? " ▼" : " ▲";
      return h("th", { scope: "col", class: c.type === "text" ? "" : "number", "aria-sort": order, "data-column": i },
        button(heading(this.table, i) + arrow, () => this.sortBy(i),
          { title: c.meaning, "aria-label": heading(this.table, i).trim() === "" ? c.meaning : undefined }));
    });
    this.head.replaceChildren(h("tr", {}, ...cells));
    this.columnGroup.replaceChildren(...this.columns.map((i) => {
      const element = h("col");
      element.style.width = `${this.width(i) + 2}ch`;
      return element;
    }));
    const table = this.body.parentElement as HTMLTableElement;
    if (this.options.wraps !== true) table.style.minWidth = `${this.least()}ch`;
    table.setAttribute("aria-rowcount", String(this.rows.length + 1));
    this.sayWidth();
  }

  private isTooWide(): boolean {
    return this.least() * LETTER > (this.options.room ?? 1) * window.innerWidth - MARGINS;
  }

  private setTight(isTight: boolean): void {
    if (isTight !== this.isTight) this.widths.clear();
    this.isTight = isTight;
  }

  /** Characters that the columns need. */
  private least(): number {
    return this.columns.reduce((sum, i) => sum + this.width(i) + 2, 0);
  }

  /** Characters that a column needs, by some of its rows. */
  private width(column: number): number {
    let width = this.widths.get(column);
    if (width === undefined) {
      const c = this.table.columns[column]!;
      const every = Math.max(1, Math.floor(this.table.rows / SAMPLED_ROWS));
      const indented = c.flags.includes("tree") && this.isTree;
      const given = this.options.widths?.[c.name];
      width = this.isTight ? longestWord(heading(this.table, column)) : heading(this.table, column).length + SORTED;
      if (given !== undefined) width = Math.max(width, given);
      for (let row = 0; given === undefined && row < this.table.rows; row += every)
        width = Math.max(width, shown(this.table, row, column).length + (indented ? 2 * depthOf(this.table, row) + 3 : 0));
      this.widths.set(column, (width = Math.min(width, c.type === "text" && isNarrow() ? WIDEST_NARROW : WIDEST)));
    }
    return width;
  }

  /** Draws the rows in sight, between two empty ones as high as all others. */
  private draw(all = this.options.wraps === true): void {
    const height = this.scroller.clientHeight || 600;
    const first = all ? 0 : Math.max(0, Math.floor(this.scroller.scrollTop / ROW_HEIGHT) - SPARE_ROWS);
    const last = all ? Math.min(this.rows.length, MOST_PRINTED)
      : Math.min(this.rows.length, first + Math.ceil(height / ROW_HEIGHT) + 2 * SPARE_ROWS);

    if (first === this.first && last === this.last) return;
    this.first = first;
    this.last = last;
    this.body.replaceChildren(
      ...this.spacer(first),
      ...this.rows.slice(first, last).map((row, i) => this.row(row, first + i)),
      ...this.spacer(all ? 0 : this.rows.length - last));
  }

  /** For the printer: the rows that are not in sight, too. */
  drawAll(): void {
    this.draw(true);
  }
  drawAgain(): void {
    this.first = -1;
    this.draw();
  }

  private spacer(rows: number): HTMLElement[] {
    if (rows === 0) return [];
    const cell = h("td", { colspan: this.columns.length, class: "spacer" });
    cell.style.height = `${rows * ROW_HEIGHT}px`;
    return [h("tr", { "aria-hidden": "true", class: "spacer" }, cell)];
  }

  private row(row: number, index: number): HTMLElement {
    const element = h("tr", { "aria-rowindex": index + 2, "data-row": row, class: this.marked.has(row) ? "marked" : undefined },
      ...this.columns.map((column) => this.cell(row, column)));
    const choose = this.options.onChoose;
    if (choose !== undefined) element.addEventListener("click", () => choose(row));
    return element;
  }

  private cell(row: number, column: number): HTMLElement {
    const c = this.table.columns[column]!;
    const value = this.table.at(row, column);
    const words = shown(this.table, row, column);
    const mark = this.table.mark(row, column);
    const href = this.options.linkColumns?.includes(c.name) === true ? this.options.link?.(row) ?? null : null;
    const drawn = this.options.draw?.[c.name]?.(row) ?? null;
    const content = drawn ?? (href === null ? words : h("a", { href }, words));
    const title = [words, mark === "exact" || c.flags.includes("noted") ? "" : meaningOf(this.table, mark)].filter((s) => s !== "").join("\n");
    const cell = h("td", {
      class: c.type === "text" ? "" : "number", "data-column": c.name, "data-value": value === null ? "" : String(value),
      "data-mark": value === null || mark === "exact" ? undefined : mark,
      title: c.type === "text" || mark !== "exact" ? title : undefined,
    }, content);

    if (c.flags.includes("tree") && this.isTree) this.indent(cell, row);
    if (c.flags.includes("bar") && typeof value === "number") this.bar(cell, c, value);
    if (value === null || mark === "sparse" || mark === "noise") cell.classList.add("dim");
    return cell;
  }

  private bar(cell: HTMLElement, c: Column, value: number): void {
    const part = Math.min(1, Math.max(0, c.flags.includes("share") ? value : value / 100));
    cell.classList.add("bar");
    cell.style.setProperty("--part", `${100 * part}%`);
  }

  private indent(cell: HTMLElement, row: number): void {
    const closed = this.closed.has(row);
    const hasChildren = this.table.raw.parents!.includes(row);

    cell.style.paddingLeft = `${0.5 + depthOf(this.table, row)}rem`;
    if (!hasChildren) return;
    cell.prepend(button(closed ? "▸" : "▾", () => {
      if (closed) this.closed.delete(row);
      else this.closed.add(row);
      this.refresh();
    }, { class: "fold", "aria-expanded": !closed ? "true" : "false", "aria-label": closed ? "open" : "close" }));
  }
}
