/**
 * Data of a report: typed arrays, values as text, and sources of colours.
 * @module
 */

import { decodeBase64 } from "./bits.js";
import { formatNumber } from "./dom.js";

/** @typedef {Float32Array | Float64Array | Uint8Array | Uint16Array | Int32Array | Uint32Array} Numbers */
/**
 * @typedef {object} Packed
 * @property {string} type
 * @property {string} base64
 * @property {number} [low]  of quantised numbers
 * @property {number} [step]
 *
 * @typedef {object} Column
 * @property {string} name
 * @property {string} group
 * @property {"names" | "numbers" | "dates"} kind
 * @property {string[]} names
 * @property {Numbers} codes
 * @property {Float32Array | Float64Array} values
 * @property {number} [step]  of quantised values
 * @property {[number, number]} shown  ends of the colour scale
 * @property {number} missing
 * @property {number} [axis]
 */

/** @type {Record<string, any>} */
const TYPES = { f4: Float32Array, f8: Float64Array, u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, i4: Int32Array };

/** Numbers of a packed array. @param {Packed} pack @returns {any} */
function unpack(pack) {
  const codes = new TYPES[pack.type](decodeBase64(pack.base64).buffer), { low, step } = pack;
  if (low === undefined || step === undefined) return codes;
  const missing = pack.type === "u1" ? 255 : 65535;
  const wide = Math.abs(low) > 1e6 * step, values = new (wide ? Float64Array : Float32Array)(codes.length);
  for (let i = 0; i < codes.length; i++) values[i] = codes[i] === missing ? NaN : low + codes[i] * step;
  return values;
}

/**
 * Unpack all arrays of the page.
 * @param {any} page
 * @returns {any}
 */
export function unpackPage(page) {
  for (const map of page.maps) {
    const axes = map.values.map(unpack), d = axes.length;
    map.d = d;
    map.coordinates = new Float32Array(page.n * d);
    for (let r = 0; r < d; r++) for (let i = 0; i < page.n; i++) map.coordinates[i * d + r] = axes[r][i];
  }
  for (const column of page.columns) {
    if (column.axis !== undefined) {
      const { coordinates, d } = page.maps[0];
      column.values = Float32Array.from({ length: page.n }, (_, i) => coordinates[i * d + column.axis]);
    } else if (column.kind === "names") column.codes = unpack(column.codes);
    else {
      column.step = column.values.step;
      column.values = unpack(column.values);
    }
  }
  if (page.rows) page.rows = unpack(page.rows);
  if (page.ids?.codes) page.ids.codes = unpack(page.ids.codes);
  if (page.images) page.images.pixels = unpack(page.images.pixels);
  if (page.placing) for (const key of ["members", "coefficients", "mean", "scale"]) page.placing[key] = unpack(page.placing[key]);
  return page;
}

/** @param {number} milliseconds @returns {string} */
export function formatDate(milliseconds) {
  if (!Number.isFinite(milliseconds) || Math.abs(milliseconds) > 8.64e15) return "–";
  const text = new Date(milliseconds).toISOString();
  return text.endsWith("T00:00:00.000Z") ? text.slice(0, 10) : text.slice(0, 19).replace("T", " ");
}

/** Value of a point as text, or null if it is missing. @param {Column} column @param {number} i @returns {string | null} */
export function valueOf(column, i) {
  if (column.kind === "names") return column.names[column.codes[i]] ?? null;
  const value = column.values[i];
  if (!Number.isFinite(value)) return null;
  if (column.kind === "dates") return formatDate(value);
  return formatNumber(column.step ? Number((Math.round(value / column.step) * column.step).toPrecision(12)) : value);
}

/** Name of a point: its id, or the number of its row. @param {any} page @param {number} i @returns {string} */
export function nameOf(page, i) {
  if (page.ids) return (page.ids.codes ? page.ids.names[page.ids.codes[i]] : page.ids.names[i]) ?? "(no id)";
  const nTraining = page.n - page.newPoints;
  if (i >= nTraining) return `new row ${i - nTraining + 1}`;
  return `row ${(page.rows ? page.rows[i] : i) + 1}`;
}

/** What `paint` takes, for a column or null. @param {Column | null} column @returns {import("./colors.js").ColorSource} */
export function colorSource(column) {
  if (!column) return { kind: "none", name: "" };
  if (column.kind === "names") return { kind: "category", name: column.name, codes: column.codes, names: column.names };
  const values = column.kind === "dates" ? daysOf(column) : column.values;
  const range = /** @type {[number, number]} */ (column.kind === "dates" ? column.shown.map((value) => (value - column.shown[0]) / 864e5) : column.shown);
  return { kind: "number", name: column.name, values: /** @type {any} */ (values), ...(range ? { range } : {}) };
}

/** Dates as days after the first of the colour scale. @param {Column} column @returns {Float32Array} */
function daysOf(column) {
  return Float32Array.from(column.values, (value) => (value - column.shown[0]) / 864e5);
}
