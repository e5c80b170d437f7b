/**
 * Panel "Point": the row under the cursor, and the row that would be at the cursor (inverse map).
 * @module
 */

import { latestOnly } from "../app.js";
import { effectBars } from "../charts.js";
import { element, formatNumber, replaceChildren } from "../dom.js";
import { imageCanvas } from "../images.js";
import { loadImage, loadRow } from "../rows.js";
import { findMap } from "../store.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../stage.js").HoverDetail} HoverDetail */

/** Columns of a profile that are drawn. */
const MOST_COLUMNS = 14;

/**
 * @param {App} app
 * @returns {HTMLElement}
 */
export function pointPanel(app) {
  const { store } = app, there = element("div", { class: "inverse", "aria-live": "off" }), details = element("div", { class: "row-details" });
  const inverseTask = latestOnly(15), rowTask = latestOnly(30);
  const box = element("input", { type: "checkbox", id: "inverse-on", onchange: () => store.update({ inverse: box.checked }) });
  box.checked = store.state.inverse;
  const showRow = (/** @type {number} */ row) => rowTask(async () => {
    const found = row < 0 ? null : await app.run(Promise.all([loadRow(app, row), loadImage(app, row)]));
    replaceChildren(details, ...(found ? rowDetails(...found) : [element("p", { class: "quiet" }, "Move over a point to see its row; click to keep it here.")]));
  });
  app.onHover((detail) => {
    const { state } = store;
    if (state.tab !== "point") return;
    showRow(state.pinned >= 0 ? state.pinned : detail ? detail.row : -1);
    if (detail?.main && detail.units && state.inverse) inverseTask(() => showInverse(app, there, detail));
  });
  store.subscribe(["pinned"], () => showRow(store.state.pinned));
  store.subscribe(["mapA", "axes", "inverse", "tab"], () => replaceChildren(there, startText(app)));
  showRow(store.state.pinned);
  replaceChildren(there, startText(app));
  return element("div", {}, element("section", {}, element("div", { class: "section-head" }, element("h2", {}, "What would be here"),
    element("label", { class: "inline" }, box, "follow the cursor")), there), element("section", {}, element("h2", {}, "Row"), details));
}

/** @param {App} app @returns {HTMLElement} */
function startText(app) {
  const { state } = app.store, map = findMap(state, state.mapA);
  const reason = !map ? "No map yet." : !map.has_inverse ? map.inverse_reason || "This map has no inverse." : state.axes.length === 3
    ? "The inverse needs a view of two coordinates." : !state.inverse ? "Switched off." : "Move over the map, also where no points are.";
  return element("p", { class: "quiet" }, reason);
}

/** @param {App} app @param {HTMLElement} parent @param {NonNullable<HoverDetail>} detail @returns {Promise<void>} */
async function showInverse(app, parent, detail) {
  const { state } = app.store, map = findMap(state, state.mapA);
  if (!map?.has_inverse || !detail.units || map.n_components < 2) return;
  try {
    const found = await app.api.post(`maps/${map.id}/inverse`, { point: detail.units, components: state.axes.slice(0, 2) });
    parent.dataset.refused = found.refused ? "yes" : "no";
    if (found.refused) replaceChildren(parent, element("p", { class: "quiet" }, found.refused));
    else replaceChildren(parent, ...(await inverseView(app, found)));
  } catch (error) {
    replaceChildren(parent, element("p", { class: "warn" }, error instanceof Error ? error.message : String(error)));
  }
}

/** @param {App} app @param {any} found @returns {Promise<HTMLElement[]>} */
async function inverseView(app, found) {
  const shape = app.store.state.data.image_shape, nearest = await loadImage(app, found.nearest);
  const row = await loadRow(app, found.nearest);
  const error = typeof found.error === "number" ? `Relative error of the inverse: ${found.error < 5e-4 ? "below 0.1" : Number((100 * found.error).toPrecision(2))} %. ` : "";
  const note = element("p", { class: "quiet" }, `${error}Nearest point: ${row.id}, at ${formatNumber(found.distance)}.`);
  if (shape && found.image) {
    const pictures = [[imageCanvas(found.image, shape, "Image at the cursor"), "at the cursor"], [nearest, "nearest point"]];
    return [element("div", { class: "pictures" }, ...pictures.map(([image, text]) => element("figure", {}, image, element("figcaption", {}, text)))), note];
  }
  const score = (/** @type {any} */ column) => (column.deviation > 0 ? (column.value - column.mean) / column.deviation : 0);
  const columns = [...(found.columns ?? [])].sort((a, b) => Math.abs(score(b)) - Math.abs(score(a))).slice(0, MOST_COLUMNS);
  const bars = effectBars(columns.map((column) => ({
    name: column.name, value: score(column), text: formatNumber(column.value),
    note: `${column.name}: ${formatNumber(column.value)}, mean ${formatNumber(column.mean)}, ${score(column).toFixed(2)} standard deviations from it`,
  })));
  return [bars, element("p", { class: "quiet" }, "Values of the columns; bars: standard deviations from their means."), note];
}

/** @param {import("../rows.js").Row} row @param {HTMLCanvasElement | null} image @returns {HTMLElement[]} */
function rowDetails(row, image) {
  const table = element("table", { class: "values" }, element("tbody", {}, ...row.values.map(([name, text]) =>
    element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, text)))));
  const head = element("div", { class: "row-head" }, image, element("strong", {}, row.id));
  return [head, row.values.length > 12 ? element("details", {}, element("summary", {}, `${row.values.length} values`), table) : table];
}
