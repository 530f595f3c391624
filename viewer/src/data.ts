// SPDX-License-Identifier: Apache-2.0
// The blocks of data in this file (src/html/json.c writes them): unpacked when a page asks for them, once.

export type Value = string | number | boolean | null;

export type Flag =
  | "bar" | "programs" | "tree" | "share" | "people" | "trust" | "path" | "spark" | "blank" | "command" | "figures"
  | "below" | "message" | "source" | "noted";

export interface Column {
  readonly name: string;
  readonly title: string;
  readonly unit: string;
  readonly type: "none" | "count" | "signed" | "number" | "hex" | "text" | "bool";
  readonly meaning: string;
  readonly flags: readonly Flag[];
}

export interface RawTable {
  readonly name: string;
  readonly title?: string;
  readonly style: "grid" | "facts" | "findings" | "answer";
  readonly readers: "all" | "people" | "programs";
  readonly columns: readonly Column[];
  readonly rows: number;
  readonly parents?: readonly number[];
  readonly cells: readonly (readonly Value[])[];
  readonly marks: readonly Readonly<Record<string, string>>[];
  /** By mark, where it means something else in this table than elsewhere. */
  readonly meanings?: Readonly<Record<string, string>>;
  readonly notes: readonly string[];
}

/** Units that names of columns end with: heads have them in parentheses. */
const IN_NAMES = ["cycles", "ns", "bytes"];

/** A head for a column that has only a name: "total_p50_cycles" is "total p50". */
function titled(c: Column): Column {
  if (c.title !== c.name) return c;
  const words = c.name.split("_");
  if (words.length > 1 && IN_NAMES.includes(c.unit) && words.at(-1) === c.unit) words.pop();
  return { ...c, title: words.join(" ") };
}

/** A table as cyclops has it: typed columns with a unit and a meaning, cells with a mark of trust. */
export class Table {
  readonly columns: readonly Column[];

  constructor(readonly raw: RawTable) {
    this.columns = raw.columns.map(titled);
  }

  /** The same table with something else in it. */
  with(changes: Partial<RawTable>): Table {
    return new Table({ ...this.raw, ...changes });
  }

  get name(): string {
    return this.raw.name;
  }
  get title(): string {
    return this.raw.title ?? this.raw.name.replaceAll("_", " ");
  }
  get rows(): number {
    return this.raw.rows;
  }

  /** The number of a column, or -1. */
  column(name: string): number {
    return this.columns.findIndex((c) => c.name === name);
  }
  at(row: number, column: number): Value {
    return this.raw.cells[column]?.[row] ?? null;
  }
  get(row: number, name: string): Value {
    return this.at(row, this.column(name));
  }
  /** A cell as text; "" if it is absent. */
  words(row: number, name: string): string {
    const value = this.get(row, name);
    return value === null ? "" : String(value);
  }
  mark(row: number, column: number): string {
    return this.raw.marks[column]?.[row] ?? "exact";
  }
  hasMarks(column: number): boolean {
    for (const _ in this.raw.marks[column]) return true;
    return false;
  }
  parent(row: number): number {
    return this.raw.parents?.[row] ?? -1;
  }
}

export interface Block {
  readonly page: string;
  readonly label?: string;
  /** Of a comparison, where labels are the same in both. */
  readonly run?: "a" | "b";
}

export interface About {
  readonly command: string;
  readonly version: string;
  readonly subject: string;
  readonly modelled: boolean;
  readonly blocks: readonly Block[];
}

async function unpack(id: string): Promise<string> {
  const packed = atob(document.getElementById(id)?.textContent ?? "");
  const bytes = new Uint8Array(packed.length);
  for (let i = 0; i < packed.length; i++) bytes[i] = packed.charCodeAt(i);
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"))).text();
}

export class Data {
  private readonly loaded = new Map<number, Promise<Table[]>>();

  private constructor(readonly about: About) {}

  static async open(): Promise<Data> {
    return new Data(JSON.parse(await unpack("about")) as About);
  }

  has(page: string): boolean {
    return this.about.blocks.some((b) => b.page === page);
  }

  /** The number of a page's block: the first, or that with this label. -1: there is none. */
  find(page: string, label?: string): number {
    return this.about.blocks.findIndex((b) => b.page === page && (label === undefined || b.label === label));
  }

  load(block: number): Promise<Table[]> {
    let tables = this.loaded.get(block);
    if (tables === undefined) {
      tables = unpack(`block-${block}`).then((json) =>
        (JSON.parse(json) as { tables: RawTable[] }).tables.map((raw) => new Table(raw)),
      );
      this.loaded.set(block, tables);
    }
    return tables;
  }
}
