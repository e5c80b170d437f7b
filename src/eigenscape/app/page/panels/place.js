/**
 * Panel "New points": rows of a dropped file, a chosen file or a pasted text, placed on the map.
 * @module
 */

import { element, formatNumber, replaceChildren } from "../dom.js";
import { loadRow } from "../rows.js";
import { findMap } from "../store.js";

/** @typedef {import("../app.js").App} App */
/** @typedef {import("../store.js").PlacedPoint} PlacedPoint */

/** Most points that are listed. */
const MOST_LISTED = 50;

/**
 * @param {App} app
 * @param {import("../stage.js").Stage} stage
 * @returns {HTMLElement}
 */
export function placePanel(app, stage) {
  const { store } = app, list = element("div", { id: "placed" }), text = element("textarea", { id: "pasted", rows: 3, placeholder: pasteHint(store.state.data), spellcheck: "false" });
  const file = element("input", { type: "file", id: "file", onchange: () => { if (file.files?.[0]) app.run(placeFile(app, file.files[0])); file.value = ""; } });
  const form = element("form", {
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      if (text.value.trim()) app.run(placeText(app, text.value));
    },
  }, element("label", { for: "pasted" }, "Paste a row"), text, element("button", { type: "submit", class: "primary", id: "place-text" }, "Place"));
  const render = () => {
    const { placed, mapA } = store.state, map = findMap(store.state, mapA), points = placed && placed.map === mapA ? placed.points : [];
    const reason = map && !map.has_transform ? map.transform_reason || "This map cannot place new points." : "";
    replaceChildren(list, reason && element("p", { class: "warn" }, reason), points.length > 0 && element("div", { class: "section-head" }, element("h2", {}, `${points.length} placed`),
      element("button", { type: "button", class: "small", onclick: () => { store.update({ placed: null }); stage.a.setLines([]); } }, "clear")),
    element("ul", { class: "placed" }, ...points.slice(0, MOST_LISTED).map((point) => placedItem(app, stage, point))),
    points.length > MOST_LISTED && element("p", { class: "quiet" }, `and ${points.length - MOST_LISTED} more on the map`));
  };
  store.subscribe(["placed", "mapA", "maps"], render);
  render();
  return element("div", {}, element("section", {}, element("h2", {}, "Place new points"), element("p", { class: "quiet" }, "Drop a CSV, parquet or image file anywhere on the page, choose one, or paste a row."),
    element("label", { for: "file" }, "File"), file, form), element("section", {}, list));
}

/** What can be pasted. @param {import("../store.js").Data} data @returns {string} */
function pasteHint(data) {
  return `${data.d === 1 ? "one number" : `${data.d} numbers`} in the order of the columns, or a line of names and one of values`;
}

/**
 * How far a row is from the training rows.
 * @param {PlacedPoint} point
 * @returns {string}
 */
function noveltyText(point) {
  const share = Math.round(100 * point.novelty), distance = formatNumber(Number(point.nearest_distance.toPrecision(3)));
  const text = point.nearest_distance === 0 ? "Equal to a training row"
    : `${point.novelty > 0.99 ? "Unlike the training rows: the nearest" : "The nearest training row"} is at ${distance}; ${share} % of the training rows are closer to their nearest`;
  const error = point.projection_error;
  return error === null || error === undefined ? `${text}.` : `${text}. Projection error ${error < 1e-9 ? "0" : formatNumber(error)}.`;
}

/** @param {App} app @param {import("../stage.js").Stage} stage @param {PlacedPoint} point @returns {HTMLElement} */
function placedItem(app, stage, point) {
  const around = element("span", { class: "quiet" });
  Promise.all(point.neighbors.slice(0, 5).map((row) => loadRow(app, row))).then((rows) => { around.textContent = `Near ${rows.map((row) => row.id).join(", ")}`; }).catch(() => {});
  const show = () => { stage.a.setRings(point.neighbors); };
  return element("li", {}, element("button", { type: "button", class: "placed-name", onclick: show, onmouseenter: show, onmouseleave: () => stage.a.setRings([]), onblur: () => stage.a.setRings([]) },
    element("strong", {}, point.id), point.label !== null && point.label !== undefined ? ` likely ${point.label}` : ""),
  element("span", { class: point.novelty > 0.99 ? "warn" : "" }, noveltyText(point)), around);
}

/**
 * Place the rows of a file.
 * @param {App} app
 * @param {File} file
 * @returns {Promise<void>}
 */
export async function placeFile(app, file) {
  app.say(`Placing ${file.name}…`);
  const answer = await app.api.json(`maps/${app.store.state.mapA}/place`, { method: "POST", body: file, headers: { "X-Filename": encodeURIComponent(file.name) } });
  showPlaced(app, answer);
}

/** @param {App} app @param {string} text @returns {Promise<void>} */
async function placeText(app, text) {
  showPlaced(app, await app.api.post(`maps/${app.store.state.mapA}/place`, { text }));
}

/** @param {App} app @param {{points: PlacedPoint[], messages: string[]}} answer @returns {void} */
function showPlaced(app, answer) {
  app.store.update({ placed: { map: app.store.state.mapA, points: answer.points }, tab: "place" });
  app.say([`${answer.points.length} ${answer.points.length === 1 ? "row" : "rows"} placed.`, ...answer.messages].join(" "));
}
