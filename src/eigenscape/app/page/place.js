/**
 * Place a row on the map in the page itself: y(x) = sum_j a_j k(x, d_j) + b over the rows d_j of a dictionary.
 * @module
 */

/**
 * @typedef {object} Placing  A compact map, with unpacked arrays.
 * @property {"gaussian" | "laplace" | "linear" | "polynomial" | "sigmoid" | "cosine"} kernel
 * @property {number} gamma
 * @property {number} coef0
 * @property {number} degree
 * @property {ArrayLike<number>} members  (m, d), row-major
 * @property {number} m
 * @property {number} d
 * @property {ArrayLike<number>} coefficients  (m, p), row-major
 * @property {number[]} origin  (p,)
 * @property {ArrayLike<number>} mean  subtracted from rows, which are then divided by the scale
 * @property {ArrayLike<number>} scale
 * @property {string[]} names  of the columns, or none
 * @property {number | null} error  relative to the spread of the map
 */

/**
 * Parse a row of numbers, separated by commas, semicolons, tabs or spaces.
 * @param {string} text
 * @param {Placing} placing
 * @returns {Float64Array}
 */
export function parseRow(text, placing) {
  const parts = text.trim().split(/\s*[,;\t\n]\s*|\s+/).filter((part) => part !== "");
  const row = Float64Array.from(parts, Number), bad = row.findIndex((value) => !Number.isFinite(value));
  if (bad >= 0) throw new Error(`value ${bad + 1} is not a finite number: “${parts[bad].slice(0, 40)}”`);
  if (row.length !== placing.d) throw new Error(`the row has ${row.length} numbers, but the map needs ${placing.d}`);
  return row;
}

/**
 * Coordinates of a row.
 * @param {Placing} placing
 * @param {Float64Array} row
 * @returns {number[]}
 */
export function placeRow(placing, row) {
  const { m, d, members, coefficients, mean, scale } = placing, p = placing.origin.length;
  const x = row.map((value, j) => (value - mean[j]) / scale[j]), made = [...placing.origin];
  for (let i = 0; i < m; i++) {
    const value = evaluateKernel(placing, x, Float64Array.from({ length: d }, (_, j) => members[i * d + j]));
    for (let r = 0; r < p; r++) made[r] += coefficients[i * p + r] * value;
  }
  return made;
}

/** @param {Placing} placing @param {Float64Array} x @param {Float64Array} y @returns {number} */
function evaluateKernel(placing, x, y) {
  const { kernel, gamma, coef0, degree } = placing;
  if (kernel === "gaussian") return Math.exp(-gamma * sumOver(x, y, (a, b) => (a - b) ** 2));
  if (kernel === "laplace") return Math.exp(-gamma * sumOver(x, y, (a, b) => Math.abs(a - b)));
  const product = sumOver(x, y, (a, b) => a * b);
  if (kernel === "polynomial") return (gamma * product + coef0) ** degree;
  if (kernel === "sigmoid") return Math.tanh(gamma * product + coef0);
  if (kernel === "cosine") return product / (Math.sqrt(sumOver(x, x, (a, b) => a * b) * sumOver(y, y, (a, b) => a * b)) || 1);
  return product;
}

/** @param {Float64Array} x @param {Float64Array} y @param {(a: number, b: number) => number} term @returns {number} */
function sumOver(x, y, term) {
  let sum = 0;
  for (let j = 0; j < x.length; j++) sum += term(x[j], y[j]);
  return sum;
}
