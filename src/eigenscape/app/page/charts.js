/**
 * Small charts: bars with intervals, bars beside a mean, and lines.
 * @module
 */

import { element, formatNumber, svg } from "./dom.js";

/**
 * Horizontal bars around zero with intervals.
 * @param {{name: string, value: number, low?: number, high?: number, note: string}[]} rows
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
    return element("li", { title: row.note }, element("span", { class: "bar-name" }, row.name), chart, element("span", { class: "bar-value" }, row.value.toFixed(2)));
  }));
}

/**
 * Lines over the number of components.
 * @param {{name: string, values: number[], dashed: boolean}[]} lines
 * @returns {HTMLElement}
 */
export function lineChart(lines) {
  const all = lines.flatMap((line) => line.values).filter(Number.isFinite), low = Math.min(...all), high = Math.max(...all);
  const count = Math.max(2, ...lines.map((line) => line.values.length)), span = high - low || 1;
  /** @param {number} k @param {number} value @returns {string} */
  const place = (k, value) => `${(6 + (288 * k) / (count - 1)).toFixed(1)},${(94 - (84 * (value - low)) / span).toFixed(1)}`;
  const drawing = svg("svg", { viewBox: "0 0 300 100", class: "lines", role: "img", "aria-label": lines.map((line) => line.name).join(" and ") },
    ...lines.map((line) => svg("polyline", { points: line.values.map((value, k) => place(k, value)).join(" "), class: line.dashed ? "held-out" : "training" })));
  return element("figure", { class: "chart" }, drawing, element("figcaption", {}, `1 to ${count} components, ${formatNumber(low)} to ${formatNumber(high)}`));
}
