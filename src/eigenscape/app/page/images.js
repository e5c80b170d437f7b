/**
 * Images and differences of images on a canvas.
 * @module
 */

import { element } from "./dom.js";

/**
 * A canvas with an image.
 * @param {ArrayLike<number>} pixels  0 to 255, grey or red, green, blue
 * @param {number[]} shape  (height, width) or (height, width, 3)
 * @param {string} label  alternative text
 * @returns {HTMLCanvasElement}
 */
export function imageCanvas(pixels, shape, label) {
  const channels = shape[2] ?? 1;
  return drawn(shape, label, (i, c) => pixels[i * channels + (channels === 1 ? 0 : c)]);
}

/**
 * A canvas with a difference of images: orange where it is positive, blue where it is negative.
 * @param {ArrayLike<number>} values
 * @param {number[]} shape
 * @param {string} label
 * @returns {HTMLCanvasElement}
 */
export function differenceCanvas(values, shape, label) {
  const channels = shape[2] ?? 1;
  let most = 1e-12;
  for (let i = 0; i < values.length; i++) most = Math.max(most, Math.abs(values[i]));
  const ends = [[213, 94, 0], [0, 114, 178]];
  return drawn(shape, label, (i, c) => {
    let value = 0;
    for (let k = 0; k < channels; k++) value += values[i * channels + k] / channels / most;
    return 247 + Math.min(1, Math.abs(value)) * (ends[value > 0 ? 0 : 1][c] - 247);
  });
}

/** @param {number[]} shape @param {string} label @param {(i: number, channel: number) => number} pixel @returns {HTMLCanvasElement} */
function drawn(shape, label, pixel) {
  const [height, width] = shape, canvas = element("canvas", { class: "image", width, height, role: "img", "aria-label": label });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), image = context.createImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    for (let c = 0; c < 3; c++) image.data[4 * i + c] = pixel(i, c);
    image.data[4 * i + 3] = 255;
  }
  context.putImageData(image, 0, 0);
  return canvas;
}
