/**
 * What is drawn above the points: ticks, the point under the cursor, new points, lines and the shape of a selection.
 * @module
 */

import { formatNumber } from "./dom.js";

/**
 * @typedef {object} Marker  A new point on the map.
 * @property {number[]} coordinates
 * @property {string} label
 * @property {boolean} [emphasized]
 *
 * @typedef {object} Line  A line between two points of the map.
 * @property {number} from  row
 * @property {number} to  row
 * @property {"missing" | "false" | "plain"} kind
 *
 * @typedef {object} OverlayState
 * @property {import("./view.js").View} view
 * @property {number} size  diameter of a point
 * @property {(row: number) => [number, number] | null} positionOf  on the screen
 * @property {(coordinates: number[]) => [number, number]} place  on the screen
 * @property {number} hovered  row or -1
 * @property {number[]} rings  rows with a ring, such as found ids
 * @property {Marker[]} markers
 * @property {Line[]} lines
 * @property {[number, number][]} shape  corners of the selection being drawn, on the screen
 * @property {[number, number] | null} pen  position at which the keyboard draws a selection, on the screen
 * @property {string[]} names  of the axes
 * @property {boolean} ticks
 * @property {Record<"ink" | "quiet" | "grid" | "accent" | "warn" | "surface", string>} colors
 */

const FONT = "11px system-ui, sans-serif";

/**
 * Draw everything above the points.
 * @param {CanvasRenderingContext2D} context
 * @param {OverlayState} state
 * @returns {void}
 */
export function drawOverlay(context, state) {
  context.clearRect(0, 0, state.view.width, state.view.height);
  if (state.ticks) (state.view.spatial ? drawAxes : drawTicks)(context, state);
  drawLines(context, state);
  for (const row of state.rings) drawRing(context, state.positionOf(row), state.size / 2 + 5, state.colors.accent, 2);
  for (const marker of state.markers) drawMarker(context, state, marker);
  const at = state.hovered >= 0 ? state.positionOf(state.hovered) : null;
  drawRing(context, at, state.size / 2 + 3.5, state.colors.surface, 4);
  drawRing(context, at, state.size / 2 + 3.5, state.colors.ink, 2);
  drawShape(context, state);
  drawPen(context, state);
}

/** @param {CanvasRenderingContext2D} context @param {[number, number] | null} at @param {number} radius @param {string} color @param {number} width @returns {void} */
function drawRing(context, at, radius, color, width) {
  if (!at) return;
  context.strokeStyle = color;
  context.lineWidth = width;
  context.beginPath();
  context.arc(at[0], at[1], radius, 0, 2 * Math.PI);
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {OverlayState} state @returns {void} */
function drawTicks(context, state) {
  const { view, colors } = state;
  context.font = FONT;
  context.fillStyle = colors.quiet;
  context.strokeStyle = colors.grid;
  context.lineWidth = 1;
  const [x0, y1] = view.toUnits(0, 0), [x1, y0] = view.toUnits(view.width, view.height);
  context.textBaseline = "bottom";
  context.textAlign = "center";
  for (const value of tickValues(x0, x1, view.width / 110)) {
    const x = Math.round(view.toScreen(value, 0)[0]) + 0.5;
    if (x < 60 || x > view.width - 90) continue;
    line(context, x, view.height, x, view.height - 4);
    context.fillText(formatNumber(value), x, view.height - 5);
  }
  context.textBaseline = "middle";
  context.textAlign = "left";
  for (const value of tickValues(y0, y1, view.height / 90)) {
    const y = Math.round(view.toScreen(0, value)[1]) + 0.5;
    if (y < 24 || y > view.height - 26) continue;
    line(context, 0, y, 4, y);
    context.fillText(formatNumber(value), 6, y);
  }
  context.textBaseline = "bottom";
  context.textAlign = "right";
  context.fillText(state.names[0] ?? "", view.width - 6, view.height - 5);
  context.textBaseline = "top";
  context.textAlign = "left";
  context.fillText(state.names[1] ?? "", 6, 6);
}

/** Axes of a view in space, at the lower left. @param {CanvasRenderingContext2D} context @param {OverlayState} state @returns {void} */
function drawAxes(context, state) {
  const { view, colors } = state, r = view.rotation(), origin = [56, view.height - 56];
  context.font = FONT;
  context.textAlign = "center";
  context.textBaseline = "middle";
  for (let axis = 0; axis < 3; axis++) {
    const dx = 36 * r[axis], dy = -36 * r[3 + axis];
    context.strokeStyle = colors.quiet;
    context.lineWidth = 1.5;
    line(context, origin[0], origin[1], origin[0] + dx, origin[1] + dy);
    context.fillStyle = colors.ink;
    context.fillText((state.names[axis] ?? "").replace("coordinate ", ""), origin[0] + 1.3 * dx, origin[1] + 1.3 * dy);
  }
}

/** @param {CanvasRenderingContext2D} context @param {OverlayState} state @returns {void} */
function drawLines(context, state) {
  context.lineWidth = 1.5;
  for (const one of state.lines) {
    const a = state.positionOf(one.from), b = state.positionOf(one.to);
    if (!a || !b) continue;
    context.strokeStyle = one.kind === "false" ? state.colors.quiet : one.kind === "missing" ? state.colors.warn : state.colors.accent;
    context.setLineDash(one.kind === "false" ? [4, 4] : []);
    line(context, a[0], a[1], b[0], b[1]);
    drawRing(context, b, state.size / 2 + 2, context.strokeStyle, 1.5);
  }
  context.setLineDash([]);
}

/** Distance from the edge of the map at which new points outside of it are drawn. */
const EDGE = 12;

/** A new point; one outside of the map is drawn hollow at its edge. @param {CanvasRenderingContext2D} context @param {OverlayState} state @param {Marker} marker @returns {void} */
function drawMarker(context, state, marker) {
  const { width, height, insets } = state.view, [px, py] = state.place(marker.coordinates), side = marker.emphasized ? 9 : 7;
  const isOutside = px < 0 || py < 0 || px > width || py > height, label = isOutside ? `${marker.label} (outside)` : marker.label;
  const x = isOutside ? Math.max(insets.left + EDGE, Math.min(width - insets.right - EDGE, px)) : px;
  const y = isOutside ? Math.max(insets.top + EDGE, Math.min(height - insets.bottom - EDGE, py)) : py;
  context.beginPath();
  context.moveTo(x, y - side);
  context.lineTo(x + side, y);
  context.lineTo(x, y + side);
  context.lineTo(x - side, y);
  context.closePath();
  context.fillStyle = isOutside ? state.colors.surface : state.colors.accent;
  context.fill();
  context.strokeStyle = isOutside ? state.colors.accent : state.colors.surface;
  context.lineWidth = 2;
  context.stroke();
  const atRight = x > width - insets.right - 110, from = atRight ? x - side - 4 : x + side + 4;
  context.font = `600 ${FONT}`;
  context.textAlign = atRight ? "right" : "left";
  context.textBaseline = "middle";
  context.strokeStyle = state.colors.surface;
  context.lineWidth = 3;
  context.strokeText(label, from, y);
  context.fillStyle = state.colors.ink;
  context.fillText(label, from, y);
}

/** A cross where the keyboard sets the next corner. @param {CanvasRenderingContext2D} context @param {OverlayState} state @returns {void} */
function drawPen(context, state) {
  if (!state.pen) return;
  const [x, y] = state.pen;
  for (const [color, width] of /** @type {[string, number][]} */ ([[state.colors.surface, 4], [state.colors.ink, 1.5]])) {
    context.strokeStyle = color;
    context.lineWidth = width;
    line(context, x - 10, y, x + 10, y);
    line(context, x, y - 10, x, y + 10);
  }
}

/** @param {CanvasRenderingContext2D} context @param {OverlayState} state @returns {void} */
function drawShape(context, state) {
  if (state.shape.length < 2) return;
  context.beginPath();
  state.shape.forEach(([x, y], i) => (i ? context.lineTo(x, y) : context.moveTo(x, y)));
  context.closePath();
  context.globalAlpha = 0.12;
  context.fillStyle = state.colors.accent;
  context.fill();
  context.globalAlpha = 1;
  context.strokeStyle = state.colors.accent;
  context.lineWidth = 1.5;
  context.stroke();
}

/** @param {CanvasRenderingContext2D} context @param {number} x0 @param {number} y0 @param {number} x1 @param {number} y1 @returns {void} */
function line(context, x0, y0, x1, y1) {
  context.beginPath();
  context.moveTo(x0, y0);
  context.lineTo(x1, y1);
  context.stroke();
}

/**
 * Round numbers between two values, about `count` of them.
 * @param {number} low
 * @param {number} high
 * @param {number} count
 * @returns {number[]}
 */
function tickValues(low, high, count) {
  const rough = (high - low) / Math.max(1, count), power = 10 ** Math.floor(Math.log10(rough));
  const step = power * ([1, 2, 5, 10].find((factor) => factor * power >= rough) ?? 10);
  if (!Number.isFinite(step) || step <= 0) return [];
  const first = Math.ceil(low / step), made = [];
  for (let k = first; k * step <= high && made.length < 50; k++) made.push(Number((k * step).toPrecision(12)));
  return made;
}
