/**
 * Panel "Spectrum": eigenvalues with gaps, loss by number of components, eigenfunctions over the plane.
 * @module
 */

import { lineChart } from "../charts.js";
import { element, formatNumber, replaceChildren } from "../dom.js";
import { colorMap } from "../palette.js";
import { findMap } from "../store.js";

/** @typedef {import("../app.js").App} App */

/**
 * @param {App} app
 * @returns {HTMLElement}
 */
export function spectrumPanel(app) {
  const { store } = app, root = element("div", {});
  let shown = "";
  const render = async () => {
    const { state } = store, map = findMap(state, state.mapA), key = `${state.mapA} ${state.axes}`;
    if (state.tab !== "spectrum" || shown === key) return;
    shown = key;
    if (!map) return;
    if (!map.eigenvalues) {
      replaceChildren(root, element("p", { class: "quiet" }, "This map has no eigenvalues."));
      return;
    }
    const found = await app.run(app.api.json(`maps/${map.id}/spectrum`));
    if (!found || shown !== key) return;
    const focused = document.activeElement?.getAttribute("data-value") ?? null;
    replaceChildren(root, ...spectrumView(app, map, found));
    if (focused !== null) /** @type {HTMLElement | null} */ (root.querySelector(`[data-value="${Number(focused)}"]`))?.focus();
  };
  store.subscribe(["mapA", "axes", "tab"], render);
  document.addEventListener("measured", () => { shown = ""; render(); }); // the losses are known now
  render();
  return root;
}

/** @param {App} app @param {import("../store.js").MapInfo} map @param {any} found @returns {Child[]} */
function spectrumView(app, map, found) {
  const losses = [{ name: "training rows", values: found.loss_training ?? [], dashed: false }, { name: "held-out rows", values: found.loss_held_out ?? [], dashed: true }];
  const drawn = losses.filter((line) => line.values.length > 1);
  return [
    element("section", {}, element("h2", {}, "Eigenvalues"), eigenvalueBars(app, map, found), ends(found.eigenvalues.slice(0, 40)),
      element("p", { class: "quiet" }, "Click two bars to put their eigenfunctions on the axes. The dotted line marks the largest gap.")),
    element("section", {}, element("h2", {}, "Loss by number of components"), drawn.length ? lineChart(drawn) : element("p", { class: "quiet" }, "Not available for this map."),
      drawn.length > 0 && element("p", { class: "key" }, element("span", { class: "key-line" }), "training rows ", found.loss_held_out && element("span", { class: "key-line dashed" }), found.loss_held_out && "held-out rows"),
      !found.loss_held_out && found.held_out_reason && element("p", { class: "quiet" }, found.held_out_reason)),
    app.store.state.data.d === 2 && element("section", {}, element("h2", {}, "Eigenfunctions over the plane"), planes(app, map)),
  ];
}

/** @typedef {import("../dom.js").Child} Child */

/** First and last eigenvalue. @param {number[]} values @returns {HTMLElement} */
function ends(values) {
  const texts = [...new Set([0, values.length - 1])].map((r) => `${r + 1}: ${formatNumber(values[r])}`);
  return element("p", { class: "spectrum-ends" }, ...texts.map((text) => element("span", {}, text)));
}

/** @param {App} app @param {import("../store.js").MapInfo} map @param {any} found @returns {HTMLElement} */
function eigenvalueBars(app, map, found) {
  /** @type {number[]} */
  const values = found.eigenvalues.slice(0, 40), gaps = found.gaps ?? [];
  const most = Math.max(...values.map(Math.abs), 1e-300), least = Math.min(...values), base = least > 0.6 * most ? least - 0.3 * (most - least || most) : Math.min(0, least);
  const largest = gaps.indexOf(Math.max(...gaps.slice(0, values.length).filter(Number.isFinite)));
  const { axes } = app.store.state;
  return element("div", { class: "spectrum", role: "group", "aria-label": "Eigenvalues" }, ...values.map((value, r) => {
    const usable = r < map.n_components, place = axes.indexOf(r);
    const text = `eigenvalue ${r + 1}: ${formatNumber(value)}${Number.isFinite(gaps[r]) ? `, gap to the next ${formatNumber(gaps[r])}` : ""}${found.residuals?.[r] !== undefined ? `, residual ${formatNumber(found.residuals[r])}` : ""}`;
    const fill = element("span", { class: "fill" });
    fill.style.height = `calc((100% - 16px) * ${Math.max(0.02, (value - base) / (most - base || 1))})`; // above the mark of the axis
    return element("button", {
      type: "button", class: r === largest ? "value gap" : "value", "data-value": r, disabled: !usable, "aria-pressed": String(place >= 0), title: text, "aria-label": text,
      onclick: () => { if (place < 0) app.store.update({ axes: [axes[axes.length > 1 ? 1 : 0], r] }); },
    }, fill, element("span", { class: "axis-mark" }, place < 0 ? "" : "xyz"[place]));
  }));
}

/** @param {App} app @param {import("../store.js").MapInfo} map @returns {HTMLElement} */
function planes(app, map) {
  const holder = element("div", { class: "planes" });
  const axes = app.store.state.axes.filter((axis) => axis < map.n_components);
  app.run(Promise.all(axes.map((r) => app.api.json(`maps/${map.id}/eigenfunction/${r}`)))).then((found) => {
    replaceChildren(holder, ...(found ?? []).map((one, k) => element("figure", {}, planeCanvas(one, axes[k]), element("figcaption", {}, `eigenfunction ${axes[k] + 1}`))));
  });
  return holder;
}

/** @param {any} found @param {number} r @returns {HTMLCanvasElement} */
function planeCanvas(found, r) {
  const { nx, ny, values } = found, ramp = colorMap("viridis");
  const canvas = element("canvas", { class: "image", width: nx, height: ny, role: "img", "aria-label": `Eigenfunction ${r + 1} over the plane of the data` });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), image = context.createImageData(nx, ny);
  const known = values.filter(Number.isFinite), low = Math.min(...known), span = Math.max(...known) - low || 1;
  for (let row = 0; row < ny; row++) {
    for (let column = 0; column < nx; column++) {
      const value = values[row * nx + column], at = 4 * ((ny - 1 - row) * nx + column);
      if (!Number.isFinite(value)) continue;
      image.data.set(ramp.subarray(3 * Math.round((255 * (value - low)) / span), 3 * Math.round((255 * (value - low)) / span) + 3), at);
      image.data[at + 3] = 255;
    }
  }
  context.putImageData(image, 0, 0);
  return canvas;
}
