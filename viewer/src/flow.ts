// SPDX-License-Identifier: Apache-2.0
// The control flow graph of a function: blocks with what they took, in the loops that they are of, edges with how
// often they were taken.
import { graphlib, layout } from "@dagrejs/dagre";

import type { Table } from "./data.js";
import { h, svg } from "./dom.js";
import { shown } from "./human.js";
import { legend } from "./marks.js";
import { marksOf } from "./text.js";

const MOST_BLOCKS = 160;
const WIDTH = 196;
const HEIGHT = 44;
const PADDING = 12;

interface Point {
  readonly x: number;
  readonly y: number;
}

interface Edge {
  readonly from: string;
  readonly to: string;
  readonly words: string;
  readonly isBack: boolean;
  readonly kind: string;
}

const rowsOf = (t: Table): number[] => Array.from({ length: t.rows }, (_, row) => row);
const marksIn = (t: Table, rows: readonly number[], ...names: string[]): string[] =>
  [...marksOf(t, rows, names.map((name) => t.column(name)).filter((c) => c >= 0))];
const cellOf = (t: Table, row: number, name: string): string => (t.get(row, name) === null ? "" : shown(t, row, t.column(name)));

/** Of very many blocks, those with most of the samples, in their order. */
function blocksToDraw(blocks: Table): number[] {
  const rows = Array.from({ length: blocks.rows }, (_, row) => row);
  if (rows.length <= MOST_BLOCKS) return rows;
  const hottest = [...rows].sort((a, b) => Number(blocks.get(b, "share")) - Number(blocks.get(a, "share")) || a - b);
  return hottest.slice(0, MOST_BLOCKS).sort((a, b) => a - b);
}

function edgesOf(edges: Table, drawn: ReadonlySet<string>): Edge[] {
  return Array.from({ length: edges.rows }, (_, i) => i).flatMap((i) => {
    const outside = edges.words(i, "to_name");
    const from = edges.words(i, "from_block");
    const to = edges.get(i, "to_block") === null ? `to ${outside}` : edges.words(i, "to_block");
    if (!drawn.has(from) || (!drawn.has(to) && outside === "")) return [];
    const share = cellOf(edges, i, "share");
    const words = [cellOf(edges, i, "count"), share === "" ? "" : `(${share})`].filter((s) => s !== "").join(" ");
    return [{ from, to, words, isBack: edges.get(i, "is_back") === true, kind: edges.words(i, "kind") }];
  });
}

/** A loop: its blocks among those that are drawn, the loop around it, and what it took. */
interface Loop {
  readonly id: string;
  readonly blocks: readonly string[];
  readonly around: string | null;
  readonly words: string;
}

/** Loops are ranges of addresses; the smaller ones are inside. */
function loopsOf(loops: Table | undefined, blocks: Table, rows: readonly number[]): Loop[] {
  const at = (t: Table, row: number, name: string): bigint => BigInt(t.words(row, name));
  const ranges = Array.from({ length: loops?.rows ?? 0 }, (_, i) => i).map((i) => {
    const [from, to] = [at(loops!, i, "start"), at(loops!, i, "end")];
    const inside = rows.filter((row) => at(blocks, row, "start") >= from && at(blocks, row, "start") <= to);
    return { i, from, to, blocks: inside.map((row) => blocks.words(row, "block")) };
  }).filter((l) => l.blocks.length > 0).sort((a, b) => Number((a.to - a.from) - (b.to - b.from)));
  return ranges.map((l, k): Loop => {
    const outer = ranges.slice(k + 1).find((o) => o.from <= l.from && o.to >= l.to);
    const share = cellOf(loops!, l.i, "share");
    return { id: `loop ${l.i}`, blocks: l.blocks, around: outer === undefined ? null : `loop ${outer.i}`, words: `loop${share === "" ? "" : ` ${share}`}` };
  });
}

function path(points: readonly Point[]): string {
  return points.map((p, i) => `${i === 0 ? "M" : "L"}${p.x.toFixed(1)} ${p.y.toFixed(1)}`).join("");
}

function blockNode(blocks: Table, row: number, x: number, y: number, choose: (block: number) => void): SVGElement {
  const number = Number(blocks.get(row, "block"));
  const share = Number(blocks.get(row, "share") ?? 0);
  const lines = [blocks.words(row, "line"), blocks.words(row, "last_line")].filter((s) => s !== "");
  const place = lines.length === 0 ? blocks.words(row, "start") : `line ${[...new Set(lines)].join(" to ")}`;
  const executions = cellOf(blocks, row, "exec");
  const what = [cellOf(blocks, row, "share"), executions === "" ? "" : `${executions} executions`].filter((s) => s !== "").join("  ");
  const link = svg("a", { href: `#block-${number}`, class: "block" },
    svg("rect", { x: x - WIDTH / 2, y: y - HEIGHT / 2, width: WIDTH, height: HEIGHT, rx: 4 }),
    svg("rect", { class: "heat", x: x - WIDTH / 2, y: y + HEIGHT / 2 - 5, width: WIDTH * Math.min(1, share), height: 5 }),
    svg("text", { x: x - WIDTH / 2 + 8, y: y - 5 }, `[${number}]  ${place}`),
    svg("text", { x: x - WIDTH / 2 + 8, y: y + 11 }, what));
  link.addEventListener("click", (event) => {
    event.preventDefault();
    choose(number);
  });
  return link;
}

/** Draws the graph; `choose` is called with the number of a block. */
export function drawFlow(
  root: HTMLElement, blocks: Table, edges: Table, loops: Table | undefined, choose: (block: number) => void,
): void {
  const rows = blocksToDraw(blocks);
  const drawn = new Set(rows.map((row) => blocks.words(row, "block")));
  const list = edgesOf(edges, drawn);
  const inside = loopsOf(loops, blocks, rows);
  const graph = new graphlib.Graph({ multigraph: true, compound: true });

  graph.setGraph({ nodesep: 26, ranksep: inside.length > 0 ? 8 : 34, marginx: PADDING, marginy: PADDING });
  for (const row of rows) graph.setNode(blocks.words(row, "block"), { width: WIDTH, height: HEIGHT });
  for (const loop of inside) graph.setNode(loop.id, {});
  for (const loop of [...inside].reverse()) {
    for (const block of loop.blocks) graph.setParent(block, loop.id); // smaller ones come last
    if (loop.around !== null) graph.setParent(loop.id, loop.around);
  }
  for (const edge of list)
    if (!drawn.has(edge.to)) graph.setNode(edge.to, { width: 8 * edge.to.length + 16, height: 22 });
  list.forEach((edge, i) =>
    graph.setEdge(edge.from, edge.to, { width: 7 * edge.words.length, height: 14, labelpos: "c" }, String(i)));
  layout(graph);

  const byId = new Map(inside.map((loop) => [loop.id, loop]));
  // Words of a loop stand at the other end than those of the one around it, which may begin at the same height.
  const isOdd = (loop: Loop): boolean => loop.around !== null && !isOdd(byId.get(loop.around)!);
  const size = graph.graph() as { width: number; height: number };
  const picture = svg("svg", {
    class: "flow", role: "group", "aria-label": "Control flow graph", width: size.width, height: size.height,
    viewBox: `0 0 ${size.width} ${size.height}`,
  }, svg("defs", {}, svg("marker", {
    id: "arrow", viewBox: "0 0 10 10", refX: 9, refY: 5, markerWidth: 7, markerHeight: 7, orient: "auto-start-reverse",
  }, svg("path", { d: "M0 0L10 5L0 10z" }))));
  for (const loop of [...inside].reverse()) {
    const at = graph.node(loop.id) as Point & { width: number; height: number };
    picture.append(svg("rect", { class: "loop", x: at.x - at.width / 2, y: at.y - at.height / 2, width: at.width, height: at.height, rx: 6 }),
      svg("text", { class: isOdd(loop) ? "loop-words at-end" : "loop-words", x: at.x + (isOdd(loop) ? 1 : -1) * (at.width / 2 - 6), y: at.y - at.height / 2 - 4 },
        loop.words));
  }
  const words = list.flatMap((edge, i) => {
    const at = graph.edge({ v: edge.from, w: edge.to, name: String(i) }) as { points: Point[]; x: number; y: number };
    picture.append(svg("path", {
      class: `edge ${edge.isBack ? "back" : ""} ${edge.kind}`, d: path(at.points), "marker-end": "url(#arrow)",
    }));
    return edge.words === "" ? [] : [svg("text", { class: "edge-words", x: at.x, y: at.y + 4 }, edge.words)];
  });
  picture.append(...words);
  for (const row of rows) {
    const at = graph.node(blocks.words(row, "block")) as Point;
    picture.append(blockNode(blocks, row, at.x, at.y, choose));
  }
  for (const name of new Set(list.map((edge) => edge.to).filter((to) => !drawn.has(to)))) {
    const at = graph.node(name) as Point;
    picture.append(svg("text", { class: "outside", x: at.x, y: at.y + 4 }, name));
  }
  if (rows.length < blocks.rows)
    root.append(h("p", { class: "note" }, `the ${rows.length} hottest of ${blocks.rows} blocks`));
  const marks = [...marksIn(blocks, rows, "share", "exec"), ...marksIn(edges, rowsOf(edges), "share", "count"),
    ...(loops === undefined ? [] : marksIn(loops, rowsOf(loops), "share"))];
  root.append(h("div", { class: "flow-box", tabindex: 0, role: "region", "aria-label": "Control flow" }, picture),
    h("p", { class: "note" }, 
      "dashed: closes a loop" + (inside.length > 0 ? "; frames: loops by their addresses, with their part of the function" : "") + (list.some((edge) => edge.words !== "") ? "; on edges: executions by branch stacks, and their part of the block's" : "")));
  if (marks.some((mark) => mark !== "exact")) root.append(h("p", { class: "note legend" }, legend(blocks, new Set(marks)).join("; ")));
}
