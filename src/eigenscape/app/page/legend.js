/**
 * Legend of the colours, with filters: categories can be hidden, numbers limited to a range.
 * @module
 */

import { element, formatCount, formatNumber, replaceChildren } from "./dom.js";

/** @typedef {import("./colors.js").LegendData} LegendData */
/**
 * @typedef {object} LegendFilter  What is shown; stored with the view.
 * @property {string[]} hidden  names of categories
 * @property {[number, number] | null} range  of numbers
 */

/**
 * Draw a legend.
 *
 * Its check boxes hide categories and its sliders limit numbers: `onFilter` gets the filter. The names of categories are
 * buttons that select their points: `onSelect` gets a mask.
 * @param {HTMLElement} parent
 * @param {LegendData} data  from `paint`
 * @param {LegendFilter} filter
 * @param {{onFilter: (filter: LegendFilter) => void, onSelect: (mask: Uint8Array) => void}} handlers
 * @returns {void}
 */
export function drawLegend(parent, data, filter, handlers) {
  const title = element("h3", { class: "legend-title" }, data.name);
  if (data.kind === "category") replaceChildren(parent, title, categoryList(data, filter, handlers));
  else if (data.kind === "number") replaceChildren(parent, title, ...numberScale(data, filter, handlers));
  else replaceChildren(parent);
}

/**
 * Mask of the points that a filter shows, or null if it shows all.
 * @param {LegendData} data
 * @param {LegendFilter} filter
 * @returns {Uint8Array | null}
 */
export function visiblePoints(data, filter) {
  if (data.kind === "category" && data.codes) {
    const shown = data.names.map((name) => (filter.hidden.includes(name) ? 0 : 1));
    return shown.every(Boolean) ? null : Uint8Array.from(data.codes, (code) => shown[code]);
  }
  if (data.kind === "number" && data.values && filter.range) {
    const [low, high] = filter.range;
    return Uint8Array.from(data.values, (value) => (value >= low && value <= high ? 1 : 0));
  }
  return null;
}

/**
 * @param {LegendData} data
 * @param {LegendFilter} filter
 * @param {{onFilter: (filter: LegendFilter) => void, onSelect: (mask: Uint8Array) => void}} handlers
 * @returns {HTMLElement}
 */
function categoryList(data, filter, handlers) {
  /** @param {string} name @returns {void} */
  const toggle = (name) => {
    const hidden = filter.hidden.includes(name) ? filter.hidden.filter((one) => one !== name) : [...filter.hidden, name];
    handlers.onFilter({ ...filter, hidden });
  };
  return element("ul", { class: "legend-list" }, ...data.names.map((name, code) => {
    const swatch = element("span", { class: "swatch", "aria-hidden": "true" });
    swatch.style.background = data.colors[code];
    const box = element("input", { type: "checkbox", "aria-label": `Show ${name}`, onchange: () => toggle(name) });
    box.checked = !filter.hidden.includes(name);
    const select = () => handlers.onSelect(Uint8Array.from(data.codes ?? [], (one) => (one === code ? 1 : 0)));
    return element("li", {}, box, element("button", { type: "button", class: "legend-name", title: `Select ${name}`, onclick: select },
      swatch, element("span", { class: "legend-text" }, name), element("span", { class: "legend-count" }, formatCount(data.counts[code]))));
  }));
}

/**
 * @param {LegendData} data
 * @param {LegendFilter} filter
 * @param {{onFilter: (filter: LegendFilter) => void}} handlers
 * @returns {HTMLElement[]}
 */
function numberScale(data, filter, handlers) {
  const canvas = element("canvas", { class: "legend-ramp", width: 256, height: 40, "aria-hidden": "true" });
  drawRamp(canvas, data);
  const [low, high] = data.full, step = (high - low) / 200 || 1, range = filter.range ?? data.full;
  /** @type {HTMLInputElement[]} */
  const sliders = [0, 1].map((end) => element("input", {
    type: "range", min: low, max: high, step: "any", value: range[end], "aria-label": end ? "Largest value shown" : "Smallest value shown",
    onchange: () => {
      const values = sliders.map((slider) => Number(slider.value)).sort((a, b) => a - b);
      const full = values[0] <= low + step / 2 && values[1] >= high - step / 2;
      handlers.onFilter({ ...filter, range: full ? null : [values[0], values[1]] });
    },
  }));
  const ends = element("div", { class: "legend-ends" }, element("span", {}, formatNumber(data.range[0])), element("span", {}, formatNumber(data.range[1])));
  const missing = data.missing ? [element("p", { class: "legend-note" }, `${formatCount(data.missing)} without a value (grey)`)] : [];
  return [canvas, ends, element("div", { class: "legend-range" }, ...sliders), ...missing];
}

/** Histogram of the values in their colours. @param {HTMLCanvasElement} canvas @param {LegendData} data @returns {void} */
function drawRamp(canvas, data) {
  const context = canvas.getContext("2d"), { values, ramp, range } = data, counts = new Float64Array(32);
  if (!context || !values || !ramp) return;
  const span = range[1] - range[0] || 1;
  for (let i = 0; i < values.length; i++) {
    const place = Math.floor((32 * (values[i] - range[0])) / span);
    if (place >= 0 && place <= 32) counts[Math.min(31, place)]++;
  }
  const most = Math.max(...counts, 1);
  for (let bin = 0; bin < 32; bin++) {
    const at = 3 * Math.round((bin * 255) / 31), height = Math.sqrt(counts[bin] / most) * 28;
    context.fillStyle = `rgb(${ramp[at]},${ramp[at + 1]},${ramp[at + 2]})`;
    context.fillRect(8 * bin, 28 - height, 8, height);
    context.fillRect(8 * bin, 30, 8, 10);
  }
}
