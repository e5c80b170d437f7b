/**
 * Elements and texts. Texts from the data become text nodes, never markup.
 * @module
 */

/** @typedef {Node | string | number | null | undefined | false} Child */

/**
 * Create an element. Keys of `attributes` that begin with "on" are listeners, "class" sets classes, `true` sets an empty
 * attribute, `false` and `null` are left out; everything else is an attribute.
 * @template {keyof HTMLElementTagNameMap} T
 * @param {T} tag
 * @param {Record<string, any>} [attributes]
 * @param {...Child} children
 * @returns {HTMLElementTagNameMap[T]}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === false || value === null || value === undefined) continue;
    if (key.startsWith("on")) made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, value === true ? "" : String(value));
  }
  made.append(...childNodes(children));
  return made;
}

/**
 * Create an SVG element.
 * @param {string} tag
 * @param {Record<string, string | number | EventListener>} [attributes]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function svg(tag, attributes = {}, ...children) {
  const made = /** @type {SVGElement} */ (document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [key, value] of Object.entries(attributes)) {
    if (typeof value === "function") made.addEventListener(key.slice(2), value);
    else made.setAttribute(key, String(value));
  }
  made.append(...childNodes(children));
  return made;
}

/**
 * Replace the children of an element.
 * @param {Element} parent
 * @param {...Child} children
 * @returns {void}
 */
export function replaceChildren(parent, ...children) {
  parent.replaceChildren(...childNodes(children));
}

/**
 * @param {Child[]} children
 * @returns {(Node | string)[]}
 */
function childNodes(children) {
  const kept = children.filter((child) => child !== null && child !== undefined && child !== false);
  return kept.map((child) => (child instanceof Node ? child : String(child)));
}

/**
 * Format a number with about four significant digits.
 * @param {number | null | undefined} value
 * @returns {string}
 */
export function formatNumber(value) {
  if (value === null || value === undefined || !Number.isFinite(value)) return "–";
  if (Number.isInteger(value) && Math.abs(value) < 1e15) return formatCount(value);
  const size = Math.abs(value);
  if (size >= 1e6 || size < 1e-4) return value.toExponential(2);
  return String(Number(value.toPrecision(4)));
}

/**
 * Format an integer with thin spaces between groups of three digits, from five digits.
 * @param {number} value
 * @returns {string}
 */
export function formatCount(value) {
  const text = String(value);
  return Math.abs(value) < 10000 ? text : text.replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

/**
 * Format seconds as a short duration.
 * @param {number} seconds
 * @returns {string}
 */
export function formatSeconds(seconds) {
  if (seconds < 0.05) return "< 0.1 s";
  if (seconds < 1) return `${seconds.toFixed(1)} s`;
  if (seconds < 90) return `${Math.round(seconds)} s`;
  if (seconds < 5400) return `${Math.round(seconds / 60)} min`;
  return `${(seconds / 3600).toFixed(1)} h`;
}
