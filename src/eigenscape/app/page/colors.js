/**
 * Colours of the points from a column, and what the legend shows of them.
 * @module
 */

import { DENSE, MISSING, PLAIN, assignCategories, colorMap, onBackground, toRgb } from "./palette.js";

/**
 * @typedef {object} ColorSource  A column to colour by.
 * @property {"category" | "number" | "none"} kind
 * @property {string} name
 * @property {ArrayLike<number>} [codes]  of a category: index into `names`, anything else is a missing value
 * @property {string[]} [names]
 * @property {Float32Array} [values]  of numbers; NaN is a missing value
 * @property {boolean} [reversed]  small numbers are bright
 * @property {"viridis" | "cividis"} [colorMap]
 * @property {[number, number]} [range]  values at the ends of the colour map
 * @property {number} [tail]  without a range: share of the smallest values, and of the largest, that have the same colour
 * @property {string} [unit]  what the numbers are
 *
 * @typedef {object} LegendData
 * @property {"category" | "number" | "none"} kind
 * @property {string} name
 * @property {string[]} names  of a category
 * @property {string[]} colors
 * @property {number[]} counts
 * @property {Uint8Array | null} codes  of each point, index into `names`
 * @property {Float32Array | null} values
 * @property {[number, number]} range
 * @property {[number, number]} full  smallest and largest number
 * @property {Uint8Array | null} ramp  256 colours
 * @property {number} missing
 */

/**
 * Colour the points.
 * @param {ColorSource} source
 * @param {number} n
 * @param {boolean} dark  the background is dark
 * @returns {{rgb: Uint8Array, legend: LegendData}}
 */
export function paint(source, n, dark) {
  if (source.kind === "category" && source.codes) return paintCategories(source.name, source.codes, source.names ?? [], n, dark);
  if (source.kind === "number" && source.values) return paintNumbers(source, source.values, n, dark);
  const rgb = new Uint8Array(3 * n), color = toRgb(onBackground(PLAIN, dark));
  for (let i = 0; i < n; i++) rgb.set(color, 3 * i);
  return { rgb, legend: legendData("none", source.name) };
}

/**
 * @param {string} name
 * @param {ArrayLike<number>} codes
 * @param {string[]} names
 * @param {number} n
 * @param {boolean} dark
 * @returns {{rgb: Uint8Array, legend: LegendData}}
 */
function paintCategories(name, codes, names, n, dark) {
  const found = assignCategories(codes, names), colors = found.colors.map((color) => onBackground(color, dark));
  const table = colors.map(toRgb), rgb = new Uint8Array(3 * n);
  for (let i = 0; i < n; i++) {
    const color = table[found.codes[i]];
    rgb[3 * i] = color[0];
    rgb[3 * i + 1] = color[1];
    rgb[3 * i + 2] = color[2];
  }
  return { rgb, legend: { ...legendData("category", name), names: found.names, colors, counts: found.counts, codes: found.codes } };
}

/**
 * @param {ColorSource} source
 * @param {Float32Array} values
 * @param {number} n
 * @param {boolean} dark
 * @returns {{rgb: Uint8Array, legend: LegendData}}
 */
function paintNumbers(source, values, n, dark) {
  const known = values.filter(Number.isFinite).sort(), ramp = colorMap(source.colorMap ?? "viridis").slice();
  if (dark) lighten(ramp);
  if (source.reversed) reverseColors(ramp);
  // As in the figures of `eigenscape.plot`, outliers do not compress the colours of many points.
  const tail = source.tail ?? (n > DENSE ? 0.01 : 0), last = known.length - 1;
  /** @type {[number, number]} */
  const full = known.length ? [known[0], known[last]] : [0, 1];
  const range = source.range ?? (known.length ? [known[Math.round(tail * last)], known[Math.round((1 - tail) * last)]] : full);
  const rgb = new Uint8Array(3 * n), none = toRgb(dark ? "#555B62" : MISSING), factor = range[1] > range[0] ? 255 / (range[1] - range[0]) : 0;
  for (let i = 0; i < n; i++) {
    const value = values[i], place = 3 * (factor ? Math.max(0, Math.min(255, Math.round((value - range[0]) * factor))) : 128);
    const isKnown = Number.isFinite(value);
    for (let c = 0; c < 3; c++) rgb[3 * i + c] = isKnown ? ramp[place + c] : none[c];
  }
  const legend = { ...legendData("number", source.name), values, range: /** @type {[number, number]} */ (range), full, ramp };
  return { rgb, legend: { ...legend, missing: n - known.length } };
}

/** Mix the dark end of a colour map with white, so that it is seen on a dark background. @param {Uint8Array} ramp @returns {void} */
function lighten(ramp) {
  for (let i = 0; i < ramp.length; i++) ramp[i] += (255 - ramp[i]) * 0.34 * (1 - Math.floor(i / 3) / 255);
}

/** @param {Uint8Array} ramp @returns {void} */
function reverseColors(ramp) {
  const before = ramp.slice();
  for (let i = 0; i < 256; i++) ramp.set(before.subarray(3 * (255 - i), 3 * (255 - i) + 3), 3 * i);
}

/** @param {"category" | "number" | "none"} kind @param {string} name @returns {LegendData} */
function legendData(kind, name) {
  return { kind, name, names: [], colors: [], counts: [], codes: null, values: null, range: [0, 1], full: [0, 1], ramp: null, missing: 0 };
}
