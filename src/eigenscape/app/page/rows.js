/**
 * Rows of the data: their id, values and images, kept once they were asked for.
 * @module
 */

import { imageCanvas } from "./images.js";

/** @typedef {{row: number, id: string, values: [string, string][]}} Row */
/** @typedef {import("./app.js").App} App */

/** Number of rows that are kept. */
const MOST_ROWS = 3000;

/** @type {Map<string, Promise<any>>} */
const keptRows = new Map();

/** @param {string} key @param {() => Promise<any>} load @returns {Promise<any>} */
function remember(key, load) {
  let found = keptRows.get(key);
  if (!found) {
    found = load();
    keptRows.set(key, found);
    found.catch(() => keptRows.delete(key));
    const oldest = keptRows.keys().next().value;
    if (keptRows.size > MOST_ROWS && oldest !== undefined) keptRows.delete(oldest);
  }
  return found;
}

/**
 * Id and values of a row.
 * @param {App} app
 * @param {number} row
 * @returns {Promise<Row>}
 */
export function loadRow(app, row) {
  return remember(`row ${row}`, () => app.api.json(`rows/${row}`));
}

/**
 * Image of a row on a canvas, or null if the data have no images.
 * @param {App} app
 * @param {number} row
 * @returns {Promise<HTMLCanvasElement | null>}
 */
export async function loadImage(app, row) {
  const shape = app.store.state.data.image_shape;
  if (!shape) return null;
  const bytes = await remember(`image ${row}`, async () => new Uint8Array(await (await app.api.request(`images?rows=${row}`)).arrayBuffer()));
  return imageCanvas(bytes, shape, `Image of row ${row + 1}`);
}
