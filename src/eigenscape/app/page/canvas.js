/**
 * Points drawn on a Canvas 2-D, where there is no WebGL 2. Same interface as `WebglPoints`.
 * @module
 */

/** @typedef {import("./webgl.js").Frame} Frame */

/** Up to this many points are discs; more are counted per pixel. */
const MOST_DISCS = 20000;

/** Renderer by Canvas 2-D. */
export class CanvasPoints {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.kind = "canvas";
    this.software = true;
    this.canvas = canvas;
    this.context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
    /** @type {Float32Array} */ this.xy = new Float32Array(0);
    /** @type {Float32Array | null} */ this.z = null;
    /** @type {Uint8Array} */ this.rgba = new Uint8Array(0);
    /** @type {() => void} */ this.onRestored = () => {};
  }

  /** @param {Float32Array} xy @param {Float32Array | null} z @returns {void} */
  setPositions(xy, z) {
    this.xy = xy;
    this.z = z;
  }

  /** @param {Uint8Array} rgba @returns {void} */
  setColors(rgba) {
    this.rgba = rgba;
  }

  /** @param {Frame} frame @returns {void} */
  draw(frame) {
    const width = Math.round(frame.width * frame.ratio), height = Math.round(frame.height * frame.ratio), n = this.xy.length >> 1;
    if (!width || !height) return;
    if (this.canvas.width !== width || this.canvas.height !== height) Object.assign(this.canvas, { width, height });
    this.context.setTransform(1, 0, 0, 1, 0, 0);
    this.context.clearRect(0, 0, width, height);
    if (!n || this.rgba.length !== 4 * n) return;
    const points = frame.view.project(this.xy, this.z);
    if (n <= MOST_DISCS && !frame.density) this.drawDiscs(frame, points);
    else this.drawCounts(frame, points, width, height);
  }

  /** @param {Frame} frame @param {Float32Array} points @returns {void} */
  drawDiscs(frame, points) {
    const { context, rgba } = this, radius = Math.max(0.6, frame.size / 2);
    context.scale(frame.ratio, frame.ratio);
    for (const full of frame.dimmed ? [false, true] : [true]) {
      for (let i = 0; i < points.length >> 1; i += frame.step) {
        const alpha = rgba[4 * i + 3];
        if (!alpha || (frame.dimmed && (alpha === 255) !== full)) continue;
        const [x, y] = frame.view.toScreen(points[2 * i], points[2 * i + 1]);
        if (x < -radius || y < -radius || x > frame.width + radius || y > frame.height + radius) continue;
        context.fillStyle = `rgba(${rgba[4 * i]},${rgba[4 * i + 1]},${rgba[4 * i + 2]},${((alpha / 255) * 0.9).toFixed(3)})`;
        context.beginPath();
        context.arc(x, y, radius, 0, 2 * Math.PI);
        context.fill();
      }
    }
  }

  /** @param {Frame} frame @param {Float32Array} points @param {number} width @param {number} height @returns {void} */
  drawCounts(frame, points, width, height) {
    const sums = new Float32Array(4 * width * height), side = Math.max(1, Math.round(frame.size * frame.ratio)), { rgba } = this;
    const view = frame.view, sx = view.scaleX * frame.ratio, sy = view.scaleY * frame.ratio;
    const left = width / 2 - view.x * sx - side / 2, top = height / 2 + view.y * sy - side / 2;
    for (let i = 0; i < points.length >> 1; i += frame.step) {
      const alpha = rgba[4 * i + 3], weight = alpha === 255 ? 1 : (0.35 * alpha) / 255;
      if (!alpha) continue;
      const x = Math.round(left + points[2 * i] * sx), y = Math.round(top - points[2 * i + 1] * sy);
      for (let v = Math.max(0, y); v < Math.min(height, y + side); v++) {
        for (let u = Math.max(0, x); u < Math.min(width, x + side); u++) {
          const at = 4 * (v * width + u);
          sums[at] += weight * rgba[4 * i];
          sums[at + 1] += weight * rgba[4 * i + 1];
          sums[at + 2] += weight * rgba[4 * i + 2];
          sums[at + 3] += weight;
        }
      }
    }
    this.context.putImageData(toneMapped(sums, width, height, Math.max(2, frame.toneMax / frame.step)), 0, 0);
  }

  /** Wait until the last frame is drawn: nothing to wait for. @returns {void} */
  finish() {}

  /** Nothing to release. @returns {void} */
  destroy() {}
}

/**
 * @param {Float32Array} sums  red, green, blue and number of points of each pixel
 * @param {number} width
 * @param {number} height
 * @param {number} most
 * @returns {ImageData}
 */
function toneMapped(sums, width, height, most) {
  const image = new ImageData(width, height), logMax = Math.log2(most);
  for (let at = 0; at < sums.length; at += 4) {
    const count = sums[at + 3];
    if (count <= 0) continue;
    for (let c = 0; c < 3; c++) image.data[at + c] = sums[at + c] / count;
    image.data[at + 3] = 255 * (count < 1 ? 0.4 * count : Math.min(1, 0.4 + (0.6 * Math.log2(count)) / logMax));
  }
  return image;
}
