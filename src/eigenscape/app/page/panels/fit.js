/**
 * Panel "Fit": this map, a form for a new one, running jobs and suggestions.
 * @module
 */

import { element, replaceChildren } from "../dom.js";
import { parameterFields, readParameters } from "../form.js";
import { jobCards, qualityText } from "../history.js";
import { findMap, methodTitle } from "../store.js";

/** @typedef {import("../app.js").App} App */

/**
 * @param {App} app
 * @returns {HTMLElement}
 */
export function fitPanel(app) {
  const { store } = app, about = element("section", {}), jobs = element("div", {}), failed = element("div", { "aria-live": "polite" });
  const { form, start } = fitForm(app);
  const render = () => {
    const map = findMap(store.state, store.state.mapA);
    replaceChildren(about, ...(map ? aboutMap(app, map, start) : [element("p", { class: "quiet" }, "No map yet: fit one below.")]));
  };
  const renderFailed = () => {
    const jobs = store.state.jobs.filter((job) => ["fit", "movement"].includes(job.kind));
    const latest = jobs.map((job) => job.status).lastIndexOf("done");
    const listed = jobs.slice(1 + latest).filter((job) => job.status === "failed").slice(-2);
    replaceChildren(failed, ...listed.map((job) => element("p", { class: "warn" }, `${methodTitle(store.state, job.method)}: ${job.error ?? "failed"}`)));
  };
  jobCards(app, jobs);
  store.subscribe(["maps", "mapA"], render);
  store.subscribe(["jobs"], renderFailed);
  render();
  renderFailed();
  const tips = element("section", {});
  const renderTips = () => {
    const { suggestions, data } = store.state, warnings = data.warnings.map((text) => element("li", { class: "warn" }, text));
    const listed = suggestions.map((one) => element("li", {}, element("span", {}, one.text), (one.method || one.standardize)
      && element("button", { type: "button", class: "small", onclick: () => start(one.method ?? null, one.parameters ?? {}, one.standardize === true) }, "use")));
    if (warnings.length + listed.length) replaceChildren(tips, element("h2", {}, "Suggestions"), element("ul", { class: "tips" }, ...warnings, ...listed));
  };
  store.subscribe(["suggestions"], renderTips);
  renderTips();
  return element("div", {}, element("section", {}, element("h2", {}, "New map"), form, jobs, failed), tips, about);
}

/** @param {App} app @returns {{form: HTMLFormElement, start: (method: string | null, parameters: Record<string, any>, standardized?: boolean) => void}} */
function fitForm(app) {
  const { methods } = app.store.state, fields = element("div", {}), summary = element("p", { class: "quiet" });
  const select = element("select", { id: "method" }, ...methods.map((method) => element("option", { value: method.name }, method.title)));
  const standardize = element("input", { type: "checkbox", id: "standardize" });
  const chosen = () => methods.find((method) => method.name === select.value) ?? methods[0];
  /** @param {Record<string, any>} given @returns {void} */
  const fill = (given) => {
    summary.textContent = chosen()?.summary ?? "";
    replaceChildren(fields, parameterFields(chosen()?.parameters ?? [], given));
  };
  select.addEventListener("change", () => fill({}));
  const form = element("form", {
    id: "fit-form", novalidate: true, // the server names the field, the value and the remedy
    onsubmit: (/** @type {Event} */ event) => {
      event.preventDefault();
      const parameters = readParameters(form, chosen().parameters);
      app.run(app.fit({ method: chosen().name, parameters, standardize: standardize.checked }));
    },
  }, element("div", { class: "parameter" }, element("label", { for: "method" }, "method"), select), summary, fields,
  element("label", { class: "inline" }, standardize, "standardise the columns"), element("button", { type: "submit", class: "primary", id: "fit" }, "Fit"));
  fill({});
  return {
    form,
    start: (method, parameters, standardized = false) => {
      standardize.checked = standardized;
      if (method !== null) {
        select.value = method;
        fill(parameters);
      }
      (method === null ? standardize : fields.querySelector("input"))?.focus();
    },
  };
}

/** @param {App} app @param {import("../store.js").MapInfo} map @param {(method: string | null, parameters: Record<string, any>, standardized?: boolean) => void} start @returns {HTMLElement[]} */
function aboutMap(app, map, start) {
  /** @param {string} text @param {string} label @returns {HTMLElement} */
  const copy = (text, label) => element("button", { type: "button", class: "small", onclick: () => app.run(copyText(app, text, label)) }, `Copy ${label}`);
  return [element("h2", {}, "This map"), element("p", {}, element("strong", {}, map.name), map.explained ? `: ${map.explained}.` : ""),
    element("p", { class: "quiet" }, [qualityText(map), ...(map.warnings ?? [])].filter(Boolean).join(" ")),
    element("div", { class: "buttons" }, map.python && copy(map.python, "Python"), map.command && copy(map.command, "command line"),
      element("button", { type: "button", class: "small", onclick: () => start(map.method, map.parameters ?? {}, map.standardize) }, "Use these parameters")),
    element("details", {}, element("summary", {}, "Show the code"), element("pre", { tabindex: 0 }, map.python ?? ""), element("pre", { tabindex: 0 }, map.command ?? ""))];
}

/** @param {App} app @param {string} text @param {string} label @returns {Promise<void>} */
async function copyText(app, text, label) {
  if (!navigator.clipboard) throw new Error("This browser does not allow copying; open “Show the code” and copy it there.");
  await navigator.clipboard.writeText(text);
  app.say(`Copied as ${label}.`);
}
