/**
 * The explorer: joins the maps, panels, history, tools and the events of the server.
 * @module
 */

import { Api } from "./api.js";
import { App } from "./app.js";
import { element, formatCount, replaceChildren } from "./dom.js";
import { helpDialog } from "./help.js";
import { historyStrip } from "./history.js";
import { fitPanel } from "./panels/fit.js";
import { placeFile, placePanel } from "./panels/place.js";
import { pointPanel } from "./panels/point.js";
import { selectionPanel } from "./panels/selection.js";
import { spectrumPanel } from "./panels/spectrum.js";
import { trustPanel } from "./panels/trust.js";
import { fillColors } from "./sources.js";
import { Stage, byId } from "./stage.js";
import { Store, findMap, initialState } from "./store.js";

/** @type {[string, string][]} */
const TABS = [["point", "Point"], ["fit", "Fit"], ["trust", "Trust"], ["spectrum", "Spectrum"], ["selection", "Selection"], ["place", "Place"]];
/** @type {[string, string, string][]} */
const TOOLS = [["pan", "Pan", "Drag to pan, wheel to zoom (p)"], ["lasso", "Lasso", "Draw around points (l)"], ["box", "Box", "Draw a box around points (b)"]];

/** @returns {Promise<void>} */
async function startExplorer() {
  const api = new Api(), store = new Store(initialState(await api.json("state"))), app = new App(api, store), stage = new Stage(app);
  const { state } = store;
  document.title = state.title;
  byId("title").textContent = state.data.name || state.title;
  byId("title").append(element("small", {}, ` ${formatCount(state.data.n)} × ${formatCount(state.data.d)}`));
  byId("title").title = `${state.data.n} rows, ${state.data.d} columns; eigenscape ${state.version}`;
  toolbar(app, stage);
  colorSelector(app);
  axesSelectors(app);
  tabPanels(app, stage);
  historyStrip(app, byId("history"), () => stage.rgb);
  searchForm(app, stage);
  const openHelp = helpDialog(/** @type {HTMLDialogElement} */ (byId("help-dialog")));
  byId("help").addEventListener("click", openHelp);
  document.addEventListener("keydown", (event) => pressKey(app, stage, openHelp, event));
  dropTarget(app);
  listenToServer(app);
  if (state.maps.length === 0) store.update({ tab: "fit" });
  await stage.start();
  // The second frame begins when the first one is drawn.
  requestAnimationFrame(() => requestAnimationFrame((time) => { document.documentElement.dataset.ready = String(Math.round(time)); }));
}

/** @param {App} app @param {Stage} stage @returns {void} */
function toolbar(app, stage) {
  const { store } = app;
  const buttons = TOOLS.map(([tool, text, title]) => element("button", { type: "button", "data-tool": tool, title, onclick: () => store.update({ tool }) }, text));
  const spatial = element("button", { type: "button", id: "spatial", title: "Rotate three coordinates (3)", onclick: () => toggleSpatial(app) }, "3-D");
  const fit = element("button", { type: "button", id: "fit-view", title: "Show all points (0)", onclick: () => stage.each((map) => map.fit()) }, "All");
  const render = () => {
    for (const button of buttons) button.setAttribute("aria-pressed", String(button.dataset.tool === store.state.tool));
    spatial.setAttribute("aria-pressed", String(store.state.axes.length === 3));
    spatial.disabled = (findMap(store.state, store.state.mapA)?.n_components ?? 0) < 3;
  };
  store.subscribe(["tool", "axes", "mapA", "maps"], render);
  replaceChildren(byId("tools"), ...buttons, spatial, fit);
  render();
}

/** @param {App} app @returns {void} */
function toggleSpatial(app) {
  const { axes, mapA } = app.store.state, d = findMap(app.store.state, mapA)?.n_components ?? 0;
  if (axes.length === 3) app.store.update({ axes: axes.slice(0, 2) });
  else if (d >= 3) app.store.update({ axes: [...axes, [0, 1, 2].find((axis) => !axes.includes(axis)) ?? 2] });
  else app.say("A view in space needs a map of three coordinates: fit one with n_components=3.");
}

/** @param {App} app @returns {void} */
function colorSelector(app) {
  const select = /** @type {HTMLSelectElement} */ (byId("color"));
  const fill = () => fillColors(app, select);
  select.addEventListener("change", () => app.store.update({ color: select.value }));
  app.store.subscribe(["annotations", "mapA", "mapB", "color"], fill);
  fill();
}

/** @param {App} app @returns {void} */
function axesSelectors(app) {
  const { store } = app, names = ["Horizontal axis", "Vertical axis", "Third axis"];
  const render = () => {
    const { axes, mapA } = store.state, d = findMap(store.state, mapA)?.n_components ?? 0;
    byId("axes-field").hidden = d < 3;
    replaceChildren(byId("axes"), ...axes.map((axis, place) => {
      const select = element("select", { "aria-label": names[place], onchange: () => store.update({ axes: axes.map((one, k) => (k === place ? Number(select.value) : one)) }) },
        ...Array.from({ length: d }, (_, k) => element("option", { value: k }, String(k + 1))));
      select.value = String(axis);
      return select;
    }));
  };
  store.subscribe(["axes", "mapA", "maps"], render);
  render();
}

/** @param {App} app @param {Stage} stage @returns {void} */
function tabPanels(app, stage) {
  const { store } = app, panel = byId("panel");
  /** @type {Record<string, HTMLElement>} */
  const panels = { point: pointPanel(app), fit: fitPanel(app), trust: trustPanel(app, stage), spectrum: spectrumPanel(app), selection: selectionPanel(app), place: placePanel(app, stage) };
  const tabs = TABS.map(([key, text]) => element("button", { type: "button", role: "tab", id: `tab-${key}`, "aria-controls": "panel", onclick: () => store.update({ tab: key }) }, text));
  byId("tabs").addEventListener("keydown", (event) => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (!step) return;
    const next = (TABS.findIndex(([key]) => key === store.state.tab) + step + TABS.length) % TABS.length;
    store.update({ tab: TABS[next][0] });
    tabs[next].focus();
    event.preventDefault();
  });
  const render = () => {
    const { tab } = store.state;
    tabs.forEach((button, k) => {
      button.setAttribute("aria-selected", String(TABS[k][0] === tab));
      button.tabIndex = TABS[k][0] === tab ? 0 : -1;
    });
    panel.setAttribute("aria-labelledby", `tab-${tab}`);
    replaceChildren(panel, panels[tab]);
    panel.scrollTop = 0;
  };
  store.subscribe(["tab"], render);
  replaceChildren(byId("tabs"), ...tabs);
  render();
}

/** @param {App} app @param {Stage} stage @returns {void} */
function searchForm(app, stage) {
  const query = /** @type {HTMLInputElement} */ (byId("query"));
  byId("search").addEventListener("submit", async (event) => {
    event.preventDefault();
    const text = query.value.trim(), found = text ? await app.run(app.api.json(`search?q=${encodeURIComponent(text)}`)) : { rows: [], total: 0 };
    if (!found) return;
    stage.each((map) => map.setRings(found.rows.slice(0, 300)));
    if (!text) return;
    if (found.rows.length) app.store.update({ pinned: found.rows[0], tab: "point" });
    app.say(found.total ? `${found.total} found${found.total > 300 ? "; 300 are marked" : ""}.` : `No id contains “${text}”.`);
  });
}

/** @param {App} app @param {Stage} stage @param {() => void} openHelp @param {KeyboardEvent} event @returns {void} */
function pressKey(app, stage, openHelp, event) {
  const target = /** @type {HTMLElement} */ (event.target);
  if (event.ctrlKey || event.metaKey || event.altKey || target.closest("dialog")) return;
  if (target.matches("input:not([type=checkbox]):not([type=range]), textarea, select")) {
    if (event.key === "Escape") byId("map-a").focus();
    return;
  }
  /** @type {Record<string, () => void>} */
  const actions = {
    "?": openHelp, p: () => app.store.update({ tool: "pan" }), l: () => app.store.update({ tool: "lasso" }), b: () => app.store.update({ tool: "box" }),
    3: () => toggleSpatial(app), c: () => byId("color").focus(), t: () => byId(`tab-${app.store.state.tab}`).focus(), "/": () => byId("query").focus(),
    Escape: () => { app.store.update({ mask: null, pinned: -1 }); stage.each((map) => map.setRings([])); byId("message").hidden = true; },
  };
  if (!(event.key in actions)) return;
  event.preventDefault();
  actions[event.key]();
}

/** @param {App} app @returns {void} */
function dropTarget(app) {
  const sign = byId("drop");
  /** @param {DragEvent} event @returns {boolean} */
  const hasFile = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  document.addEventListener("dragover", (event) => {
    if (!hasFile(event)) return;
    event.preventDefault();
    sign.hidden = false;
  });
  document.addEventListener("dragleave", (event) => { if (!event.relatedTarget) sign.hidden = true; });
  document.addEventListener("drop", (event) => {
    sign.hidden = true;
    if (!hasFile(event)) return;
    event.preventDefault();
    const file = event.dataTransfer?.files[0];
    if (file) app.run(placeFile(app, file));
  });
}

/** @param {App} app @returns {void} */
function listenToServer(app) {
  const { store, api } = app;
  let connected = false, said = false;
  api.listen({
    job: (job) => {
      const before = store.state.jobs.find((one) => one.id === job.id);
      store.update({ jobs: before ? store.state.jobs.map((one) => (one.id === job.id ? job : one)) : [...store.state.jobs, job] });
      if (job.status === "failed" && before?.status !== "failed") app.say(job.error ?? "The fit failed.", true);
      app.showFitted(job);
      if (job.status === "done" && ["movement", "scores", "predicted", "measure"].includes(job.kind)) document.dispatchEvent(new CustomEvent("measured"));
    },
    map: (map) => {
      const known = store.state.maps.some((one) => one.id === map.id);
      store.update({ maps: known ? store.state.maps.map((one) => (one.id === map.id ? map : one)) : [...store.state.maps, map] });
      if (!findMap(store.state, store.state.mapA)) store.update({ mapA: map.id });
    },
    removed: ({ map }) => forgetMap(store, map),
    suggestions: (suggestions) => store.update({ suggestions }),
    annotations: (annotations) => {
      api.forget("annotations/");
      store.update({ annotations });
    },
  }, (now) => {
    if (!now && connected) {
      said = true;
      app.say("No connection to the server.", true);
    }
    // What happened before the events were received, also between the first state and them, is in the state.
    if (now && !connected) api.json("state").then((state) => catchUp(app, state)).catch(() => {});
    if (now && said) byId("message").hidden = true;
    if (now) said = false;
    connected = now;
  });
}

/** Take what the server has and the page has not seen. @param {App} app @param {any} sent  the state of the server @returns {void} */
function catchUp(app, sent) {
  const { store } = app;
  const state = /** @type {any} */ (store.state), differs = (/** @type {string} */ key) => JSON.stringify(state[key]) !== JSON.stringify(sent[key]);
  const changed = ["maps", "jobs", "annotations", "suggestions"].filter(differs);
  if (changed.includes("annotations")) app.api.forget("annotations/");
  if (changed.length) store.update(Object.fromEntries(changed.map((key) => [key, sent[key]])));
  const { mapA, mapB, maps } = store.state;
  if (mapB !== null && !findMap(store.state, mapB)) store.update({ mapB: null });
  if (!findMap(store.state, mapA) && (maps.length || mapA)) store.update({ mapA: maps[maps.length - 1]?.id ?? "", mapB: null });
  for (const job of store.state.jobs) app.showFitted(job);
}

/** @param {Store} store @param {string} id @returns {void} */
function forgetMap(store, id) {
  const { state } = store, maps = state.maps.filter((map) => map.id !== id);
  store.update({ maps, ...(state.mapB === id ? { mapB: null } : {}), ...(state.mapA === id ? { mapA: maps[maps.length - 1]?.id ?? "", mapB: null } : {}) });
}

startExplorer().catch((error) => {
  const area = byId("message");
  area.textContent = error instanceof Error ? error.message : String(error);
  area.hidden = false;
  area.classList.add("error");
});
