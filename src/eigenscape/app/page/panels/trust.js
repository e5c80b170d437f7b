/**
 * Panel "Trust": how far each place of the map can be trusted.
 * @module
 */

import { latestOnly } from "../app.js";
import { element, replaceChildren } from "../dom.js";
import { qualityText } from "../history.js";
import { findMap } from "../store.js";

/** @typedef {import("../app.js").App} App */

/** @type {[string, string, string][]} */
const VIEWS = [
  ["kept", "Neighbours kept", "Share of the 10 nearest neighbours in the data that are among the 10 nearest on the map."],
  ["movement", "Movement", "How far a point moves when training points are exchanged, relative to the spread of the map."],
  ["distance", "True distances", "Distances in the data from the point under the cursor, as colours over the whole map."],
];

/**
 * @param {App} app
 * @param {import("../stage.js").Stage} stage
 * @returns {HTMLElement}
 */
export function trustPanel(app, stage) {
  const { store } = app, head = element("p", {}), note = element("p", { class: "quiet", "aria-live": "polite" }), task = latestOnly(40);
  const box = element("input", { type: "checkbox", id: "lines-on", onchange: () => { store.update({ lines: box.checked }); stage.a.setLines([]); } });
  box.checked = store.state.lines;
  const buttons = VIEWS.map(([key, name, text]) => element("div", { class: "choice" }, element("button", {
    type: "button", "data-color": key, onclick: () => store.update({ color: store.state.color === key ? "none" : key }),
  }, name), element("p", { class: "quiet" }, text)));
  const render = () => {
    const { state } = store, map = findMap(state, state.mapA);
    head.textContent = map ? qualityText(map) : "";
    for (const { firstElementChild: button } of buttons) button?.setAttribute("aria-pressed", String(button.getAttribute("data-color") === state.color));
    if (state.tab !== "trust") stage.a.setLines([]);
  };
  app.onHover((detail) => {
    const { state } = store;
    if (state.tab !== "trust" || !state.lines) return;
    const row = detail ? detail.row : -1;
    task(async () => {
      const found = row < 0 ? null : await app.run(app.api.json(`maps/${state.mapA}/missing/${row}`));
      if (found && stage.a.hovered !== row) return;
      stage.a.setLines(found ? [...found.missing.map((/** @type {number} */ to) => ({ from: row, to, kind: "missing" })),
        ...found.false.map((/** @type {number} */ to) => ({ from: row, to, kind: "false" }))] : []);
      replaceChildren(note, found ? `${found.missing.length} near in the data but not on the map, ${found.false.length} near on the map but not in the data` : "");
    });
  });
  store.subscribe(["maps", "mapA", "color", "tab"], render);
  render();
  return element("div", {}, element("section", {}, element("h2", {}, "How far to trust it"), head), element("section", {}, element("h2", {}, "Colour the map by"), ...buttons),
    element("section", {}, element("h2", {}, "Neighbours of the point"), element("label", { class: "inline" }, box, "draw lines on hover"),
      element("p", { class: "quiet" }, "Full lines: near in the data, not on the map. Dashed: near on the map, not in the data."), note));
}
