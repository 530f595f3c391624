// SPDX-License-Identifier: Apache-2.0
// A cache line drawn byte by byte: members, and below them who reads and writes which bytes.
import { h } from "./dom.js";

/** Some bytes of a line. */
export interface Span {
  readonly offset: number;
  readonly size: number;
  readonly words: string;
  /** What is in the box, if there is room. */
  readonly label: string;
  readonly kind: "used" | "unused" | "reads" | "writes" | "both";
}

/** A row below the ruler: bytes, and what they are in words. */
export interface ByteRow {
  readonly words: string;
  readonly spans: readonly Span[];
}

/** A number on the ruler for each of these. */
const RULED = 8;

function box(span: Span, bytes: number): HTMLElement | null {
  const first = Math.max(0, span.offset);
  const end = Math.min(bytes, span.offset + Math.max(1, span.size));
  if (end <= first) return null;
  const element = h("span", { class: `byte-${span.kind}`, title: span.words }, span.label);
  element.style.gridColumn = `${first + 1} / ${end + 1}`;
  return element;
}

function cells(bytes: number, children: readonly (HTMLElement | null)[], isRuler = false): HTMLElement {
  const element = h("div", { class: isRuler ? "bytes ruler" : "bytes", "aria-hidden": "true" }, ...children);
  element.style.gridTemplateColumns = `repeat(${bytes}, minmax(0, 1fr))`;
  return element;
}

/** A line of so many bytes. The words of each row say all that its boxes show. */
export function drawBytes(bytes: number, rows: readonly ByteRow[], label: string): HTMLElement {
  const ruler = Array.from({ length: Math.ceil(bytes / RULED) }, (_, i): HTMLElement | null => {
    const at = h("span", {}, String(i * RULED));
    at.style.gridColumn = `${i * RULED + 1} / ${Math.min(bytes, (i + 1) * RULED) + 1}`;
    return at;
  });
  return h("div", { class: "byte-rows", role: "list", "aria-label": label },
    h("div", { class: "byte-row", role: "presentation" }, h("span", { class: "dim byte-words" }, "byte"), cells(bytes, ruler, true)),
    ...rows.map((row) => h("div", { class: "byte-row", role: "listitem" }, h("span", { class: "byte-words" }, row.words),
      cells(bytes, row.spans.map((span) => box(span, bytes))))));
}
