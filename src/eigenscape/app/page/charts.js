/**
 * Small charts: bars with intervals, bars beside a mean, and lines.
 * @module
 */

import { element, formatNumber, svg } from "./dom.js";

/**
 * Horizontal bars around zero with intervals. `text` is written beside a bar instead of its value.
 * @param {{name: string, value: number, low?: number, high?: number, note: string, text?: string}[]} rows
 * @returns {HTMLElement}
 */
export function effectBars(rows) {
  const most = Math.max(1e-12, ...rows.map((row) => Math.max(Math.abs(row.value), Math.abs(row.low ?? 0), Math.abs(row.high ?? 0))));
  /** @param {number} value @returns {number} */
  const at = (value) => 100 + (96 * value) / most;
  return element("ul", { class: "bars" }, ...rows.map((row) => {
    const chart = svg("svg", { viewBox: "0 0 200 14", class: "bar", "aria-hidden": "true", preserveAspectRatio: "none" },
      svg("line", { x1: 100, x2: 100, y1: 0, y2: 14, class: "zero" }),
      svg("rect", { x: Math.min(100, at(row.value)), y: 3, width: Math.abs(at(row.value) - 100), height: 8, class: row.value < 0 ? "less" : "more" }),
      row.low !== undefined && row.high !== undefined && svg("line", { x1: at(row.low), x2: at(row.high), y1: 7, y2: 7, class: "interval" }));
    return element("li", { title: row.note }, element("span", { class: "bar-name" }, row.name), chart, element("span", { class: "bar-value" }, row.text ?? row.value.toFixed(2)));
  }));
}

/** Frame of a line chart: left, right, top and bottom. */
const LEFT = 46, RIGHT = 292, TOP = 8, BOTTOM = 96;

/**
 * Lines over the number of components, from zero; values are not negative.
 * @param {{name: string, values: number[], dashed: boolean}[]} lines
 * @returns {HTMLElement}
 */
export function lineChart(lines) {
  const high = Math.max(...lines.flatMap((line) => line.values).filter(Number.isFinite)) || 1;
  const count = Math.max(2, ...lines.map((line) => line.values.length)), step = Math.ceil(count / 8);
  /** @param {number} k @returns {number} */
  const x = (k) => LEFT + ((RIGHT - LEFT) * k) / (count - 1);
  /** @param {number} value @returns {number} */
  const y = (value) => BOTTOM - ((BOTTOM - TOP) * Math.max(0, value)) / high;
  /** @param {number} at @param {number} height @param {string} text @param {string} anchor @returns {SVGElement} */
  const label = (at, height, text, anchor) => svg("text", { x: at, y: height, "text-anchor": anchor }, text);
  const marks = Array.from({ length: count }, (_, k) => k).filter((k) => k % step === 0);
  const drawing = svg("svg", { viewBox: "0 0 300 128", class: "lines", role: "img", "aria-label": lines.map((line) => line.name).join(" and ") },
    svg("path", { d: `M${LEFT} ${TOP}V${BOTTOM}H${RIGHT}`, class: "axis" }),
    label(LEFT - 5, TOP + 4, high < 1e5 ? formatNumber(Number(high.toPrecision(2))) : high.toExponential(1), "end"), label(LEFT - 5, BOTTOM + 3, "0", "end"),
    ...marks.map((k) => label(x(k), BOTTOM + 13, String(k + 1), "middle")), label((LEFT + RIGHT) / 2, BOTTOM + 28, "number of components", "middle"),
    ...lines.map((line) => svg("polyline", { points: line.values.map((value, k) => `${x(k).toFixed(1)},${y(value).toFixed(1)}`).join(" "), class: line.dashed ? "held-out" : "training" })));
  return element("figure", { class: "chart" }, drawing);
}
