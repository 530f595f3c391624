// SPDX-License-Identifier: Apache-2.0
// A range of the time, chosen by dragging over bars or by moving its ends.
import { button, h } from "./dom.js";
import type { Range } from "./timed.js";

export class Brush {
  /** The sliders, and what they say. */
  readonly tools: HTMLElement;
  private range: Range;
  private readonly from: HTMLInputElement;
  private readonly to: HTMLInputElement;
  private readonly said = h("p", { class: "range", role: "status" });

  /** `charts` has the bars (drawStrips()); `moment` says when a step begins. */
  constructor(
    private readonly charts: HTMLElement, private readonly steps: number, private readonly moment: (step: number) => string,
    private readonly onChange: (range: Range) => void,
  ) {
    this.range = { from: 0, to: steps };
    this.from = this.slider("from", (value) => this.choose({ from: Math.min(value, steps - 1), to: Math.max(this.range.to, value + 1) }));
    this.to = this.slider("to", (value) => this.choose({ from: Math.min(this.range.from, value - 1), to: Math.max(1, value) }));
    this.tools = h("div", {},
      h("div", { class: "tools range-tools" }, h("label", {}, "from ", this.from), h("label", {}, "to ", this.to),
        button("Whole time", () => this.choose({ from: 0, to: steps }))),
      this.said);
    charts.classList.add("timeline");
    this.drag();
  }

  /** What is chosen. */
  get now(): Range {
    return this.range;
  }
  get isWhole(): boolean {
    return this.range.from === 0 && this.range.to === this.steps;
  }
  get words(): string {
    return `${this.moment(this.range.from)} to ${this.moment(this.range.to)}${this.isWhole ? ": the whole time" : ""}`;
  }

  /** The range that an address has: "from" and "to". */
  read(state: URLSearchParams): Range {
    const number = (name: string, usual: number): number => {
      const value = Number(state.get(name) ?? usual);
      return Number.isInteger(value) && value >= 0 && value <= this.steps ? value : usual;
    };
    const range = { from: number("from", 0), to: number("to", this.steps) };
    return range.from < range.to ? range : { from: 0, to: this.steps };
  }

  /** What an address has of it. */
  write(state: URLSearchParams): void {
    if (this.isWhole) return;
    state.set("from", String(this.range.from));
    state.set("to", String(this.range.to));
  }

  /** Shows a range, without a call of `onChange`. */
  show(range: Range): void {
    this.range = range;
    this.from.value = String(range.from);
    this.to.value = String(range.to);
    this.said.textContent = this.words;
    for (const input of [this.from, this.to]) input.setAttribute("aria-valuetext", this.moment(Number(input.value)));
    this.charts.style.setProperty("--from", `${(100 * range.from) / this.steps}%`);
    this.charts.style.setProperty("--to", `${(100 * range.to) / this.steps}%`);
    this.charts.classList.toggle("chosen", !this.isWhole);
  }

  private choose(range: Range): void {
    this.show(range);
    this.onChange(range);
  }

  private slider(name: string, onInput: (value: number) => void): HTMLInputElement {
    const input = h("input", { type: "range", min: 0, max: this.steps, step: 1, "aria-label": `${name}: slice of time` });
    input.addEventListener("input", () => onInput(Number(input.value)));
    return input;
  }

  /** Where on the time a pointer is, in steps. */
  private stepAt(event: PointerEvent, plot: Element): number {
    const box = plot.getBoundingClientRect();
    return Math.max(0, Math.min(this.steps, ((event.clientX - box.left) / box.width) * this.steps));
  }

  private drag(): void {
    let plot: Element | null = null;
    let first = 0;

    this.charts.addEventListener("pointerdown", (event) => {
      plot = (event.target as Element).closest(".plot");
      if (plot === null || event.button !== 0) return;
      first = this.stepAt(event, plot);
      this.charts.setPointerCapture(event.pointerId);
      event.preventDefault();
    });
    this.charts.addEventListener("pointermove", (event) => {
      if (plot === null || (event.buttons & 1) === 0) return;
      const now = this.stepAt(event, plot);
      const from = Math.floor(Math.min(first, now));
      this.choose({ from: Math.min(from, this.steps - 1), to: Math.max(from + 1, Math.ceil(Math.max(first, now))) });
    });
    this.charts.addEventListener("pointerup", (event) => {
      if (plot !== null && Math.abs(this.stepAt(event, plot) - first) < 0.5) this.choose({ from: 0, to: this.steps });
      plot = null;
    });
  }
}
