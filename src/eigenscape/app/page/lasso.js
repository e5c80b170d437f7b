/**
 * Points within a polygon or a rectangle.
 * @module
 */

/** @typedef {import("./grid.js").GridIndex} GridIndex */

/**
 * Mask of the points inside a closed polygon (even-odd rule).
 * @param {GridIndex} index
 * @param {[number, number][]} polygon  corners, in the units of the points
 * @param {(i: number) => boolean} accept
 * @returns {Uint8Array}
 */
export function pointsInPolygon(index, polygon, accept) {
  const mask = new Uint8Array(index.points.length >> 1);
  if (polygon.length < 3) return mask;
  const xs = polygon.map((corner) => corner[0]), ys = polygon.map((corner) => corner[1]);
  index.visit(Math.min(...xs), Math.max(...xs), Math.min(...ys), Math.max(...ys), (i) => {
    if (accept(i) && isInside(index.points[2 * i], index.points[2 * i + 1], xs, ys)) mask[i] = 1;
  });
  return mask;
}

/**
 * Mask of the points in the rectangle between two corners.
 * @param {GridIndex} index
 * @param {[number, number]} a
 * @param {[number, number]} b
 * @param {(i: number) => boolean} accept
 * @returns {Uint8Array}
 */
export function pointsInBox(index, a, b, accept) {
  const mask = new Uint8Array(index.points.length >> 1);
  const x0 = Math.min(a[0], b[0]), x1 = Math.max(a[0], b[0]), y0 = Math.min(a[1], b[1]), y1 = Math.max(a[1], b[1]);
  index.visit(x0, x1, y0, y1, (i) => {
    const x = index.points[2 * i], y = index.points[2 * i + 1];
    if (x >= x0 && x <= x1 && y >= y0 && y <= y1 && accept(i)) mask[i] = 1;
  });
  return mask;
}

/**
 * @param {number} x
 * @param {number} y
 * @param {number[]} xs
 * @param {number[]} ys
 * @returns {boolean}
 */
function isInside(x, y, xs, ys) {
  let inside = false;
  for (let i = 0, j = xs.length - 1; i < xs.length; j = i++) {
    if (ys[i] > y !== ys[j] > y && x < ((xs[j] - xs[i]) * (y - ys[i])) / (ys[j] - ys[i]) + xs[i]) inside = !inside;
  }
  return inside;
}
