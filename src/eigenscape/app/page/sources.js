/**
 * What the points can be coloured by: columns, coordinates, annotations, trust, density, clusters, predicted labels,
 * movement between maps and distances.
 * @module
 */

import { element, replaceChildren } from "./dom.js";
import { findMap } from "./store.js";

/** @typedef {import("./colors.js").ColorSource} ColorSource */
/** @typedef {import("./app.js").App} App */

/** Numbers of each row that are computed on request, and their titles. @type {Record<string, string>} */
export const MEASURED = { movement: "Movement under exchanged points", density: "Log density on the map", novelty: "Novelty" };

/**
 * Return the values of a colour, or null if they are not known yet.
 * @param {App} app
 * @param {string} key  such as "column:3"
 * @param {number} row  from which distances are measured, or -1
 * @returns {Promise<ColorSource | null>}
 */
export async function colorSource(app, key, row) {
  const { api, store } = app, { state } = store, [kind, ...rest] = key.split(":"), name = rest.join(":");
  const column = state.data.columns[Number(name)];
  if (kind === "column" && column?.kind === "category") {
    return { kind: "category", name: column.name, names: column.categories ?? [], codes: await api.codes(`columns/${name}`) };
  }
  if (kind === "column" && column) return { kind: "number", name: column.name, values: await api.numbers(`columns/${name}`) };
  if (kind === "coordinate") return coordinateSource(app, Number(name));
  if (kind === "annotation") {
    const labels = state.annotations.find((one) => one.name === name)?.labels ?? [];
    return { kind: "category", name, names: labels, codes: await api.codes(`annotations/${encodeURIComponent(name)}`) };
  }
  if (kind === "kept") {
    const values = await api.measured(`maps/${state.mapA}/kept`);
    return values && { kind: "number", name: "Neighbours kept", values, range: [0, 1], colorMap: "cividis" };
  }
  if (kind in MEASURED) {
    const values = await api.measured(`maps/${state.mapA}/${kind}`);
    return values && { kind: "number", name: MEASURED[kind], values, colorMap: "cividis", tail: 0.02 }; // a few are extreme
  }
  if (kind === "cluster") {
    const count = findMap(state, state.mapA)?.n_clusters ?? 0;
    if (!count) return { kind: "none", name: "" };
    const names = Array.from({ length: count }, (_, k) => `cluster ${k + 1}`);
    return { kind: "category", name: "Cluster", names, codes: await api.codes(`maps/${state.mapA}/clusters`) };
  }
  if (kind === "predicted") {
    const codes = await api.measuredCodes(`maps/${state.mapA}/predicted`);
    return codes && { kind: "category", name: "Predicted label", names: findMap(state, state.mapA)?.classes ?? [], codes };
  }
  if (kind === "moved" && state.mapB) {
    const aligned = await api.numbers(comparedPath(state)), values = new Float32Array(state.data.n);
    for (let i = 0; i < values.length; i++) values[i] = aligned[3 * i + 2];
    const most = values.slice().sort()[Math.floor(0.98 * (values.length - 1))]; // a few points may move very far
    return { kind: "number", name: "Moved between the maps", values, colorMap: "cividis", range: [0, most || 1] };
  }
  if (kind === "distance") {
    if (row < 0) return { kind: "none", name: "" };
    return { kind: "number", name: "Distance from the point", values: await api.distances(row, state.mapA), reversed: true };
  }
  return { kind: "none", name: "" };
}

/**
 * Address of the second map aligned to the first, on its axes.
 * @param {import("./store.js").State} state
 * @returns {string}
 */
export function comparedPath(state) {
  const axes = state.axes.slice(0, 2), plain = axes.join() === "0,1";
  return `maps/${state.mapA}/compare/${state.mapB}${plain ? "" : `?axes=${axes.join()}`}`;
}

/** @param {App} app @param {number} k @returns {Promise<ColorSource>} */
async function coordinateSource(app, k) {
  const { state } = app.store, map = findMap(state, state.mapA), values = new Float32Array(state.data.n);
  if (!map) return { kind: "none", name: "" };
  const loaded = await app.api.coordinates(map, state.data.n, [k]), d = loaded.components.length, place = loaded.components.indexOf(k);
  for (let i = 0; i < values.length; i++) values[i] = loaded.values[i * d + place];
  return { kind: "number", name: `Coordinate ${k + 1}`, values };
}

/**
 * Fill the selector of colours.
 * @param {App} app
 * @param {HTMLSelectElement} select
 * @returns {void}
 */
export function fillColors(app, select) {
  const { state } = app.store, map = findMap(state, state.mapA);
  /** @type {[string, [string, string][]][]} */
  const groups = [
    ["Columns", state.data.columns.map((column, k) => [`column:${k}`, column.name])],
    ["Annotations", state.annotations.map(({ name }) => [`annotation:${name}`, name])],
    ["Coordinates", Array.from({ length: Math.min(12, map?.n_components ?? 0) }, (_, k) => [`coordinate:${k}`, `Coordinate ${k + 1}`])],
    ["Trust", [["kept", "Neighbours kept"], ["movement", "Movement"], ["distance", "Distance from the point"]]],
    ["Density", [["density", "Log density"], ["novelty", "Novelty"]]],
  ];
  if (map?.n_clusters) groups.push(["Clusters", [["cluster", "Cluster"]]]);
  if (state.data.label !== null) groups.push(["Labels", [["predicted", "Predicted label"]]]);
  if (state.mapB) groups.push(["Two maps", [["moved", "Moved between the maps"]]]);
  const listed = groups.filter(([, entries]) => entries.length);
  replaceChildren(select, element("option", { value: "none" }, "one colour"), ...listed.map(([label, entries]) =>
    element("optgroup", { label }, ...entries.map(([value, text]) => element("option", { value }, text)))));
  const known = listed.some(([, entries]) => entries.some(([value]) => value === state.color));
  select.value = known ? state.color : "none";
}
