/**
 * Dialog with keys and a short description.
 * @module
 */

import { element, replaceChildren } from "./dom.js";

/** @type {[string, string][]} */
const KEYS = [
  ["Tab", "reach every control; the map is one of them"],
  ["arrow keys", "on the map: move the cursor to the next point"],
  ["Enter", "add the point under the cursor to the selection, or remove it"],
  ["a", "select all points on the screen: zoom in first to select a region"],
  ["Shift + arrow keys", "pan, or rotate a view in space"],
  ["+ and -", "zoom; 0 shows all points"],
  ["p, l, b", "tools: pan, lasso, box"],
  ["lasso or box", "arrow keys move a cross, Space sets a corner, Enter selects what is inside"],
  ["3", "rotate three coordinates, or back to two"],
  ["c", "choose the colour"],
  ["/", "find an id"],
  ["t", "panels: the arrow keys choose one"],
  ["Esc", "clear the selection and rings"],
];

/**
 * Prepare the dialog; returns a function that opens it.
 * @param {HTMLDialogElement} dialog
 * @returns {() => void}
 */
export function helpDialog(dialog) {
  const close = element("button", { type: "button", class: "primary", onclick: () => dialog.close() }, "Close");
  replaceChildren(dialog, element("h2", { id: "help-title" }, "Keys"),
    element("dl", {}, ...KEYS.flatMap(([key, text]) => [element("dt", {}, element("kbd", {}, key)), element("dd", {}, text)])),
    element("p", {}, "With the mouse: drag to pan, wheel to zoom, double click to see all. Shift and drag selects a box; with lasso or box, Shift adds and Alt removes."),
    element("p", {}, "Drop a CSV, parquet or image file anywhere to place its rows on the map."), close);
  return () => { if (!dialog.open) dialog.showModal(); };
}
