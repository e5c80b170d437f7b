/**
 * The map as a notebook widget (anywidget). Data and the selection are traits of the Python object.
 * @module
 */

import { combineMasks, countMask } from "./bits.js";
import { paint } from "./colors.js";
import { element, formatCount, formatNumber, replaceChildren } from "./dom.js";
import { drawLegend, visiblePoints } from "./legend.js";
import { MapView } from "./map.js";

/**
 * @typedef {object} Model  The part of a widget model that is used.
 * @property {(name: string) => any} get
 * @property {(name: string, value: any) => void} set
 * @property {() => void} save_changes
 * @property {(event: string, listener: (...details: any[]) => void) => void} on
 * @property {(event: string, listener: (...details: any[]) => void) => void} off
 * @property {(content: any) => void} send
 */

/** Whether the notebook has a dark theme. @returns {boolean} */
function isDarkNotebook() {
  const { dataset, classList } = document.body;
  if (dataset.jpThemeLight !== undefined) return dataset.jpThemeLight === "false";
  if (classList.contains("vscode-dark") || classList.contains("vscode-light")) return classList.contains("vscode-dark");
  return matchMedia("(prefers-color-scheme: dark)").matches;
}

/** Copy of a binary trait, aligned for typed arrays. @param {DataView} view @returns {ArrayBuffer} */
function bytesOf(view) {
  return /** @type {ArrayBuffer} */ (view.buffer.slice(view.byteOffset, view.byteOffset + view.byteLength));
}

/** @param {any} column @returns {import("./colors.js").ColorSource} */
function sourceOf(column) {
  if (!column) return { kind: "none", name: "" };
  const data = bytesOf(column.data);
  if (column.kind === "category") return { kind: "category", name: column.name, codes: new Uint16Array(data), names: column.names };
  return { kind: "number", name: column.name, values: new Float32Array(data) };
}

/** The widget in one output. */
class WidgetView {
  /** @param {Model} model @param {HTMLElement} el */
  constructor(model, el) {
    this.model = model;
    this.n = model.get("_n");
    this.dark = isDarkNotebook();
    this.sources = model.get("_columns").map(sourceOf);
    this.filter = /** @type {import("./legend.js").LegendFilter} */ ({ hidden: [], range: null });
    /** @type {Uint8Array | null} */ this.mask = null;
    this.frame = element("div", { class: "widget-map" });
    this.frame.style.height = `${model.get("height")}px`;
    this.legend = element("div", { class: "widget-legend" });
    this.card = element("div", { class: "widget-card", hidden: true, role: "status" });
    this.count = element("span", { role: "status" });
    this.select = element("select", { "aria-label": "Colour by", onchange: () => this.chooseColumn() },
      element("option", { value: "" }, "one colour"), ...this.sources.map((/** @type {any} */ one) => element("option", { value: one.name }, one.name)));
    const root = element("div", { class: `eigenscape-widget ${this.dark ? "dark" : "light"}` }, this.toolbar(),
      element("div", { class: "widget-body" }, element("div", { class: "widget-frame" }, this.frame, this.card), this.legend));
    el.append(root);
    this.map = new MapView(this.frame, { label: `Map of ${formatCount(this.n)} points`, dark: this.dark });
    this.map.setPoints(new Float32Array(bytesOf(model.get("_coordinates"))), this.n, model.get("_d"));
    this.map.on("hover", (detail) => this.hover(detail));
    this.map.on("select", ({ mask, mode }) => this.choose(combineMasks(this.mask, mask, mode)));
    this.map.on("tool", ({ tool }) => root.querySelectorAll("[data-tool]").forEach((button) => {
      if (button instanceof HTMLButtonElement) button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
    }));
    this.map.setTool("pan");
    this.handlers = /** @type {[string, (...details: any[]) => void][]} */ ([
      ["change:_mask", () => this.readMask()], ["change:color", () => this.paint()], ["change:axes", () => this.map.setAxes(model.get("axes"))],
      ["msg:custom", (content, buffers) => this.receive(content, buffers)],
    ]);
    for (const [event, handler] of this.handlers) model.on(event, handler);
    this.map.setAxes(model.get("axes"));
    this.paint();
    this.readMask();
  }

  /** @returns {HTMLElement} */
  toolbar() {
    const tools = [["pan", "Move"], ["box", "Box"], ["lasso", "Lasso"]].map(([tool, name]) =>
      element("button", { type: "button", "data-tool": tool, "aria-pressed": "false", onclick: () => this.map.setTool(tool) }, name));
    return element("div", { class: "widget-tools" }, this.select, ...tools,
      element("button", { type: "button", onclick: () => this.map.fit() }, "All"),
      element("button", { type: "button", onclick: () => this.choose(null) }, "Clear"), this.count);
  }

  /** @returns {void} */
  chooseColumn() {
    this.filter = { hidden: [], range: null };
    this.model.set("color", this.select.value);
    this.model.save_changes();
    this.paint();
  }

  /** @returns {void} */
  paint() {
    const name = this.model.get("color"), source = this.sources.find((/** @type {any} */ one) => one.name === name) ?? sourceOf(null);
    const { rgb, legend } = paint(source, this.n, this.dark);
    this.select.value = name;
    this.map.visible = visiblePoints(legend, this.filter);
    this.map.setColors(rgb);
    this.legend.hidden = legend.kind === "none";
    drawLegend(this.legend, legend, this.filter, {
      onFilter: (filter) => { this.filter = filter; this.paint(); },
      onSelect: (mask) => this.choose(mask),
    });
  }

  /** Select points and tell Python. @param {Uint8Array | null} mask @returns {void} */
  choose(mask) {
    const bits = new Uint8Array((this.n + 7) >> 3);
    if (mask) for (let i = 0; i < this.n; i++) if (mask[i]) bits[i >> 3] |= 1 << (i & 7);
    this.model.set("_mask", new DataView(bits.buffer));
    this.model.save_changes();
    this.show(mask);
  }

  /** Show the selection of Python. @returns {void} */
  readMask() {
    const bits = new Uint8Array(bytesOf(this.model.get("_mask"))), mask = new Uint8Array(this.n);
    for (let i = 0; i < this.n; i++) mask[i] = (bits[i >> 3] >> (i & 7)) & 1;
    this.show(mask.some(Boolean) ? mask : null);
  }

  /** @param {Uint8Array | null} mask @returns {void} */
  show(mask) {
    this.mask = mask;
    this.map.setSelected(mask);
    this.count.textContent = mask ? `${formatCount(countMask(mask))} selected` : "";
  }

  /** @param {any} detail @returns {void} */
  hover(detail) {
    if (!detail || detail.row < 0) {
      this.card.hidden = true;
      return;
    }
    const { row, x, y } = detail, ids = this.model.get("_ids"), lines = element("dl");
    for (const source of this.sources) {
      const text = source.kind === "category" ? source.names[source.codes[row]] : formatNumber(source.values[row]);
      if (text !== undefined) lines.append(element("dt", {}, source.name), element("dd", {}, text));
    }
    replaceChildren(this.card, element("strong", {}, ids.length ? ids[row] : `row ${row}`), lines);
    this.card.dataset.row = String(row);
    this.card.hidden = false;
    this.card.style.left = `${Math.max(0, x + this.card.offsetWidth + 20 > this.map.view.width ? x - this.card.offsetWidth - 12 : x + 14)}px`;
    this.card.style.top = `${Math.max(0, Math.min(y + 8, this.map.view.height - this.card.offsetHeight - 4))}px`;
    if (this.model.get("_has_images")) this.model.send({ image: row });
  }

  /** An image came from Python. @param {any} content @param {DataView[]} buffers @returns {void} */
  receive(content, buffers) {
    if (String(content.image) !== this.card.dataset.row || this.card.hidden) return;
    const [height, width, channels] = content.shape, pixels = new Uint8Array(bytesOf(buffers[0])), image = new ImageData(width, height);
    for (let k = 0; k < height * width; k++) {
      for (let c = 0; c < 3; c++) image.data[4 * k + c] = pixels[k * channels + (channels === 1 ? 0 : c)];
      image.data[4 * k + 3] = 255;
    }
    const canvas = element("canvas", { width, height, role: "img", "aria-label": "image of the point" });
    canvas.getContext("2d")?.putImageData(image, 0, 0);
    canvas.style.width = `${Math.max(1, Math.round(96 / Math.max(width, height))) * width}px`;
    this.card.querySelector("canvas")?.remove();
    this.card.append(canvas);
  }

  /** @returns {void} */
  destroy() {
    for (const [event, handler] of this.handlers) this.model.off(event, handler);
    this.map.destroy();
  }
}

/** @param {{model: Model, el: HTMLElement}} context @returns {() => void} */
function render({ model, el }) {
  const view = new WidgetView(model, el);
  return () => view.destroy();
}

export default { render };
