/**
 * The page of a report: one or several linked maps of the same points, from the data in the page. Loads nothing.
 * @module
 */

import { combineMasks, countMask } from "./bits.js";
import { paint } from "./colors.js";
import { element, formatCount, formatNumber, replaceChildren } from "./dom.js";
import { drawLegend, visiblePoints } from "./legend.js";
import { MapView } from "./map.js";
import { parseRow, placeRow } from "./place.js";
import { colorSource, formatDate, nameOf, unpackPage, valueOf } from "./reportdata.js";

/** Maps beyond this number are drawn without WebGL: browsers limit its contexts. */
const MOST_WEBGL = 8;
/** Input columns listed for a point. */
const LISTED = 8;

const page = unpackPage(JSON.parse(find("report-data").textContent ?? ""));
const dark = matchMedia("(prefers-color-scheme: dark)");
const state = {
  /** @type {any} */ column: null,
  /** @type {import("./legend.js").LegendFilter} */ filter: { hidden: [], range: null },
  /** @type {Uint8Array | null} */ selected: null,
  axes: [0, 1],
  /** @type {{coordinates: number[], label: string}[]} */ placed: [],
};
/** @type {MapView[]} */
const maps = [];

/** @param {string} id @returns {any} */
function find(id) {
  return document.getElementById(id);
}

// --- maps ------------------------------------------------------------------------------------------------------------

/** @returns {void} */
function makeMaps() {
  const parent = find("maps"), single = page.maps.length === 1;
  const rings = Array.from({ length: page.newPoints }, (_, i) => page.n - page.newPoints + i);
  const equal = page.maps.every((/** @type {any} */ map) => hasEqualSpans(map));
  find("equal").checked = equal;
  page.maps.forEach((/** @type {any} */ one, /** @type {number} */ m) => {
    const frame = element("div", { class: "map-frame" });
    const box = element("figure", { class: "one-map" }, single ? null : element("figcaption", {}, one.name), frame);
    parent.append(box);
    const map = new MapView(frame, { label: `Map of ${formatCount(page.n)} points, ${one.name}`, wheel: false, canvas: m >= MOST_WEBGL, ticks: single, equal });
    map.setPoints(one.coordinates, page.n, one.d, one.axes);
    map.setRings(rings);
    map.on("hover", (detail) => hover(m, detail));
    map.on("select", ({ mask, mode }) => select(combineMasks(state.selected, mask, mode)));
    map.on("click", ({ row }) => { if (row < 0 && map.tool === "pan") hide(); });
    map.on("tool", showTool);
    maps.push(map);
  });
  parent.classList.toggle("several", !single);
  setTool("pan");
}

/** Whether the extents of the first two coordinates are of similar size. @param {any} map @returns {boolean} */
function hasEqualSpans(map) {
  const spans = [0, 1].map((axis) => {
    let low = Infinity, high = -Infinity;
    for (let i = axis; i < map.coordinates.length; i += map.d) { const value = map.coordinates[i]; if (value < low) low = value; if (value > high) high = value; }
    return high - low;
  });
  return map.d > 1 && Math.max(...spans) < 8 * Math.min(...spans);
}

/** @param {string} tool @returns {void} */
function setTool(tool) {
  for (const map of maps) if (map.tool !== tool || map === maps[0]) map.setTool(tool);
}

/** @param {{tool: string}} detail @returns {void} */
function showTool({ tool }) {
  document.querySelectorAll("[data-tool]").forEach((button) => {
    if (button instanceof HTMLButtonElement) button.setAttribute("aria-pressed", String(button.dataset.tool === tool));
  });
}

/** @returns {void} */
function color() {
  const { rgb, legend } = paint(colorSource(state.column), page.n, dark.matches), visible = visiblePoints(legend, state.filter);
  for (const map of maps) {
    map.setDark(dark.matches);
    map.visible = visible;
    map.setColors(rgb);
  }
  const parent = find("legend");
  drawLegend(parent, legend, state.filter, {
    onFilter: (filter) => { state.filter = filter; color(); },
    onSelect: (mask) => select(sameMask(mask, state.selected) ? null : mask),
  });
  if (state.column?.kind === "dates") {
    parent.querySelectorAll(".legend-ends span").forEach((/** @type {Element} */ end, /** @type {number} */ i) => { end.textContent = formatDate(state.column.shown[i]); });
  }
  if (legend.kind === "none") parent.append(element("p", { class: "meta" }, "All points have the same colour."));
  if (page.newPoints) parent.append(element("p", { class: "fresh" }, element("span", { class: "ring-sign", "aria-hidden": "true" }), `${formatCount(page.newPoints)} new points`));
}

/** @param {Uint8Array} a @param {Uint8Array | null} b @returns {boolean} */
function sameMask(a, b) {
  return b !== null && a.every((value, i) => value === b[i]);
}

/** @param {Uint8Array | null} mask @returns {void} */
function select(mask) {
  state.selected = mask;
  for (const map of maps) map.setSelected(mask);
  const count = countMask(mask), line = find("chosen");
  line.hidden = mask === null;
  line.querySelector("span").textContent = mask ? `${formatCount(count)} ${count === 1 ? "point" : "points"} selected` : "";
}

// --- one point -------------------------------------------------------------------------------------------------------

/** @param {number} m @param {any} detail @returns {void} */
function hover(m, detail) {
  const row = detail ? detail.row : -1;
  for (const map of maps) map.setHovered(row);
  if (row < 0) hide();
  else showCard(row, m, detail);
}

/** @returns {void} */
function hide() {
  find("card").hidden = true;
  for (const map of maps) map.setHovered(-1);
}

/** @param {number} row @param {number} m @param {{x: number, y: number}} at @returns {void} */
function showCard(row, m, at) {
  const card = find("card"), frame = find("frame").getBoundingClientRect(), box = maps[m].container.getBoundingClientRect();
  describe(card, row);
  card.hidden = false;
  const x = box.left - frame.left + at.x, y = box.top - frame.top + at.y, isRight = x + card.offsetWidth + 24 > frame.width;
  card.style.left = `${Math.max(4, isRight ? x - card.offsetWidth - 14 : x + 14)}px`;
  card.style.top = `${Math.max(4, Math.min(y + 10, frame.height - card.offsetHeight - 4))}px`;
}

/** @param {HTMLElement} card @param {number} row @returns {void} */
function describe(card, row) {
  const list = element("dl");
  /** @param {string} name @param {string} value @returns {void} */
  const line = (name, value) => list.append(element("dt", {}, name), element("dd", {}, value));
  if (page.ids && row >= page.n - page.newPoints) line("point", "new, not fitted");
  const inputs = page.images ? [] : page.columns.filter((/** @type {any} */ column) => column.group === "input");  // pixels are seen
  for (const column of [...page.columns.filter((/** @type {any} */ one) => one.group !== "input"), ...inputs.slice(0, LISTED)]) {
    const value = valueOf(column, row);
    if (value !== null) line(column.name, value);
  }
  if (inputs.length > LISTED) line("…", `${inputs.length - LISTED} more columns`);
  replaceChildren(card, element("h3", {}, nameOf(page, row)), picture(row), list);
}

/** Thumbnail of a point, or null. @param {number} row @returns {HTMLCanvasElement | null} */
function picture(row) {
  if (!page.images || row >= page.n - page.newPoints) return null;
  const [height, width, channels] = page.images.shape, size = height * width * channels, pixels = page.images.pixels;
  const canvas = element("canvas", { class: "thumbnail", width, height, role: "img", "aria-label": "image of the point" });
  const image = new ImageData(width, height), side = Math.max(1, Math.round(96 / Math.max(width, height)));
  for (let k = 0; k < height * width; k++) {
    for (let c = 0; c < 3; c++) image.data[4 * k + c] = pixels[row * size + k * channels + (channels === 1 ? 0 : c)];
    image.data[4 * k + 3] = 255;
  }
  canvas.getContext("2d")?.putImageData(image, 0, 0);
  canvas.style.width = `${side * width}px`;
  return canvas;
}

/** @param {string} text @returns {void} */
function findId(text) {
  const answer = find("found"), wanted = text.trim().toLowerCase();
  answer.textContent = "";
  if (!wanted) return hide();
  let exact = -1, first = -1, count = 0;
  for (let i = 0; i < page.n; i++) {
    const name = nameOf(page, i).toLowerCase();
    if (exact < 0 && (name === wanted || (!page.ids && name === `row ${wanted}`))) exact = i;
    if (name.includes(wanted)) { count++; if (first < 0) first = i; }
  }
  const row = exact >= 0 ? exact : first;
  if (row < 0) { answer.textContent = "no id matches"; return hide(); }
  if (exact < 0 && count > 1) answer.textContent = `${formatCount(count)} ids match; the first is marked`;
  for (const map of maps) map.setHovered(row);
  const at = maps[0].positionOf(row) ?? [60, 12];
  showCard(row, 0, { x: at[0], y: at[1] });
}

// --- controls --------------------------------------------------------------------------------------------------------

/** @returns {void} */
function fillColors() {
  const select = find("colour"), titles = { label: "Labels", extra: "Further columns", model: "Model", coordinate: "Coordinates", input: "Input columns" };
  select.append(element("option", { value: "-1" }, "none"));
  for (const [group, label] of Object.entries(titles)) {
    const box = element("optgroup", { label });
    page.columns.forEach((/** @type {any} */ column, /** @type {number} */ k) => { if (column.group === group) box.append(element("option", { value: k }, column.name)); });
    if (box.children.length) select.append(box);
  }
  select.value = String(page.firstColumn);
  state.column = page.columns[page.firstColumn] ?? null;
  select.addEventListener("change", () => {
    state.column = page.columns[Number(select.value)] ?? null;
    state.filter = { hidden: [], range: null };
    color();
  });
}

/** @returns {void} */
function fillAxes() {
  ["horizontal", "vertical", "depth"].forEach((id, which) => {
    const select = find(id);
    if (!select) return;
    if (which === 2) select.append(element("option", { value: "-1" }, "none"));
    page.maps[0].axes.forEach((/** @type {string} */ axis, /** @type {number} */ k) => select.append(element("option", { value: k }, axis)));
    select.value = String(which === 2 ? -1 : which);
    select.addEventListener("change", () => {
      const depth = Number(find("depth").value);
      state.axes = [Number(find("horizontal").value), Number(find("vertical").value), ...(depth >= 0 ? [depth] : [])];
      hide();
      maps[0].setAxes(state.axes);
    });
  });
}

/** @param {string} name @param {string} href @returns {void} */
function download(name, href) {
  element("a", { download: name, href }).click();
}

/** All maps as one picture. @param {number} ratio  pixels of the picture per pixel of the page @returns {HTMLCanvasElement} */
function drawPicture(ratio) {
  const frame = find("maps").getBoundingClientRect(), canvas = element("canvas");
  Object.assign(canvas, { width: Math.round(frame.width * ratio), height: Math.round(frame.height * ratio) });
  const context = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d")), style = getComputedStyle(document.body);
  context.fillStyle = style.getPropertyValue("--surface");
  context.fillRect(0, 0, canvas.width, canvas.height);
  context.fillStyle = style.getPropertyValue("--ink");
  context.font = `600 ${14 * ratio}px system-ui, sans-serif`;
  maps.forEach((map, m) => {
    const box = map.container.getBoundingClientRect(), x = (box.left - frame.left) * ratio, y = (box.top - frame.top) * ratio;
    map.drawNow();
    for (const layer of [map.pointCanvas, map.overlayCanvas]) context.drawImage(layer, x, y, box.width * ratio, box.height * ratio);
    if (maps.length > 1) context.fillText(page.maps[m].name, x, y - 5 * ratio);
  });
  return canvas;
}

/** @returns {void} */
function listen() {
  document.querySelectorAll("button[data-tool]").forEach((button) => button.addEventListener("click", () => setTool(/** @type {HTMLElement} */ (button).dataset.tool ?? "pan")));
  /** @param {number} factor @returns {void} */
  const zoom = (factor) => maps.forEach((map) => { map.view.zoomAt(factor, map.view.width / 2, map.view.height / 2); map.changedView(); });
  find("zoom-in").addEventListener("click", () => zoom(1.5));
  find("zoom-out").addEventListener("click", () => zoom(1 / 1.5));
  find("zoom-all").addEventListener("click", () => maps.forEach((map) => map.fit()));
  find("save-picture").addEventListener("click", () => download("eigenscape-map.png", drawPicture(2).toDataURL("image/png")));
  find("equal").addEventListener("change", () => maps.forEach((map) => { map.options.equal = find("equal").checked; map.fit(); }));
  find("find").addEventListener("change", (/** @type {Event} */ event) => findId(/** @type {HTMLInputElement} */ (event.target).value));
  find("clear").addEventListener("click", () => select(null));
  find("save-ids").addEventListener("click", () => {
    const names = [];
    for (let i = 0; i < page.n; i++) if (state.selected?.[i]) names.push(nameOf(page, i));
    download("selected-ids.txt", `data:text/plain;charset=utf-8,${encodeURIComponent(`${names.join("\n")}\n`)}`);
  });
  document.addEventListener("keydown", (event) => { if (event.key === "Escape") hide(); });
  dark.addEventListener("change", () => color());
}

// --- new rows --------------------------------------------------------------------------------------------------------

/** Place a row and mark it. @param {string} text @returns {number[]} */
function place(text) {
  const coordinates = placeRow(page.placing, parseRow(text, page.placing));
  state.placed.push({ coordinates, label: `new ${state.placed.length + 1}` });
  maps[0].setMarkers(state.placed);
  return coordinates;
}

/** @returns {void} */
function listenToRows() {
  const form = find("place-form"), answer = find("placed"), { placing } = page;
  if (!form) return;
  const names = placing.names.slice(0, 6).join(", ") + (placing.names.length > 6 ? ", …" : "");
  find("row").placeholder = `${placing.d} numbers${names ? `: ${names}` : ""}`;
  const error = placing.error === null ? "" : ` This compact map has an error of ${formatNumber(100 * placing.error)} % of the spread on training rows.`;
  answer.textContent = `The row is placed in this page; nothing is sent.${error}`;
  form.addEventListener("submit", (/** @type {Event} */ event) => {
    event.preventDefault();
    try {
      const coordinates = place(find("row").value);
      answer.textContent = `${state.placed[state.placed.length - 1].label}: ${coordinates.slice(0, 6).map(formatNumber).join(", ")}.${error}`;
    } catch (problem) {
      answer.textContent = `Not placed: ${/** @type {Error} */ (problem).message}.`;
    }
  });
  find("remove-rows").addEventListener("click", () => {
    state.placed = [];
    maps[0].setMarkers([]);
    answer.textContent = "";
  });
}

// --- printing --------------------------------------------------------------------------------------------------------

/** The maps are printed as a picture, since pixels of WebGL are not. @returns {void} */
function listenToPrinter() {
  addEventListener("beforeprint", () => {
    hide();
    for (const folded of document.querySelectorAll("details")) folded.open = true;
    const canvas = drawPicture(2);
    canvas.id = "printed";
    find("printed")?.remove();
    find("frame").append(canvas);
  });
  addEventListener("afterprint", () => find("printed")?.remove());
}

fillColors();
makeMaps();
fillAxes();
color();
listen();
listenToRows();
listenToPrinter();
/** For scripts in the console of the browser. */
Object.assign(globalThis, { eigenscapeReport: { page, maps, state, place, select } });
requestAnimationFrame(() => requestAnimationFrame(() => document.documentElement.setAttribute("data-ready", "yes")));
