/**
 * View of a map: which part of the plane, or which rotation of space, is on the screen.
 * @module
 */

/** Share of the screen that the points take after `fitTo`. */
const FILL = 0.88;

/** Transformation between units of the points and pixels of the screen. */
export class View {
  constructor() {
    this.width = 1;
    this.height = 1;
    /** Centre of the screen, in rotated units. */
    this.x = 0;
    this.y = 0;
    /** Pixels per unit. */
    this.scaleX = 1;
    this.scaleY = 1;
    this.home = { x: 0, y: 0, scaleX: 1, scaleY: 1 };
    /** Angles of the rotation in space. */
    this.yaw = 0.6;
    this.pitch = 0.4;
    this.spatial = false;
    /** Pixels at the borders that `fitTo` leaves free. */
    this.insets = { left: 0, right: 0, top: 0, bottom: 0 };
    /** @type {[number, number, number]} Centre of the rotation. */
    this.pivot = [0, 0, 0];
  }

  /**
   * Show a rectangle of the plane; with `equal` both axes have the same unit.
   * @param {[number, number, number, number]} bounds  x0, x1, y0, y1
   * @param {boolean} equal
   * @returns {void}
   */
  fitTo(bounds, equal) {
    const [x0, x1, y0, y1] = bounds;
    const { left, right, top, bottom } = this.insets, width = Math.max(20, this.width - left - right), height = Math.max(20, this.height - top - bottom);
    let scaleX = (FILL * width) / Math.max(x1 - x0, 1e-20), scaleY = (FILL * height) / Math.max(y1 - y0, 1e-20);
    if (equal) scaleX = scaleY = Math.min(scaleX, scaleY);
    this.home = { x: (x0 + x1) / 2 + (right - left) / 2 / scaleX, y: (y0 + y1) / 2 + (top - bottom) / 2 / scaleY, scaleX, scaleY };
    Object.assign(this, this.home);
  }

  /** Magnification relative to the view of all points. @returns {number} */
  get zoom() {
    return this.scaleX / this.home.scaleX;
  }

  /** @param {number} x @param {number} y @returns {[number, number]} */
  toScreen(x, y) {
    return [this.width / 2 + (x - this.x) * this.scaleX, this.height / 2 - (y - this.y) * this.scaleY];
  }

  /** @param {number} px @param {number} py @returns {[number, number]} */
  toUnits(px, py) {
    return [this.x + (px - this.width / 2) / this.scaleX, this.y - (py - this.height / 2) / this.scaleY];
  }

  /**
   * Magnify around a position of the screen.
   * @param {number} factor
   * @param {number} px
   * @param {number} py
   * @returns {void}
   */
  zoomAt(factor, px, py) {
    const [x, y] = this.toUnits(px, py);
    const held = Math.max(0.2 / this.zoom, Math.min(5e4 / this.zoom, factor));
    this.scaleX *= held;
    this.scaleY *= held;
    this.x = x - (px - this.width / 2) / this.scaleX;
    this.y = y + (py - this.height / 2) / this.scaleY;
  }

  /** @param {number} dx @param {number} dy  pixels @returns {void} */
  pan(dx, dy) {
    this.x -= dx / this.scaleX;
    this.y += dy / this.scaleY;
  }

  /** Rows of the rotation matrix. @returns {Float32Array} */
  rotation() {
    if (!this.spatial) return new Float32Array([1, 0, 0, 0, 1, 0, 0, 0, 1]);
    const a = Math.cos(this.yaw), b = Math.sin(this.yaw), c = Math.cos(this.pitch), d = Math.sin(this.pitch);
    return new Float32Array([a, 0, b, b * d, c, -a * d, -b * c, d, a * c]);
  }

  /**
   * Positions of points after the rotation, interleaved; the points themselves if the view is flat.
   * @param {Float32Array} xy
   * @param {Float32Array | null} z
   * @returns {Float32Array}
   */
  project(xy, z) {
    if (!this.spatial || !z) return xy;
    const made = new Float32Array(xy.length), r = this.rotation(), [px, py, pz] = this.pivot;
    for (let i = 0; i < z.length; i++) {
      const dx = xy[2 * i] - px, dy = xy[2 * i + 1] - py, dz = z[i] - pz;
      made[2 * i] = r[0] * dx + r[1] * dy + r[2] * dz;
      made[2 * i + 1] = r[3] * dx + r[4] * dy + r[5] * dz;
    }
    return made;
  }

  /** Position of one point after the rotation. @param {number} x @param {number} y @param {number} z @returns {[number, number]} */
  rotate(x, y, z) {
    if (!this.spatial) return [x, y];
    const r = this.rotation(), dx = x - this.pivot[0], dy = y - this.pivot[1], dz = z - this.pivot[2];
    return [r[0] * dx + r[1] * dy + r[2] * dz, r[3] * dx + r[4] * dy + r[5] * dz];
  }
}
