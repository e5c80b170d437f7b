/**
 * Index of points in the plane by the cells of a grid: the nearest point, points of a rectangle, and the density.
 * @module
 */

/** Average number of points of a cell. */
const POINTS_PER_CELL = 4;

/** Points in the plane, sorted by the cell of a regular grid. Points that are not finite belong to no cell. */
export class GridIndex {
  /** @param {Float32Array} points  x and y of each point, interleaved */
  constructor(points) {
    this.points = points;
    const n = points.length >> 1, [x0, x1, y0, y1] = boundsOf(points);
    this.x0 = x0;
    this.y0 = y0;
    const width = Math.max(x1 - x0, 1e-30), height = Math.max(y1 - y0, 1e-30);
    const cells = Math.max(1, n / POINTS_PER_CELL), aspect = Math.min(1e3, Math.max(1e-3, width / height));
    this.columns = Math.max(1, Math.min(2048, Math.round(Math.sqrt(cells * aspect))));
    this.rows = Math.max(1, Math.min(2048, Math.round(Math.sqrt(cells / aspect))));
    this.cellWidth = width / this.columns;
    this.cellHeight = height / this.rows;
    const cell = new Int32Array(n), starts = new Uint32Array(this.columns * this.rows + 1);
    for (let i = 0; i < n; i++) {
      const x = points[2 * i], y = points[2 * i + 1];
      cell[i] = Number.isFinite(x) && Number.isFinite(y) ? this.row(y) * this.columns + this.column(x) : -1;
      if (cell[i] >= 0) starts[cell[i] + 1]++;
    }
    for (let c = 1; c < starts.length; c++) starts[c] += starts[c - 1];
    this.starts = starts;
    this.order = new Uint32Array(starts[starts.length - 1]);
    const next = starts.slice();
    for (let i = 0; i < n; i++) if (cell[i] >= 0) this.order[next[cell[i]]++] = i;
  }

  /** @param {number} x @returns {number} */
  column(x) {
    return Math.max(0, Math.min(this.columns - 1, Math.floor((x - this.x0) / this.cellWidth)));
  }

  /** @param {number} y @returns {number} */
  row(y) {
    return Math.max(0, Math.min(this.rows - 1, Math.floor((y - this.y0) / this.cellHeight)));
  }

  /**
   * Call `visit` with every point of the cells that meet a rectangle; some lie outside of it.
   * @param {number} x0
   * @param {number} x1
   * @param {number} y0
   * @param {number} y1
   * @param {(i: number) => void} visit
   * @returns {void}
   */
  visit(x0, x1, y0, y1, visit) {
    const first = this.column(x0), last = this.column(x1), top = this.row(y1);
    for (let row = this.row(y0); row <= top; row++) {
      const end = this.starts[row * this.columns + last + 1];
      for (let k = this.starts[row * this.columns + first]; k < end; k++) visit(this.order[k]);
    }
  }

  /**
   * Return the point nearest to (x, y) within an ellipse of radii `rx` and `ry`, or -1.
   * @param {number} x
   * @param {number} y
   * @param {number} rx
   * @param {number} ry
   * @param {(i: number) => boolean} [accept]
   * @returns {number}
   */
  nearest(x, y, rx, ry, accept) {
    let best = -1, least = 1;
    this.visit(x - rx, x + rx, y - ry, y + ry, (i) => {
      const dx = (this.points[2 * i] - x) / rx, dy = (this.points[2 * i + 1] - y) / ry, distance = dx * dx + dy * dy;
      if (distance <= least && (!accept || accept(i))) { best = i; least = distance; }
    });
    return best;
  }

  /**
   * Density that 95 % of the points do not exceed, in points per unit area: the mean over a cell.
   * @returns {number}
   */
  highDensity() {
    const counts = [];
    for (let c = 0; c + 1 < this.starts.length; c++) {
      const count = this.starts[c + 1] - this.starts[c];
      if (count) counts.push(count);
    }
    counts.sort((a, b) => a - b);
    let below = 0, found = 1;
    for (const count of counts) {
      below += count;
      found = count;
      if (below >= 0.95 * this.order.length) break;
    }
    return found / (this.cellWidth * this.cellHeight);
  }
}

/**
 * Smallest rectangle with all finite points: [x0, x1, y0, y1]; a unit square if there are none.
 * @param {Float32Array} points  interleaved
 * @returns {[number, number, number, number]}
 */
export function boundsOf(points) {
  let x0 = Infinity, x1 = -Infinity, y0 = Infinity, y1 = -Infinity;
  for (let i = 0; i + 1 < points.length; i += 2) {
    const x = points[i], y = points[i + 1];
    if (!Number.isFinite(x) || !Number.isFinite(y)) continue;
    if (x < x0) x0 = x;
    if (x > x1) x1 = x;
    if (y < y0) y0 = y;
    if (y > y1) y1 = y;
  }
  return x0 <= x1 ? [x0, x1, y0, y1] : [0, 1, 0, 1];
}
