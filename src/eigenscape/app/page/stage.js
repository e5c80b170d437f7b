/**
 * The maps in the middle: one, or two side by side with linked hover, selection and colours; legend and tooltip.
 * @module
 */

import { combineMasks } from "./bits.js";
import { paint } from "./colors.js";
import { element, replaceChildren } from "./dom.js";
import { drawLegend, visiblePoints } from "./legend.js";
import { MapView } from "./map.js";
import { latestOnly } from "./app.js";
import { loadImage, loadRow } from "./rows.js";
import { MEASURED, colorSource, comparedPath } from "./sources.js";
import { findMap } from "./store.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {{row: number, units: [number, number] | null, x: number, y: number, main: boolean} | null} HoverDetail */

/** Message while a colour has to be computed. */
const COMPUTING = "This is being computed: the map is coloured when it is ready.";

/** The maps and what belongs to them. */
export class Stage {
  /** @param {App} app */
  constructor(app) {
    this.app = app;
    this.a = new MapView(byId("map-a"), { label: "Map of points" });
    /** @type {MapView | null} */ this.b = null;
    /** @type {Uint8Array | null} */ this.rgb = null;
    /** @type {import("./colors.js").LegendData | null} */ this.legend = null;
    this.colored = "";
    this.from = -1;
    this.shownA = "";
    this.shownPair = "";
    /** @type {number[]} Components of the coordinates that the map has. */
    this.components = [0, 1];
    this.colorTask = latestOnly(0);
    this.mapTask = latestOnly(0);
    this.tooltipTask = latestOnly(25);
    this.distanceTask = latestOnly(60);
    this.connect(this.a, true);
    const { store } = app;
    store.subscribe(["mapA", "mapB"], () => this.mapTask(() => this.showMaps()));
    store.subscribe(["axes"], () => this.mapTask(() => this.showMaps()));
    store.subscribe(["color", "mapA", "mapB", "annotations"], () => this.colorTask(() => this.showColors()));
    store.subscribe(["axes"], () => { if (store.state.color === "moved") this.colorTask(() => this.showColors()); });
    store.subscribe(["filter"], () => this.applyFilter());
    store.subscribe(["mask"], () => this.each((map) => map.setSelected(store.state.mask)));
    store.subscribe(["tool"], () => this.each((map) => map.setTool(store.state.tool)));
    store.subscribe(["placed", "mapA"], () => this.showMarkers());
    addEventListener("resize", () => this.leaveSpace());
    document.addEventListener("measured", () => {
      if (["kept", "predicted", ...Object.keys(MEASURED)].includes(store.state.color)) this.colorTask(() => this.showColors());
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", (event) => {
      this.each((map) => map.setDark(event.matches));
      this.colorTask(() => this.showColors());
    });
  }

  /** Draw the first picture. @returns {Promise<void>} */
  async start() {
    const { state } = this.app.store;
    await Promise.all([this.showMaps(), this.showColors()]);
    if (state.viewA) this.a.setView(state.viewA);
    this.each((map) => { map.setSelected(state.mask); map.setTool(state.tool); });
    this.showMarkers();
    this.a.on("view", () => this.app.store.update({ viewA: this.a.isHome() ? null : this.a.getView() }));
  }

  /** @param {(map: MapView) => void} action @returns {void} */
  each(action) {
    action(this.a);
    if (this.b) action(this.b);
  }

  /** @param {MapView} map @param {boolean} main @returns {void} */
  connect(map, main) {
    const { app } = this;
    map.on("hover", (detail) => this.hover(detail && { ...detail, main }));
    map.on("click", ({ row }) => {
      if (app.store.state.tool !== "pan" && row < 0) app.store.update({ mask: null });
      app.store.update({ pinned: row, ...(row >= 0 ? { tab: "point" } : {}) });
    });
    map.on("select", ({ mask, mode }) => this.select(mask, mode));
  }

  /** Change the selection. @param {Uint8Array} mask @param {string} mode @returns {void} */
  select(mask, mode) {
    const combined = combineMasks(this.app.store.state.mask, mask, mode);
    this.app.store.update({ mask: combined, ...(combined ? { tab: "selection" } : {}) });
  }

  /** @param {HoverDetail} detail @returns {void} */
  hover(detail) {
    this.each((map) => map.setHovered(detail ? detail.row : -1));
    this.showTooltip(detail);
    const { state } = this.app.store;
    if (state.color === "distance" && detail && detail.row >= 0 && detail.row !== this.from) {
      this.from = detail.row;
      this.distanceTask(() => this.showColors());
    }
    for (const listener of this.app.hoverListeners) listener(detail);
  }

  // --- maps ----------------------------------------------------------------------------------------------------------

  /** @returns {Promise<void>} */
  async showMaps() {
    const { api, store } = this.app, { state } = store, info = findMap(state, state.mapA), { n } = state.data;
    if (!info) return;
    const axes = state.axes.every((axis) => axis < info.n_components) ? state.axes : [0, 1], key = `${info.id} ${axes}`;
    const loaded = await this.app.run(api.coordinates(info, n, axes));
    if (!loaded) return;
    byId("caption-a").textContent = info.name;
    if (this.shownA !== key) {
      const first = this.shownA === "";
      this.shownA = key;
      this.components = loaded.components;
      this.a.axes = axes.map((axis) => Math.max(0, loaded.components.indexOf(axis)));
      this.a.setPoints(loaded.values, n, loaded.components.length, loaded.components.map((k) => `coordinate ${k + 1}`));
      this.restore(this.a);
      this.showMarkers();
      if (!first || axes !== state.axes) store.update({ axes, viewA: null });
    }
    const pair = comparedPath(store.state);
    if (pair !== this.shownPair) await this.showSecond();
    this.shownPair = pair;
  }

  /** @returns {Promise<void>} */
  async showSecond() {
    const { api, store } = this.app, { state } = store, info = findMap(state, state.mapB), frame = byId("frame-b");
    frame.hidden = !info;
    if (!info) {
      this.b?.destroy();
      this.b = null;
      this.leaveSpace();
      return;
    }
    const aligned = await this.app.run(api.numbers(comparedPath(state)));
    if (!aligned) {
      store.update({ mapB: null });
      return;
    }
    const axes = state.axes.slice(0, 2), own = Math.max(...axes) < info.n_components ? axes : [0, 1];
    byId("caption-b").textContent = `Aligned: ${info.name}${own === axes ? "" : ", coordinates 1 and 2"}`;
    if (!this.b) {
      this.b = new MapView(byId("map-b"), { label: "Second map of points" });
      this.connect(this.b, false);
      this.b.setTool(state.tool);
    }
    const { n } = state.data, pairs = new Float32Array(2 * n);
    for (let i = 0; i < n; i++) pairs.set([aligned[3 * i], aligned[3 * i + 1]], 2 * i);
    this.b.setPoints(pairs, n, 2, axes.map((axis) => `coordinate ${axis + 1}`));
    this.restore(this.b);
    this.leaveSpace();
  }

  /** Keep the corner of the legend free in the map below it. @returns {void} */
  leaveSpace() {
    const legend = byId("legend"), above = getComputedStyle(legend).position === "absolute", right = above && legend.offsetWidth ? legend.offsetWidth + 8 : 0;
    for (const [name, last] of /** @type {[string, boolean][]} */ ([["a", !this.b], ["b", true]])) byId(`caption-${name}`).style.maxWidth = `calc(100% - ${110 + (last ? right : 0)}px)`;
    this.a.setInsets({ left: 36, bottom: 18, top: 14, right: this.b ? 0 : right });
    this.b?.setInsets({ left: 36, bottom: 18, top: 14, right });
  }

  /** Give a map the colours, filter and selection. @param {MapView} map @returns {void} */
  restore(map) {
    if (this.rgb) map.setColors(this.rgb);
    if (this.legend) map.setVisible(visiblePoints(this.legend, this.app.store.state.filter));
    map.setSelected(this.app.store.state.mask);
  }

  /** New points on the map they were placed on. @returns {void} */
  showMarkers() {
    const { placed, mapA } = this.app.store.state, points = placed && placed.map === mapA ? placed.points : [];
    const labels = points.length <= 30;
    this.a.setMarkers(points.map((point) => ({ coordinates: this.components.map((k) => point.coordinates[k]), label: labels ? point.id : "" })));
  }

  // --- colours -------------------------------------------------------------------------------------------------------

  /** @returns {Promise<void>} */
  async showColors() {
    const { app } = this, { state } = app.store;
    if (state.color === "distance" && this.from < 0) this.from = Math.max(0, state.pinned);
    const found = await app.run(colorSource(app, state.color, this.from));
    if (found === undefined) return;
    if (found === null) app.say(COMPUTING);
    else app.unsay(COMPUTING);
    const source = found ?? /** @type {import("./colors.js").ColorSource} */ ({ kind: "none", name: "" });
    const { rgb, legend } = paint(source, state.data.n, this.a.dark), { color, mapA, mapB } = state;
    this.rgb = rgb;
    // A filter holds for one column, and for measures of one map: the values of another are different.
    const colored = /^(column|annotation):/.test(color) ? color : color === "moved" ? `${color} ${mapA} ${mapB}` : `${color} ${mapA}`;
    if (this.colored && colored !== this.colored) app.store.update({ filter: { hidden: [], range: null } });
    this.colored = colored;
    this.legend = legend;
    this.each((map) => { if (map.n) map.setColors(rgb); });
    this.applyFilter();
    document.dispatchEvent(new CustomEvent("recoloured"));
  }

  /** @returns {void} */
  applyFilter() {
    if (!this.legend) return;
    const { store } = this.app, { filter } = store.state, visible = visiblePoints(this.legend, filter);
    this.each((map) => { if (map.n) map.setVisible(visible); });
    const focused = document.activeElement?.getAttribute("aria-label");
    drawLegend(byId("legend"), this.legend, filter, {
      onFilter: (next) => store.update({ filter: next }),
      onSelect: (mask) => this.select(mask, "replace"),
    });
    this.leaveSpace();
    for (const control of byId("legend").querySelectorAll("input")) if (focused && control.getAttribute("aria-label") === focused) control.focus();
  }

  // --- tooltip -------------------------------------------------------------------------------------------------------

  /** @param {HoverDetail} detail @returns {void} */
  showTooltip(detail) {
    const box = byId("tooltip");
    if (!detail || detail.row < 0) {
      box.hidden = true;
      this.tooltipTask(async () => {});
      return;
    }
    const map = detail.main ? this.a : this.b, frame = map?.container.getBoundingClientRect(), stage = byId("stage").getBoundingClientRect();
    if (!frame) return;
    const left = frame.left - stage.left + detail.x, top = frame.top - stage.top + detail.y;
    this.tooltipTask(async () => {
      const [row, image] = await Promise.all([loadRow(this.app, detail.row), loadImage(this.app, detail.row)]);
      if (this.a.hovered !== detail.row) return;
      replaceChildren(box, image, element("div", {}, element("strong", {}, row.id), this.valueText(detail.row)));
      box.hidden = false;
      box.style.left = `${Math.min(left + 14, stage.width - box.offsetWidth - 6)}px`;
      box.style.top = `${top + 18 + box.offsetHeight > stage.height ? top - box.offsetHeight - 10 : top + 18}px`;
    });
  }

  /** Value of the colour at a row. @param {number} row @returns {HTMLElement | null} */
  valueText(row) {
    const legend = this.legend;
    if (!legend || legend.kind === "none" || this.app.store.state.color === "distance") return null;
    const value = legend.kind === "category" ? legend.names[legend.codes?.[row] ?? -1] : legend.values?.[row];
    const text = typeof value === "number" ? String(Number(value.toPrecision(4))) : value ?? "";
    return element("span", {}, `${legend.name}: ${text}`);
  }
}

/** An element of the page that exists. @param {string} id @returns {HTMLElement} */
export function byId(id) {
  return /** @type {HTMLElement} */ (document.getElementById(id));
}
