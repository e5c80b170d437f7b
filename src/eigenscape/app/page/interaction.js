/**
 * Mouse, touch and keyboard on a map.
 * @module
 */

import { pointsInBox, pointsInPolygon } from "./lasso.js";

/** @typedef {import("./map.js").MapView} MapView */
/** @typedef {[number, number]} Position */

/** Distance in pixels within which a point is under the pointer. */
const REACH = 14;
/** Milliseconds after the last movement until all points are drawn again. */
const REST = 180;
/** Pixels by which an arrow key moves the cross of the lasso and the box. */
const STEP = 12;

/**
 * Listen to a map. Returns a function that stops.
 * @param {MapView} map
 * @returns {() => void}
 */
export function listenToMap(map) {
  const hands = new Hands(map), container = map.container;
  /** @type {[string, (event: any) => void][]} */
  const handlers = [
    ["pointerdown", (event) => hands.down(event)], ["pointermove", (event) => hands.move(event)],
    ["pointerup", (event) => hands.up(event)], ["pointercancel", (event) => hands.up(event)],
    ["pointerleave", () => hands.leave()], ["wheel", (event) => hands.wheel(event)],
    ["dblclick", () => map.fit()], ["keydown", (event) => hands.key(event)],
  ];
  for (const [type, handler] of handlers) container.addEventListener(type, handler, { passive: false });
  return () => {
    for (const [type, handler] of handlers) container.removeEventListener(type, handler);
  };
}

/** Pointers that are down, and what they do. */
class Hands {
  /** @param {MapView} map */
  constructor(map) {
    this.map = map;
    /** @type {Map<number, Position>} */ this.pointers = new Map();
    /** @type {Position} */ this.start = [0, 0];
    this.action = "";
    this.travelled = 0;
    this.mode = "replace";
    this.rest = 0;
    /** @type {Position[]} Corners of a selection that is drawn by keyboard. */ this.corners = [];
    map.on("tool", () => { this.corners = []; });
  }

  /** @param {MouseEvent} event @returns {Position} */
  at(event) {
    const frame = this.map.container.getBoundingClientRect();
    return [event.clientX - frame.left, event.clientY - frame.top];
  }

  /** @param {PointerEvent} event @returns {void} */
  down(event) {
    if (event.button > 0) return;
    const at = this.at(event), { map } = this;
    map.container.focus({ preventScroll: true });
    try { map.container.setPointerCapture(event.pointerId); } catch { /* the pointer is gone already */ }
    this.pointers.set(event.pointerId, at);
    this.start = at;
    this.travelled = 0;
    this.mode = event.shiftKey ? "add" : event.altKey ? "remove" : "replace";
    if (this.pointers.size > 1) this.action = "pinch";
    else if (map.tool !== "pan") this.action = map.tool;
    else if (map.view.spatial) this.action = event.shiftKey ? "pan" : "rotate";
    else this.action = event.shiftKey ? "box" : "pan";
    map.shape = this.action === "lasso" ? [at] : [];
  }

  /** @param {PointerEvent} event @returns {void} */
  move(event) {
    const at = this.at(event), before = this.pointers.get(event.pointerId), { map } = this;
    if (!before) {
      this.hover(at);
      return;
    }
    const dx = at[0] - before[0], dy = at[1] - before[1];
    this.travelled += Math.hypot(dx, dy);
    if (this.action === "pinch") this.pinch(event.pointerId, at);
    this.pointers.set(event.pointerId, at);
    if (this.travelled < 3) return;
    if (this.action === "lasso") map.shape = [...map.shape, at];
    else if (this.action === "box") map.shape = [this.start, [at[0], this.start[1]], at, [this.start[0], at[1]]];
    else if (this.action === "pan") map.view.pan(dx, dy);
    else if (this.action === "rotate") {
      map.view.yaw += dx * 0.008;
      map.view.pitch = Math.max(-1.57, Math.min(1.57, map.view.pitch + dy * 0.008));
    }
    if (map.shape.length) map.drawAbove();
    else this.moved();
  }

  /** @param {number} id @param {Position} at @returns {void} */
  pinch(id, at) {
    const other = [...this.pointers].find(([key]) => key !== id)?.[1], before = this.pointers.get(id);
    if (!other || !before) return;
    const factor = Math.hypot(at[0] - other[0], at[1] - other[1]) / Math.max(1, Math.hypot(before[0] - other[0], before[1] - other[1]));
    this.map.view.zoomAt(factor, (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
    this.map.view.pan((at[0] - before[0]) / 2, (at[1] - before[1]) / 2);
  }

  /** @param {PointerEvent} event @returns {void} */
  up(event) {
    const { map, action } = this, at = this.at(event), wasDown = this.pointers.delete(event.pointerId);
    if (!wasDown || this.pointers.size) return;
    this.action = "";
    const shape = map.shape;
    map.shape = [];
    map.setMoving(false);
    map.drawAbove();
    if (event.type === "pointercancel" || action === "pinch") return;
    if (this.travelled < 4) this.click(at);
    else if (action === "lasso" || action === "box") this.select(action, shape, at);
  }

  /** @param {string} action @param {Position[]} shape @param {Position} at @returns {void} */
  select(action, shape, at) {
    const { map } = this, units = shape.map(([x, y]) => map.view.toUnits(x, y)), index = map.grid();
    /** @param {number} i @returns {boolean} */
    const accept = (i) => map.isShown(i);
    const corners = /** @type {[Position, Position]} */ ([map.view.toUnits(...this.start), map.view.toUnits(...at)]);
    const mask = action === "lasso" ? pointsInPolygon(index, units, accept) : pointsInBox(index, ...corners, accept);
    map.emit("select", { mask, mode: action === "box" && map.tool === "pan" && this.mode === "add" ? "replace" : this.mode });
  }

  /** @param {Position} at @returns {void} */
  click(at) {
    const row = this.pick(at);
    this.hover(at);
    this.map.emit("click", { row, mode: this.mode });
  }

  /** Row of the point under a position, or -1. @param {Position} at @returns {number} */
  pick(at) {
    const { map } = this, [x, y] = map.view.toUnits(...at), reach = Math.max(REACH, map.pointSize() / 2 + 3);
    return map.n ? map.grid().nearest(x, y, reach / map.view.scaleX, reach / map.view.scaleY, (i) => map.isShown(i)) : -1;
  }

  /** @param {Position} at @returns {void} */
  hover(at) {
    const { map } = this, row = this.pick(at);
    map.setHovered(row);
    map.emit("hover", { row, units: map.view.spatial ? null : map.view.toUnits(...at), x: at[0], y: at[1] });
  }

  /** The pointer left the map. @returns {void} */
  leave() {
    if (this.pointers.size) return;
    this.map.setHovered(-1);
    this.map.emit("hover", null);
  }

  /** @param {WheelEvent} event @returns {void} */
  wheel(event) {
    if (!this.map.options.wheel && !event.ctrlKey) return;
    event.preventDefault();
    const lines = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const change = Math.max(-300, Math.min(300, event.deltaY * lines));
    this.map.view.zoomAt(Math.exp(-change * (event.ctrlKey ? 0.01 : 0.0016)), ...this.at(event));
    this.moved();
  }

  /** The view moved; all points are drawn when it rests. @returns {void} */
  moved() {
    const { map } = this;
    if (map.pen) this.draw("Escape", undefined); // corners are positions on the screen
    map.setMoving(true);
    map.changedView();
    clearTimeout(this.rest);
    this.rest = setTimeout(() => map.setMoving(false), REST);
  }

  // --- keyboard ------------------------------------------------------------------------------------------------------

  /** @param {KeyboardEvent} event @returns {void} */
  key(event) {
    const { map } = this, middle = /** @type {Position} */ ([map.view.width / 2, map.view.height / 2]);
    /** @type {Record<string, Position>} */
    const directions = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
    const direction = directions[event.key];
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    if (direction && event.shiftKey && map.view.spatial) {
      map.view.yaw += 0.12 * direction[0];
      map.view.pitch = Math.max(-1.57, Math.min(1.57, map.view.pitch + 0.12 * direction[1]));
      this.moved();
    } else if (direction && event.shiftKey) {
      map.view.pan(-60 * direction[0], -60 * direction[1]);
      this.moved();
    } else if (map.tool !== "pan" && this.draw(event.key, direction)) {
      map.drawAbove();
    } else if (direction) this.step(direction);
    else if (event.key === "+" || event.key === "=") { map.view.zoomAt(1.25, ...middle); this.moved(); }
    else if (event.key === "-") { map.view.zoomAt(0.8, ...middle); this.moved(); }
    else if (event.key === "0") map.fit();
    else if (event.key === "Enter" && map.hovered >= 0) this.toggle(map.hovered);
    else if (event.key === "a") this.selectShown();
    else return;
    event.preventDefault();
    event.stopPropagation();
  }

  /**
   * Draw a lasso or a box by keyboard: arrow keys move a cross, Space sets a corner, Enter selects what is inside.
   * Returns whether the key was used.
   * @param {string} key
   * @param {Position | undefined} direction
   * @returns {boolean}
   */
  draw(key, direction) {
    const { map } = this, { width, height } = map.view, pen = map.pen ?? map.positionOf(map.hovered) ?? [width / 2, height / 2];
    if (direction) {
      map.pen = [Math.max(0, Math.min(width, pen[0] + STEP * direction[0])), Math.max(0, Math.min(height, pen[1] + STEP * direction[1]))];
    } else if (key === " ") {
      map.pen = /** @type {Position} */ ([...pen]);
      if (map.tool === "lasso" || !this.corners.length) this.corners.push(map.pen);
    } else if (key === "Enter" && this.corners.length) {
      this.start = this.corners[0];
      this.mode = "replace";
      if (map.tool === "box" || this.corners.length > 2) this.select(map.tool, this.corners, /** @type {Position} */ (map.pen));
      this.corners = [];
      map.pen = null;
    } else if (key === "Escape" && map.pen) {
      this.corners = [];
      map.pen = null;
    } else return false;
    const [first] = this.corners, at = map.pen;
    map.shape = !first || !at ? [] : map.tool === "lasso" ? [...this.corners, at] : [first, [at[0], first[1]], at, [first[0], at[1]]];
    return true;
  }

  /** Move the cursor to the nearest point in a direction. @param {Position} direction @returns {void} */
  step(direction) {
    const { map } = this, from = map.positionOf(map.hovered) ?? [map.view.width / 2, map.view.height / 2];
    const index = map.grid(), [x, y] = map.view.toUnits(...from);
    let best = -1, least = Infinity;
    for (let reach = 40; best < 0 && reach < 40000; reach *= 3) {
      const rx = reach / map.view.scaleX, ry = reach / map.view.scaleY;
      index.visit(x - rx, x + rx, y - ry, y + ry, (i) => {
        const dx = (index.points[2 * i] - x) * map.view.scaleX, dy = (y - index.points[2 * i + 1]) * map.view.scaleY;
        const along = dx * direction[0] + dy * direction[1], across = Math.abs(dx * direction[1]) + Math.abs(dy * direction[0]);
        const cost = along + 2 * across;
        if (i !== map.hovered && along > 0.5 && across <= 2 * along && cost < least && map.isShown(i)) { best = i; least = cost; }
      });
    }
    if (best < 0) return;
    const at = /** @type {Position} */ (map.positionOf(best));
    if (at[0] < 0 || at[1] < 0 || at[0] > map.view.width || at[1] > map.view.height) {
      map.view.pan(map.view.width / 2 - at[0], map.view.height / 2 - at[1]);
      map.changedView();
    }
    map.setHovered(best);
    const [px, py] = /** @type {Position} */ (map.positionOf(best));
    map.emit("hover", { row: best, units: map.view.spatial ? null : map.view.toUnits(px, py), x: px, y: py });
  }

  /** Add a point to the selection, or remove it. @param {number} row @returns {void} */
  toggle(row) {
    const mask = new Uint8Array(this.map.n);
    mask[row] = 1;
    this.map.emit("select", { mask, mode: this.map.selected?.[row] ? "remove" : "add" });
  }

  /** Select the points on the screen. @returns {void} */
  selectShown() {
    const { map } = this, a = map.view.toUnits(0, 0), b = map.view.toUnits(map.view.width, map.view.height);
    map.emit("select", { mask: pointsInBox(map.grid(), a, b, (i) => map.isShown(i)), mode: "replace" });
  }
}
