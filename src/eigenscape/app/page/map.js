/**
 * A map of points: drawing, panning, zooming, rotating, picking, lasso and box selection, by mouse, touch and keyboard.
 * Shared by the explorer, the reports and the notebook widget.
 *
 *     const map = new MapView(container, { label: "Isomap of digits" });     // container: an empty element with a size
 *     map.setPoints(coordinates, n, d);                // Float32Array (n, d), row-major; names of the axes may follow
 *     map.setColors(paint(source, n, map.dark).rgb);   // colors.js: a column -> colours and data of the legend
 *     map.setAxes([0, 1]);                             // two coordinates, or three for a view that rotates
 *     map.setVisible(mask); map.setSelected(mask);     // Uint8Array (n,), or null for all and for none
 *     map.setHovered(row);                             // -1 for none
 *     map.setMarkers([{ coordinates: [x, y], label }]);  map.setLines([{ from, to, kind }]);  map.setRings(rows);
 *     map.setInsets({ left, right, top, bottom });     // pixels that stay free when all points are shown, such as for a legend
 *     map.setTool("pan" | "lasso" | "box");  map.fit();  map.isHome();  map.getView();  map.setView(stored);  map.setDark(true);
 *     map.on("hover", ({ row, units, coordinates, x, y }) => {});   // row -1: no point there; null detail: pointer left
 *     map.on("select", ({ mask, mode }) => {});        // mode "replace", "add" or "remove"; the caller decides, then setSelected
 *     map.on("click", ({ row }) => {});  map.on("view", () => {});  map.on("tool", ({ tool }) => {});
 *     map.destroy();
 *
 * Styles: map.css, which also has the colours of the overlay as custom properties (--surface, --ink, --quiet, --grid,
 * --accent and --warn, each `#rrggbb`). legend.js draws the legend. `bundle("map.js")` is one module text.
 * @module
 */

import { CanvasPoints } from "./canvas.js";
import { element } from "./dom.js";
import { GridIndex, boundsOf } from "./grid.js";
import { listenToMap } from "./interaction.js";
import { drawOverlay } from "./overlay.js";
import { DENSE, PLAIN, toRgb } from "./palette.js";
import { View } from "./view.js";
import { WebglPoints } from "./webgl.js";

/** Alpha of points that are not selected while others are. */
const DIMMED = 46;
/** A frame that takes longer than this many milliseconds is drawn with fewer points while the view moves. */
const SLOW = 60;

/**
 * @typedef {object} MapOptions
 * @property {string} [label]  accessible name
 * @property {boolean} [dark]  dark background; by default that of the system
 * @property {boolean} [wheel]  zoom with the wheel alone; otherwise with Ctrl only, so that a page can be scrolled
 * @property {boolean} [canvas]  draw without WebGL
 * @property {boolean} [ticks]  draw ticks and names of the axes
 * @property {boolean} [equal]  both axes have the same unit; by default if there are two coordinates
 */

/** A map of points. */
export class MapView {
  /** @param {HTMLElement} container @param {MapOptions} [options] */
  constructor(container, options = {}) {
    this.container = container;
    this.options = { wheel: true, ticks: true, ...options };
    this.dark = options.dark ?? matchMedia("(prefers-color-scheme: dark)").matches;
    this.view = new View();
    this.n = 0;
    this.d = 0;
    /** @type {Float32Array} */ this.coordinates = new Float32Array(0);
    /** @type {string[]} */ this.names = [];
    /** @type {number[]} */ this.axes = [0, 1];
    /** @type {Float32Array} */ this.xy = new Float32Array(0);
    /** @type {Float32Array | null} */ this.z = null;
    /** @type {Uint8Array | null} */ this.rgb = null;
    /** @type {Uint8Array | null} */ this.visible = null;
    /** @type {Uint8Array | null} */ this.selected = null;
    this.tool = "pan";
    this.hovered = -1;
    /** @type {number[]} */ this.rings = [];
    /** @type {import("./overlay.js").Marker[]} */ this.markers = [];
    /** @type {import("./overlay.js").Line[]} */ this.lines = [];
    /** @type {[number, number][]} */ this.shape = [];
    /** @type {[number, number] | null} */ this.pen = null;
    /** @type {Map<string, ((detail: any) => void)[]>} */ this.listeners = new Map();
    /** @type {GridIndex | null} */ this.index = null;
    this.frameTime = 0;
    this.moving = false;
    this.requested = false;
    this.frames = 0;
    this.pointCanvas = element("canvas", { class: "map-points", "aria-hidden": "true" });
    /** @type {WebglPoints | CanvasPoints | null} */ this.drawnBy = null;
    this.overlayCanvas = element("canvas", { class: "map-overlay", "aria-hidden": "true" });
    container.classList.add("map");
    container.setAttribute("tabindex", "0");
    container.setAttribute("role", "application");
    container.setAttribute("aria-label", options.label ?? "Map of points");
    container.append(this.pointCanvas, this.overlayCanvas);
    this.overlayContext = /** @type {CanvasRenderingContext2D} */ (this.overlayCanvas.getContext("2d"));
    this.stopListening = listenToMap(this);
    this.observer = new ResizeObserver(() => this.resize());
    this.observer.observe(container);
    this.resize();
  }

  // --- what is shown -------------------------------------------------------------------------------------------------

  /**
   * @param {Float32Array} coordinates  (n, d), row-major
   * @param {number} n
   * @param {number} d
   * @param {string[]} [names]  of the coordinates
   * @returns {void}
   */
  setPoints(coordinates, n, d, names) {
    if (n !== this.n) this.rgb = this.visible = this.selected = null;
    if (n > DENSE && this.renderer.kind === "webgl" && this.renderer.software) this.useCanvas();
    Object.assign(this, { coordinates, n, d, names: names ?? Array.from({ length: d }, (_, k) => `coordinate ${k + 1}`) });
    this.hovered = -1;
    this.lines = [];
    this.setAxes(this.axes.every((axis) => axis < d) ? this.axes : [0, 1]);
  }

  /** @param {number[]} axes  indices of two or three coordinates @returns {void} */
  setAxes(axes) {
    this.axes = axes;
    const { coordinates, n, d } = this, spatial = axes.length === 3;
    if (d === 2 && axes[0] === 0 && axes[1] === 1) this.xy = coordinates;
    else {
      this.xy = new Float32Array(2 * n);
      for (let i = 0; i < n; i++) {
        this.xy[2 * i] = d > 1 ? coordinates[i * d + axes[0]] : i;
        this.xy[2 * i + 1] = d > 1 ? coordinates[i * d + axes[1]] : coordinates[i];
      }
    }
    this.z = spatial ? new Float32Array(n) : null;
    if (this.z) for (let i = 0; i < n; i++) this.z[i] = coordinates[i * d + axes[2]];
    this.view.spatial = spatial;
    this.renderer.setPositions(this.xy, this.z);
    this.updateColors();
    this.fit();
  }

  /** @param {Uint8Array} rgb  three bytes per point @returns {void} */
  setColors(rgb) {
    this.rgb = rgb;
    this.updateColors();
  }

  /** @param {Uint8Array | null} mask @returns {void} */
  setVisible(mask) {
    this.visible = mask;
    this.updateColors();
  }

  /** @param {Uint8Array | null} mask @returns {void} */
  setSelected(mask) {
    this.selected = mask;
    this.updateColors();
  }

  /** @param {number} row @returns {void} */
  setHovered(row) {
    if (row === this.hovered) return;
    this.hovered = row;
    this.drawAbove();
  }

  /** @param {number[]} rows @returns {void} */
  setRings(rows) {
    this.rings = rows;
    this.drawAbove();
  }

  /** @param {import("./overlay.js").Marker[]} markers @returns {void} */
  setMarkers(markers) {
    this.markers = markers;
    this.drawAbove();
  }

  /** @param {import("./overlay.js").Line[]} lines @returns {void} */
  setLines(lines) {
    this.lines = lines;
    this.drawAbove();
  }

  /** @param {string} tool  "pan", "lasso" or "box" @returns {void} */
  setTool(tool) {
    this.tool = tool;
    this.container.dataset.tool = tool;
    this.pen = null;
    this.shape = [];
    this.drawAbove();
    this.emit("tool", { tool });
  }

  /** @param {Partial<{left: number, right: number, top: number, bottom: number}>} insets @returns {void} */
  setInsets(insets) {
    const before = this.view.insets, next = { ...before, ...insets };
    if (Object.keys(next).every((key) => /** @type {any} */ (before)[key] === /** @type {any} */ (next)[key])) return;
    const wasHome = this.isHome();
    this.view.insets = next;
    if (this.n && wasHome) this.fit();
  }

  /** @param {boolean} dark @returns {void} */
  setDark(dark) {
    this.dark = dark;
    this.draw();
  }

  /** Show all points. @returns {void} */
  fit() {
    this.index = null;
    this.view.pivot = this.z ? this.pivot() : [0, 0, 0];
    this.view.fitTo(this.z ? this.sphere() : boundsOf(this.xy), this.options.equal ?? this.d > 1);
    this.changedView();
  }

  // --- the view ------------------------------------------------------------------------------------------------------

  /** Part of the plane that is shown, to be stored. @returns {Record<string, number>} */
  getView() {
    const { x, y, scaleX, scaleY, yaw, pitch } = this.view, { scaleX: sx, scaleY: sy } = this.view.home;
    return { x, y, zoomX: scaleX / sx, zoomY: scaleY / sy, yaw, pitch };
  }

  /** @param {Record<string, number>} stored  from `getView`, of a map with the same axes @returns {void} */
  setView(stored) {
    const { x, y, zoomX, zoomY, yaw, pitch } = stored, home = this.view.home;
    if (![x, y, zoomX, zoomY, yaw, pitch].every(Number.isFinite)) return;
    Object.assign(this.view, { x, y, yaw, pitch, scaleX: zoomX * home.scaleX, scaleY: zoomY * home.scaleY });
    this.changedView();
  }

  /** Whether all points are shown, as `fit` shows them. @returns {boolean} */
  isHome() {
    const { view } = this, near = (/** @type {number} */ a, /** @type {number} */ b) => Math.abs(a - b) <= 1e-6 * Math.abs(b);
    const shift = Math.hypot((view.x - view.home.x) * view.scaleX, (view.y - view.home.y) * view.scaleY);
    return near(view.scaleX, view.home.scaleX) && near(view.scaleY, view.home.scaleY) && shift < 0.01;
  }

  /** The view was moved. @returns {void} */
  changedView() {
    if (this.view.spatial) this.index = null;
    this.draw();
    this.emit("view", null);
  }

  /** Fewer points may be drawn while the view moves. @param {boolean} moving @returns {void} */
  setMoving(moving) {
    const changed = this.moving && !moving;
    this.moving = moving;
    if (changed) this.draw();
  }

  /** Centre of the points in space. @returns {[number, number, number]} */
  pivot() {
    const [x0, x1, y0, y1] = boundsOf(this.xy), z = /** @type {Float32Array} */ (this.z);
    let low = Infinity, high = -Infinity;
    for (const value of z) { if (value < low) low = value; if (value > high) high = value; }
    this.depthRange = Math.max(1e-20, Math.hypot(x1 - x0, y1 - y0, high - low) / 2);
    return [(x0 + x1) / 2, (y0 + y1) / 2, (low + high) / 2];
  }

  /** @returns {[number, number, number, number]} */
  sphere() {
    const r = 0.8 * (this.depthRange ?? 1);
    return [-r, r, -r, r];
  }

  /** Index of the points as they are on the screen. @returns {GridIndex} */
  grid() {
    this.index ??= new GridIndex(this.view.project(this.xy, this.z));
    return this.index;
  }

  /** Whether a point is shown. @param {number} row @returns {boolean} */
  isShown(row) {
    return !this.visible || this.visible[row] > 0;
  }

  /** Position of a point on the screen, or null. @param {number} row @returns {[number, number] | null} */
  positionOf(row) {
    if (row < 0 || row >= this.n) return null;
    return this.view.toScreen(...this.view.rotate(this.xy[2 * row], this.xy[2 * row + 1], this.z ? this.z[row] : 0));
  }

  /** Position of coordinates on the screen. @param {number[]} coordinates @returns {[number, number]} */
  place(coordinates) {
    const [a, b, c] = this.axes;
    return this.view.toScreen(...this.view.rotate(coordinates[a], coordinates[b] ?? 0, c === undefined ? 0 : coordinates[c]));
  }

  // --- drawing -------------------------------------------------------------------------------------------------------

  /** @returns {WebglPoints | CanvasPoints} */
  get renderer() {
    if (!this.drawnBy) {
      this.drawnBy = (this.options.canvas ? null : WebglPoints.create(this.pointCanvas)) ?? new CanvasPoints(this.pointCanvas);
      this.drawnBy.onRestored = () => this.draw();
    }
    return this.drawnBy;
  }

  /** Draw on a Canvas 2-D from now on. @returns {void} */
  useCanvas() {
    const canvas = element("canvas", { class: "map-points", "aria-hidden": "true" });
    this.drawnBy?.destroy();
    this.pointCanvas.replaceWith(canvas);
    this.pointCanvas = canvas;
    this.drawnBy = new CanvasPoints(canvas);
  }

  /** Diameter of a point in pixels: smaller for more points, larger when magnified. @returns {number} */
  pointSize() {
    const spacing = Math.sqrt((this.view.width * this.view.height) / Math.max(1, this.n));
    const base = Math.max(1.5, Math.min(11, 0.5 * spacing));
    return Math.min(Math.max(base, 13), base * Math.max(1, this.view.zoom) ** 0.4);
  }

  /** Join colours, filters and the selection. @returns {void} */
  updateColors() {
    const { n, rgb, visible, selected } = this, rgba = new Uint8Array(4 * n);
    const plain = toRgb(PLAIN);
    for (let i = 0; i < n; i++) {
      rgba[4 * i] = rgb ? rgb[3 * i] : plain[0];
      rgba[4 * i + 1] = rgb ? rgb[3 * i + 1] : plain[1];
      rgba[4 * i + 2] = rgb ? rgb[3 * i + 2] : plain[2];
      rgba[4 * i + 3] = visible && !visible[i] ? 0 : selected && !selected[i] ? DIMMED : 255;
    }
    this.renderer.setColors(rgba);
    this.draw();
  }

  /** Draw at the next frame. @returns {void} */
  draw() {
    if (this.requested) return;
    this.requested = true;
    requestAnimationFrame(() => {
      this.requested = false;
      this.drawNow();
    });
  }

  /** Draw at once. @returns {void} */
  drawNow() {
    const size = this.pointSize(), { view } = this, density = this.n > DENSE && size < 6;
    const started = performance.now(), step = this.moving && this.frameTime > SLOW ? Math.min(31, Math.ceil(this.frameTime / SLOW)) : 1;
    const area = Math.max(1, size * size);
    this.renderer.draw({
      view, size, density, step, width: view.width, height: view.height, ratio: this.ratio(), dimmed: this.selected !== null,
      toneMax: density ? (this.grid().highDensity() * area) / (view.scaleX * view.scaleY) : 1,
      background: this.color("surface"), depthRange: this.depthRange ?? 1,
    });
    if (step === 1 && this.n > DENSE) {
      this.renderer.finish();
      this.frameTime = performance.now() - started;
    }
    this.frames++;
    this.container.dataset.frames = String(this.frames);
    this.drawAbove();
  }

  /** Draw the overlay. @returns {void} */
  drawAbove() {
    const style = getComputedStyle(this.container);
    /** @type {any} */
    const colors = {};
    for (const name of ["ink", "quiet", "grid", "accent", "warn", "surface"]) colors[name] = style.getPropertyValue(`--${name}`) || "#555";
    const ratio = this.ratio();
    this.overlayContext.setTransform(ratio, 0, 0, ratio, 0, 0);
    drawOverlay(this.overlayContext, {
      view: this.view, size: this.pointSize(), positionOf: (row) => this.positionOf(row), place: (coordinates) => this.place(coordinates),
      hovered: this.hovered, rings: this.rings, markers: this.markers, lines: this.lines, shape: this.shape, pen: this.pen, colors,
      names: this.d > 1 ? this.axes.map((axis) => this.names[axis]) : ["point", this.names[0]], ticks: this.options.ticks,
    });
  }

  /** @returns {number} */
  ratio() {
    return Math.min(2, devicePixelRatio || 1);
  }

  /** A colour of the style sheet. @param {string} name @returns {[number, number, number]} */
  color(name) {
    const text = getComputedStyle(this.container).getPropertyValue(`--${name}`).trim();
    return /^#[0-9a-f]{6}$/i.test(text) ? toRgb(text) : [255, 255, 255];
  }

  /** Adapt to the size of the container; the part shown stays. @returns {void} */
  resize() {
    const width = this.container.clientWidth, height = this.container.clientHeight, { view } = this;
    if (!width || !height || (width === view.width && height === view.height)) return;
    const kept = this.isHome() ? null : this.getView();
    Object.assign(view, { width, height });
    Object.assign(this.overlayCanvas, { width: Math.round(width * this.ratio()), height: Math.round(height * this.ratio()) });
    if (!this.n) return;
    this.fit();
    if (kept) this.setView(kept);
    this.drawNow();
  }

  // --- events --------------------------------------------------------------------------------------------------------

  /** @param {"hover" | "select" | "click" | "view" | "tool"} type @param {(detail: any) => void} listener @returns {void} */
  on(type, listener) {
    this.listeners.set(type, [...(this.listeners.get(type) ?? []), listener]);
  }

  /** @param {string} type @param {any} detail @returns {void} */
  emit(type, detail) {
    for (const listener of this.listeners.get(type) ?? []) listener(detail);
  }

  /** Remove the map from its container. @returns {void} */
  destroy() {
    this.observer.disconnect();
    this.stopListening();
    this.renderer.destroy();
    this.container.replaceChildren();
  }
}
