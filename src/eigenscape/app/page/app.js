/**
 * What all parts of the explorer share: the server, the state, messages and tasks that wait for the pointer to rest.
 * @module
 */

import { Api } from "./api.js";
import { element, replaceChildren } from "./dom.js";
import { Store } from "./store.js";

/** Milliseconds that a message stays. */
const MESSAGE_TIME = 7000;

/** The explorer. */
export class App {
  /** @param {Api} api @param {Store} store */
  constructor(api, store) {
    this.api = api;
    this.store = store;
    /** @type {((detail: import("./stage.js").HoverDetail) => void)[]} */ this.hoverListeners = [];
    this.timer = 0;
    /** @type {Set<string>} Fits that were asked for in this page: their maps are shown when they are done. */
    this.asked = new Set();
  }

  /** Call a function whenever the pointer or the cursor moves over a map. @param {(detail: import("./stage.js").HoverDetail) => void} listener @returns {void} */
  onHover(listener) {
    this.hoverListeners.push(listener);
  }

  /** Show a message. @param {string} text @param {boolean} [isError]  stays until it is closed @returns {void} */
  say(text, isError = false) {
    const area = /** @type {HTMLElement} */ (document.getElementById("message"));
    const close = element("button", { type: "button", class: "close", "aria-label": "Close the message", onclick: () => { area.hidden = true; } }, "×");
    replaceChildren(area, element("span", {}, text), close);
    area.classList.toggle("error", isError);
    area.hidden = false;
    clearTimeout(this.timer);
    if (!isError) this.timer = setTimeout(() => { area.hidden = true; }, MESSAGE_TIME);
  }

  /** Remove a message, if it is the one shown. @param {string} text @returns {void} */
  unsay(text) {
    const area = /** @type {HTMLElement} */ (document.getElementById("message"));
    if (area.firstChild?.textContent === text) area.hidden = true;
  }

  /** Start a fit. @param {{method: string, parameters: Record<string, any>, standardize: boolean}} content @returns {Promise<void>} */
  async fit(content) {
    const { job } = await this.api.post("fits", content);
    const area = /** @type {HTMLElement} */ (document.getElementById("message"));
    if (area.classList.contains("error")) area.hidden = true; // that of the fit before
    this.asked.add(job);
    this.showFitted(this.store.state.jobs.find((one) => one.id === job));
  }

  /** Show the map of a fit that was asked for here, if it is done. @param {import("./store.js").Job | undefined} job @returns {void} */
  showFitted(job) {
    if (job?.status === "done" && job.map && this.asked.delete(job.id)) this.store.update({ mapA: job.map, mapB: null });
  }

  /** Await a task and show its error. @template T @param {Promise<T>} task @returns {Promise<T | undefined>} */
  async run(task) {
    try {
      return await task;
    } catch (error) {
      this.say(error instanceof Error ? error.message : String(error), true);
      return undefined;
    }
  }
}

/**
 * A function that runs the latest task only: at most one runs, and the one that was asked for last follows it.
 * @param {number} delay  milliseconds to wait before each
 * @returns {(task: () => Promise<void>) => void}
 */
export function latestOnly(delay) {
  /** @type {(() => Promise<void>) | null} */
  let next = null;
  let running = false;
  const loop = async () => {
    running = true;
    while (next) {
      await new Promise((resolve) => setTimeout(resolve, delay));
      const task = /** @type {() => Promise<void>} */ (next);
      next = null;
      try { await task(); } catch { /* the task shows its own errors */ }
    }
    running = false;
  };
  return (task) => {
    next = task;
    if (!running) loop();
  };
}
