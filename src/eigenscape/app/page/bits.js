/**
 * Selections: one byte per point in memory, one bit per point when sent or stored.
 * @module
 */

/**
 * Encode a mask as base64 of bits: point i is bit `i & 7` of byte `i >> 3`.
 * @param {Uint8Array} mask  non-zero where a point is selected
 * @returns {string}
 */
export function packMask(mask) {
  const bytes = new Uint8Array((mask.length + 7) >> 3);
  for (let i = 0; i < mask.length; i++) if (mask[i]) bytes[i >> 3] |= 1 << (i & 7);
  return encodeBase64(bytes);
}

/**
 * Decode a mask of `n` points.
 * @param {string} text  base64
 * @param {number} n
 * @returns {Uint8Array}
 */
export function unpackMask(text, n) {
  const bytes = decodeBase64(text), mask = new Uint8Array(n);
  for (let i = 0; i < n; i++) mask[i] = (bytes[i >> 3] >> (i & 7)) & 1;
  return mask;
}

/**
 * Number of selected points.
 * @param {Uint8Array | null} mask
 * @returns {number}
 */
export function countMask(mask) {
  let count = 0;
  if (mask) for (let i = 0; i < mask.length; i++) if (mask[i]) count++;
  return count;
}

/**
 * Combine a selection with a new one: "replace", "add" or "remove". An empty result is null.
 * @param {Uint8Array | null} before
 * @param {Uint8Array} given
 * @param {string} mode
 * @returns {Uint8Array | null}
 */
export function combineMasks(before, given, mode) {
  const mask = new Uint8Array(given.length);
  let count = 0;
  for (let i = 0; i < mask.length; i++) {
    const was = before ? before[i] : 0;
    const on = mode === "add" ? was || given[i] : mode === "remove" ? was && !given[i] : given[i];
    if (on) { mask[i] = 1; count++; }
  }
  return count ? mask : null;
}

/**
 * Encode bytes as base64.
 * @param {Uint8Array} bytes
 * @returns {string}
 */
function encodeBase64(bytes) {
  const parts = [];
  for (let i = 0; i < bytes.length; i += 8192) parts.push(String.fromCharCode(...bytes.subarray(i, i + 8192)));
  return btoa(parts.join(""));
}

/**
 * Decode base64 to bytes.
 * @param {string} text
 * @returns {Uint8Array}
 */
export function decodeBase64(text) {
  const binary = atob(text), bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}
