// SPDX-License-Identifier: Apache-2.0
// Bars of parts: latencies of an instruction, data sources. Colours differ in lightness, too, and each part has
// its name and size in words.
import type { Table } from "./data.js";
import { h } from "./dom.js";
import { humanNumber } from "./human.js";

export interface Part {
  readonly name: string;
  readonly size: number;
}

export const PARTS = ["issue", "translation", "execution"] as const;

const CYCLES = { name: "", title: "", unit: "cycles", type: "count", meaning: "", flags: [] } as const;

/** The mean latencies of an instruction; null: none is known. */
export function partsOf(instructions: Table, row: number): Part[] | null {
  const mean = (name: string): number | null => {
    const value = instructions.get(row, name);
    return value === null ? null : Number(value);
  };
  const total = mean("total_mean_cycles");
  const issue = mean("issue_mean_cycles");
  if (total === null || issue === null) return null;
  const translation = mean("translation_mean_cycles") ?? 0;
  return [
    { name: "issue", size: Math.round(issue) },
    { name: "translation", size: Math.round(translation) },
    { name: "execution", size: Math.max(0, Math.round(total - issue - translation)) },
  ];
}

function bar(parts: readonly Part[], whole: number, words: string, classOf: (p: Part, i: number) => string): HTMLElement {
  const element = h("span", { class: "parts", role: "img", "aria-label": words, title: words },
    ...parts.map((p, i) => {
      const part = h("span", { class: classOf(p, i) });
      part.style.width = `${(100 * p.size) / whole}%`;
      return part;
    }));
  return element;
}

/** Beside those of other instructions: `most` is the longest. */
export function partsBar(parts: readonly Part[] | null, most: number): Node | null {
  if (parts === null || most === 0) return null;
  const words = parts.map((p) => `${p.name} ${humanNumber(p.size, CYCLES, 0)}`).join(", ") + " cycles";
  return bar(parts, most, words, (_, i) => `part-${i}`);
}

/** A data source: its name in the CPU's documentation, and the level that the catalog maps it to. */
export interface SourcePart extends Part {
  readonly level: string;
}

/** Nearer data are lighter. */
const DISTANCES: Readonly<Record<string, number>> = {
  "L1": 0, "L2": 1, "system-cache": 2, "local-cluster": 3, "peer-core": 3, "peer-cluster": 3, "remote": 4, "DRAM": 5, "remote-DRAM": 5,
};

const distance = (part: SourcePart): number => DISTANCES[part.level] ?? 2;

const sizeOf = (parts: readonly SourcePart[]): number => parts.reduce((sum, p) => sum + p.size, 0);

/** "L1D 80 %, DRAM 20 %" */
const sourcesWords = (parts: readonly SourcePart[]): string => [...parts].sort((a, b) => b.size - a.size)
  .map((p) => `${p.name} ${Math.round((100 * p.size) / sizeOf(parts))} %`).join(", ");

/** Characters that a bar with its words needs. */
export const sourcesWidth = (parts: readonly SourcePart[]): number => (sizeOf(parts) === 0 ? 0 : 10 + sourcesWords(parts).length);

export function sourcesBar(parts: readonly SourcePart[]): Node | null {
  const all = sizeOf(parts);
  if (all === 0) return null;
  const words = sourcesWords(parts);
  const ordered = [...parts].sort((a, b) => distance(a) - distance(b));
  return h("span", { class: "with-words" }, bar(ordered, all, words, (_, i) => `level-${distance(ordered[i]!)}`), ` ${words}`);
}
