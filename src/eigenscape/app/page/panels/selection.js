/**
 * Panel "Selection": what sets the selected points apart, annotations and export.
 * @module
 */

import { latestOnly } from "../app.js";
import { countMask, packMask } from "../bits.js";
import { effectBars } from "../charts.js";
import { element, formatCount, formatNumber, replaceChildren } from "../dom.js";
import { differenceCanvas, imageCanvas } from "../images.js";

/** @typedef {import("../app.js").App} App */

/**
 * @param {App} app
 * @returns {HTMLElement}
 */
export function selectionPanel(app) {
  const { store } = app, head = element("div", {}), explained = element("div", { id: "explained" }), task = latestOnly(60);
  /** @type {Uint8Array | null | undefined} */
  let shown;
  const render = () => {
    const { mask, tab } = store.state;
    if (tab !== "selection" || mask === shown) return;
    shown = mask;
    const count = countMask(mask);
    replaceChildren(head, element("div", { class: "section-head" }, element("h2", {}, mask ? `${formatCount(count)} ${count === 1 ? "point" : "points"} selected` : "Nothing selected"),
      mask && element("button", { type: "button", class: "small", onclick: () => store.update({ mask: null }) }, "clear")),
    !mask && element("p", { class: "quiet" }, "Draw around points with the lasso or the box, click a name in the legend, or press Enter on a point."));
    replaceChildren(explained, mask && element("p", { class: "quiet" }, "Comparing…"));
    if (mask) task(async () => {
      const found = await app.run(app.api.post("explain", { mask: packMask(mask) }));
      if (found && shown === mask) replaceChildren(explained, ...explanation(app, found));
      else if (shown === mask) replaceChildren(explained);
    });
  };
  store.subscribe(["mask", "tab"], render);
  render();
  return element("div", {}, element("section", {}, head, explained), annotationSection(app), exportSection(app));
}

/** @param {App} app @param {any} found @returns {import("../dom.js").Child[]} */
function explanation(app, found) {
  const shape = app.store.state.data.image_shape, made = [];
  if (shape && found.image_mean) {
    made.push(element("div", { class: "pictures" },
      element("figure", {}, imageCanvas(found.image_mean, shape, "Mean image of the selection"), element("figcaption", {}, "mean")),
      found.image_difference && element("figure", {}, differenceCanvas(found.image_difference, shape, "Difference to the other points"), element("figcaption", {}, "difference to the others"))));
  }
  if (found.labels.length) {
    const several = new Set(found.labels.map((/** @type {any} */ one) => one.name)).size > 1;
    made.push(element("table", { class: "values shares" }, element("thead", {}, element("tr", {}, element("th", {}, several ? "Labels" : found.labels[0].name),
      element("td", {}, "selected"), element("td", {}, "others"))), element("tbody", {}, ...found.labels.slice(0, 8).map((/** @type {any} */ one) =>
      element("tr", {}, element("th", { scope: "row" }, several ? `${one.name}: ${one.label}` : one.label), element("td", {}, percent(one.inside)), element("td", {}, percent(one.outside)))))));
  }
  if (found.columns.length) {
    made.push(element("h3", {}, "Columns that differ most"), effectBars(found.columns.slice(0, 12).map((/** @type {any} */ one) => ({
      name: one.name, value: one.effect, low: one.low, high: one.high, note: `${one.name}: mean ${formatNumber(one.inside)} in the selection, ${formatNumber(one.outside)} outside`,
    }))), element("p", { class: "quiet" }, "Differences of means in standard deviations, with 95 % intervals."));
  }
  if (found.n === app.store.state.data.n) made.push(element("p", { class: "quiet" }, "All points are selected: there are no others to compare them with."));
  return made;
}

/** @param {number} share @returns {string} */
function percent(share) {
  return `${(100 * share).toFixed(1)} %`;
}

/** @param {App} app @returns {HTMLElement} */
function annotationSection(app) {
  const { store } = app, list = element("ul", { class: "tips" });
  const name = element("input", { id: "annotation-name", required: true, value: "annotation", autocomplete: "off" });
  const label = element("input", { id: "annotation-label", required: true, placeholder: "name of these points", autocomplete: "off" });
  const form = element("form", {
    id: "annotate",
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      const { mask } = store.state, given = { name: name.value.trim(), label: label.value.trim() };
      if (!mask) { app.say("Select points first, then name them.", true); return; }
      app.run(app.api.post("annotations", { ...given, mask: packMask(mask) }).then(async () => {
        await refreshAnnotations(app);
        app.say(`${formatCount(countMask(mask))} points are “${given.label}” in the column “${given.name}”.`);
        label.value = "";
      }));
    },
  }, element("div", { class: "parameter" }, element("label", { for: "annotation-label" }, "name"), label),
  element("div", { class: "parameter" }, element("label", { for: "annotation-name" }, "column"), name), element("button", { type: "submit", class: "primary" }, "Name the selection"));
  const render = () => replaceChildren(list, ...store.state.annotations.map((one) => element("li", {}, element("span", {}, `${one.name}: ${one.labels.join(", ")}`),
    element("button", { type: "button", class: "small", onclick: () => store.update({ color: `annotation:${one.name}` }) }, "colour"),
    element("button", { type: "button", class: "small", "aria-label": `Delete the column ${one.name}`, onclick: () => app.run(app.api.remove(`annotations/${encodeURIComponent(one.name)}`).then(() => refreshAnnotations(app))) }, "×"))));
  store.subscribe(["annotations"], render);
  render();
  return element("section", {}, element("h2", {}, "Annotations"), form, list);
}

/** Read the annotations again. @param {App} app @returns {Promise<void>} */
async function refreshAnnotations(app) {
  app.api.forget("annotations/");
  app.store.update({ annotations: (await app.api.json("state")).annotations });
}

/** @param {App} app @returns {HTMLElement} */
function exportSection(app) {
  /** @type {[string, string][]} */
  const kinds = [["ids", "ids"], ["rows", "rows"], ["coordinates", "coordinates"], ["annotations", "annotations"]];
  return element("section", {}, element("h2", {}, "Export"), element("p", { class: "quiet" }, "The selected points, or all if none are selected, as CSV."),
    element("div", { class: "buttons" }, ...kinds.map(([what, text]) => element("button", { type: "button", class: "small", "data-export": what, onclick: () => app.run(download(app, what)) }, text))));
}

/** @param {App} app @param {string} what @returns {Promise<void>} */
async function download(app, what) {
  const { mask, mapA } = app.store.state;
  const body = JSON.stringify({ what, format: "csv", mask: mask ? packMask(mask) : null, map: what === "coordinates" ? mapA : null });
  const response = await app.api.request("export", { method: "POST", body, headers: { "Content-Type": "application/json" } });
  const name = /filename="?([^";]+)"?/.exec(response.headers.get("Content-Disposition") ?? "")?.[1] ?? `${what}.csv`;
  const link = element("a", { href: URL.createObjectURL(await response.blob()), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
  app.say(`Saved ${name}.`);
}
