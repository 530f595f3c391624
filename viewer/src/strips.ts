// SPDX-License-Identifier: Apache-2.0
// Bars side by side: distributions, and amounts over time. Each strip has its name and its figures in words.
import { h, svg } from "./dom.js";
import { sparkOf } from "./human.js";
import { sign } from "./marks.js";

export interface Strip {
  readonly name: string;
  /** By step; null: nothing is known of it. */
  readonly values: readonly (number | null)[];
  /** What a bar says. */
  readonly words: (step: number) => string;
  /** Beside the strip. */
  readonly figures: string;
  /** Steps whose value is a lower bound, or rests on too few samples. */
  readonly bounds?: ReadonlySet<number>;
  readonly sparse?: ReadonlySet<number>;
}

export interface Tick {
  /** In steps; bars of step n go from n to n + 1. */
  readonly at: number;
  readonly label: string;
}

const WIDE = 10;
const HIGH = 100;
const LEAST = 3;

export function largestOf(strips: readonly Strip[]): number {
  return strips.reduce((most, s) => s.values.reduce<number>((m, v) => Math.max(m, v ?? 0), most), 0);
}

function bars(strip: Strip, largest: number): SVGElement {
  const steps = strip.values.length;
  const drawn = strip.values.flatMap((value, step) => {
    if (value === null || value <= 0) return [];
    const high = Math.max(LEAST, (HIGH * value) / largest);
    return [svg("rect", {
      x: step * WIDE, y: HIGH - high, width: WIDE - 1, height: high,
      class: strip.bounds?.has(step) === true ? "bound" : strip.sparse?.has(step) === true ? "sparse" : undefined,
    }, svg("title", {}, strip.words(step)))];
  });
  return svg("svg", {
    viewBox: `0 0 ${steps * WIDE} ${HIGH}`, preserveAspectRatio: "none", role: "img",
    "aria-label": `${strip.name}: ${strip.figures}`,
  }, ...drawn);
}

/** Labels behind this part of an axis stand before their ticks: they would leave a narrow page. */
const LAST_PART = 0.9;

function axis(steps: number, ticks: readonly Tick[], title: string): HTMLElement {
  return h("div", { class: "strip strip-axis" }, h("span", { class: "strip-name dim" }, title),
    h("div", { class: "ticks", "aria-hidden": "true" }, ...ticks.map((tick) => {
      const element = h("span", {}, tick.label);
      if (tick.at > LAST_PART * steps) {
        element.className = "last";
        element.style.right = `${100 - (100 * Math.min(steps, tick.at)) / steps}%`;
      } else {
        element.style.left = `${(100 * tick.at) / steps}%`;
      }
      return element;
    })),
    h("span", { class: "strip-figures" }));
}

function legendOf(strips: readonly Strip[]): HTMLElement | null {
  const words = stripsLegend(strips);
  return words === "" ? null : h("p", { class: "note" }, words);
}

/** Strips below each other, on one axis; `largest`: the value of a full bar, where all have the same scale. */
export function drawStrips(
  strips: readonly Strip[], ticks: readonly Tick[], title: string, largest?: number,
): HTMLElement {
  return h("div", { class: "strips" },
    ...strips.map((strip) => h("div", { class: "strip" }, h("span", { class: "strip-name" }, strip.name),
      h("div", { class: "plot" }, bars(strip, largest ?? largestOf([strip]))), h("span", { class: "strip-figures" }, strip.figures))),
    axis(strips[0]?.values.length ?? 1, ticks, title), legendOf(strips));
}

/** Other figures beside strips that are drawn. */
export function setFigures(drawn: HTMLElement, strips: readonly Strip[]): void {
  drawn.querySelectorAll(".strip:not(.strip-axis)").forEach((element, i) => {
    const strip = strips[i];
    if (strip === undefined) return;
    element.querySelector(".strip-figures")!.textContent = strip.figures;
    element.querySelector("svg")!.setAttribute("aria-label", `${strip.name}: ${strip.figures}`);
  });
}

/** What the colours of bars mean, of those that are there. */
export function stripsLegend(strips: readonly Strip[]): string {
  const isDrawn = (which: (s: Strip) => ReadonlySet<number> | undefined): boolean =>
    strips.some((s) => s.values.some((value, step) => (value ?? 0) > 0 && which(s)?.has(step) === true));
  return [
    isDrawn((s) => s.bounds) ? `orange: ${sign("saturated").meaning}` : "",
    isDrawn((s) => s.sparse) ? `light: ${sign("sparse").meaning}` : "",
  ].filter((s) => s !== "").join("   ");
}

/** The same as lines of text. */
export function stripsText(strips: readonly Strip[], largest?: number): string {
  const wide = strips.reduce((most, s) => Math.max(most, s.name.length), 0);
  return strips.map((s) => `${s.name.padEnd(wide)}  ${sparkOf(s.values, largest ?? largestOf([s]))}  ${s.figures}\n`).join("");
}
