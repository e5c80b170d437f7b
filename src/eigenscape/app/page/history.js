/**
 * Strip of all maps computed so far, with small pictures, and of the jobs that run.
 * @module
 */

import { element, formatSeconds, replaceChildren } from "./dom.js";
import { boundsOf } from "./grid.js";
import { methodTitle } from "./store.js";

/** @typedef {import("./app.js").App} App */
/** @typedef {import("./store.js").MapInfo} MapInfo */
/** @typedef {import("./store.js").Job} Job */

/** Size of a picture, and the most points drawn on it. */
const WIDTH = 116, HEIGHT = 78, MOST_POINTS = 4000;

/** Jobs that measure each row, and their titles. @type {Record<string, string>} */
const ROW_JOBS = { movement: "Movement", scores: "Density", predicted: "Predicted labels" };

/**
 * Draw the strip and keep it up to date.
 * @param {App} app
 * @param {HTMLElement} parent
 * @param {() => Uint8Array | null} colors  colours of the points
 * @returns {void}
 */
export function historyStrip(app, parent, colors) {
  const maps = element("div", { class: "cards" }), jobs = element("div", { class: "cards" });
  const add = element("button", { type: "button", class: "card add", onclick: () => app.store.update({ tab: "fit" }) }, "+ new map");
  const render = () => {
    const focused = document.activeElement?.getAttribute("data-key");
    replaceChildren(maps, ...app.store.state.maps.map((map) => mapCard(app, map, colors)));
    if (focused) /** @type {HTMLElement | null} */ (maps.querySelector(`[data-key="${CSS.escape(focused)}"]`))?.focus();
  };
  replaceChildren(parent, maps, jobs, add);
  jobCards(app, jobs);
  app.store.subscribe(["maps", "mapA", "mapB"], render);
  document.addEventListener("recoloured", render);
  render();
}

/** Words of a name such as NeighborEmbedding, which may be on lines of their own. @param {string} name @returns {(Node | string)[]} */
function breakable(name) {
  return name.split(/(?<=[a-z])(?=[A-Z])/).flatMap((word, k) => (k ? [element("wbr"), word] : [word]));
}

/** @param {App} app @param {MapInfo} map @param {() => Uint8Array | null} colors @returns {HTMLElement} */
function mapCard(app, map, colors) {
  const { state } = app.store, isA = state.mapA === map.id, isB = state.mapB === map.id;
  const canvas = element("canvas", { width: WIDTH * 2, height: HEIGHT * 2, "aria-hidden": "true" });
  drawThumbnail(app, map, canvas, colors());
  const measuring = state.jobs.some((job) => job.kind === "measure" && job.status === "running" && job.map === map.id);
  const kept = Number.isFinite(map.kept_mean) ? `${Math.round(100 * map.kept_mean)} % kept` : measuring ? "measuring…" : "";
  const [, method, parameters] = /^([^(]*?)(?: \((.*)\))?$/.exec(map.name) ?? ["", map.name, ""];
  const show = element("button", {
    type: "button", class: "show", "data-key": `${map.id} show`, "aria-pressed": String(isA), title: `${map.name}${map.explained ? `. ${map.explained}` : ""}`,
    onclick: () => app.store.update(isB ? { mapA: map.id, mapB: state.mapA } : { mapA: map.id }),
  }, canvas, element("span", { class: "card-name" }, ...breakable(method)), element("span", { class: "card-parameters" }, parameters), element("span", { class: "card-note" }, [kept, map.seconds ? formatSeconds(map.seconds) : ""].filter(Boolean).join(" · ")));
  const beside = element("button", {
    type: "button", class: "small", "data-key": `${map.id} beside`, "aria-pressed": String(isB), disabled: isA, title: isB ? "Close the second map" : "Show beside the map",
    "aria-label": `${isB ? "Close" : "Compare with"} ${map.name}`, onclick: () => app.store.update({ mapB: isB ? null : map.id }),
  }, isB ? "close" : "compare");
  const remove = element("button", {
    type: "button", class: "small", title: "Remove from the history", "aria-label": `Remove ${map.name}`, disabled: isA,
    onclick: () => app.run(app.api.remove(`maps/${map.id}`)),
  }, "×");
  return element("div", { class: `card${isA ? " current" : isB ? " second" : ""}`, "data-map": map.id }, show, element("div", { class: "card-tools" }, beside, remove));
}

/**
 * Cards of the running fits with progress, remaining time and a button that cancels; kept up to date in place.
 * @param {App} app
 * @param {HTMLElement} parent
 * @returns {void}
 */
export function jobCards(app, parent) {
  /** @type {Map<string, {card: HTMLElement, update: (job: Job) => void}>} */
  const cards = new Map();
  const render = () => {
    const running = app.store.state.jobs.filter((job) => job.status === "running" && (job.kind === "fit" || job.kind in ROW_JOBS));
    for (const [id, { card }] of cards) if (!running.some((job) => job.id === id)) { card.remove(); cards.delete(id); }
    for (const job of running) {
      let made = cards.get(job.id);
      if (!made) {
        made = jobCard(app, job);
        cards.set(job.id, made);
        parent.append(made.card);
      }
      made.update(job);
    }
  };
  app.store.subscribe(["jobs"], render);
  render();
}

/** @param {App} app @param {Job} first @returns {{card: HTMLElement, update: (job: Job) => void}} */
function jobCard(app, first) {
  const name = ROW_JOBS[first.kind] ?? methodTitle(app.store.state, first.method), bar = element("progress", { max: 1, "aria-label": `Progress of ${name}` });
  const stage = element("span", { class: "card-note" }), numbers = element("span", { class: "card-note" });
  const cancel = element("button", { type: "button", class: "small cancel", "aria-label": `Cancel ${name}`, onclick: () => app.run(app.api.remove(`fits/${first.id}`)) }, "cancel");
  return {
    card: element("div", { class: "card job", "data-job": first.id }, element("span", { class: "card-name" }, name), stage, bar, numbers, cancel),
    update: (job) => {
      const known = job.fraction !== null && job.fraction !== undefined;
      if (known) bar.value = /** @type {number} */ (job.fraction);
      else bar.removeAttribute("value");
      stage.textContent = job.stage ?? "starting";
      const left = job.remaining === null || job.remaining === undefined ? "" : `${formatSeconds(job.remaining)} left`;
      numbers.textContent = [known ? `${Math.round(100 * /** @type {number} */ (job.fraction))} %` : "", left].filter(Boolean).join(" · ");
    },
  };
}

/** @param {App} app @param {MapInfo} map @param {HTMLCanvasElement} canvas @param {Uint8Array | null} rgb @returns {Promise<void>} */
async function drawThumbnail(app, map, canvas, rgb) {
  const context = canvas.getContext("2d"), { n } = app.store.state.data;
  const loaded = await app.api.coordinates(map, n, [0, 1]).catch(() => null);
  if (!context || !loaded || !rgb) return;
  const coordinates = loaded.values, d = loaded.components.length;
  const step = Math.max(1, Math.floor(n / MOST_POINTS)), count = Math.ceil(n / step), points = new Float32Array(2 * count);
  for (let k = 0; k < count; k++) {
    points[2 * k] = d > 1 ? coordinates[k * step * d] : k;
    points[2 * k + 1] = coordinates[k * step * d + (d > 1 ? 1 : 0)];
  }
  const [x0, x1, y0, y1] = boundsOf(points), { width, height } = canvas;
  const sx = (0.9 * width) / Math.max(x1 - x0, 1e-20), sy = (0.9 * height) / Math.max(y1 - y0, 1e-20), s = Math.min(sx, sy);
  for (let k = 0; k < count; k++) {
    const at = 3 * k * step;
    context.fillStyle = `rgb(${rgb[at]},${rgb[at + 1]},${rgb[at + 2]})`;
    const x = width / 2 + (points[2 * k] - (x0 + x1) / 2) * (d > 1 ? s : sx), y = height / 2 - (points[2 * k + 1] - (y0 + y1) / 2) * (d > 1 ? s : sy);
    context.fillRect(x - 1, y - 1, 2.5, 2.5);
  }
}

/**
 * A line on the quality of a map.
 * @param {MapInfo} map
 * @returns {string}
 */
export function qualityText(map) {
  return map.verdict || "";
}
