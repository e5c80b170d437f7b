/**
 * State of the page. What belongs to the view is kept over a reload; maps, jobs and annotations are the server's.
 * @module
 */

import { packMask, unpackMask } from "./bits.js";

/**
 * @typedef {object} Column
 * @property {string} name
 * @property {"number" | "category"} kind
 * @property {string[]} [categories]
 *
 * @typedef {object} Data
 * @property {number} n
 * @property {number} d
 * @property {string} name
 * @property {string | null} id_name
 * @property {Column[]} columns
 * @property {number | null} label
 * @property {number[] | null} image_shape
 * @property {string[]} warnings
 *
 * @typedef {Record<string, any> & {id: string, name: string, method: string, n_components: number, has_inverse: boolean, has_transform: boolean}} MapInfo
 *
 * @typedef {object} Job
 * @property {string} id
 * @property {string} kind
 * @property {string} method
 * @property {string} status
 * @property {string | null} stage
 * @property {number | null} fraction
 * @property {number | null} remaining
 * @property {string | null} error
 * @property {string | null} map
 *
 * @typedef {object} PlacedPoint
 * @property {string} id
 * @property {number[]} coordinates
 * @property {number | null} projection_error
 * @property {number} nearest
 * @property {number} nearest_distance
 * @property {number} novelty
 * @property {number[]} neighbors
 * @property {string | null} label
 *
 * @typedef {object} State
 * @property {string} title
 * @property {string} version
 * @property {Data} data
 * @property {MapInfo[]} maps
 * @property {Job[]} jobs
 * @property {{name: string, labels: string[]}[]} annotations
 * @property {any[]} methods
 * @property {{text: string, method?: string, parameters?: Record<string, any>, standardize?: boolean}[]} suggestions
 * @property {string} mapA  id of the map that is shown
 * @property {string | null} mapB  id of the map beside it
 * @property {number[]} axes  two or three coordinates
 * @property {string} color  key of the colour
 * @property {import("./legend.js").LegendFilter} filter
 * @property {string} tab
 * @property {string} tool
 * @property {Uint8Array | null} mask  selected points
 * @property {number} pinned  row that was clicked, or -1
 * @property {{map: string, points: PlacedPoint[]} | null} placed
 * @property {boolean} inverse  compute the row under the cursor
 * @property {boolean} lines  draw missing neighbours
 * @property {Record<string, number> | null} viewA
 */

/** Keys that are stored as they are. */
const STORED = ["mapA", "mapB", "axes", "color", "filter", "tab", "tool", "pinned", "placed", "inverse", "lines", "viewA"];
const KEY = `eigenscape ${location.pathname}`;

/** Values with subscribers. */
export class Store {
  /** @param {State} state */
  constructor(state) {
    this.state = state;
    /** @type {{keys: string[], listener: () => void}[]} */ this.subscribers = [];
    this.saving = 0;
    addEventListener("pagehide", () => saveView(this.state));
  }

  /**
   * Change values and call the subscribers of those that differ.
   * @param {Partial<State>} changes
   * @returns {void}
   */
  update(changes) {
    const before = /** @type {any} */ (this.state), after = /** @type {any} */ (changes);
    const changed = Object.keys(after).filter((key) => before[key] !== after[key]);
    this.state = { ...this.state, ...changes };
    for (const { keys, listener } of [...this.subscribers]) if (keys.some((key) => changed.includes(key))) listener();
    if (changed.some((key) => key === "mask" || STORED.includes(key))) {
      clearTimeout(this.saving);
      this.saving = setTimeout(() => saveView(this.state), 150);
    }
  }

  /** @param {string[]} keys @param {() => void} listener @returns {void} */
  subscribe(keys, listener) {
    this.subscribers.push({ keys, listener });
  }
}

/** @param {State} state @returns {void} */
function saveView(state) {
  const kept = Object.fromEntries(STORED.map((key) => [key, /** @type {any} */ (state)[key]]));
  try {
    sessionStorage.setItem(KEY, JSON.stringify({ ...kept, mask: state.mask ? packMask(state.mask) : null }));
  } catch { /* storage is full or not allowed: the view is not kept */ }
}

/**
 * Initial state: what the server sent, with the view of the last visit where it still fits.
 * @param {any} sent
 * @returns {State}
 */
export function initialState(sent) {
  const ids = sent.maps.map((/** @type {MapInfo} */ map) => map.id);
  /** @type {State} */
  const state = {
    ...sent, mapA: ids[ids.length - 1] ?? "", mapB: null, axes: [0, 1], color: defaultColor(sent.data), filter: { hidden: [], range: null },
    tab: "point", tool: "pan", mask: null, pinned: -1, placed: null, inverse: true, lines: true, viewA: null,
  };
  let stored = null;
  try { stored = JSON.parse(sessionStorage.getItem(KEY) ?? "null"); } catch { /* not ours */ }
  if (!stored) return state;
  for (const key of STORED) if (key in stored) /** @type {any} */ (state)[key] = stored[key];
  if (stored.mask) state.mask = unpackMask(stored.mask, sent.data.n);
  if (!ids.includes(state.mapA)) Object.assign(state, { mapA: ids[ids.length - 1] ?? "", viewA: null });
  if (state.mapB !== null && !ids.includes(state.mapB)) state.mapB = null;
  return state;
}

/** Key of the colour at first. @param {Data} data @returns {string} */
function defaultColor(data) {
  return data.label === null ? "none" : `column:${data.label}`;
}

/** Name of a method for people. @param {State} state @param {string} method @returns {string} */
export function methodTitle(state, method) {
  return state.methods.find((one) => one.name === method)?.title ?? method;
}

/** A map by its id. @param {State} state @param {string | null} id @returns {MapInfo | undefined} */
export function findMap(state, id) {
  return state.maps.find((map) => map.id === id);
}
