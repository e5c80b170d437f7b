/**
 * Requests to the server. All addresses are relative to the page. Arrays do not change and are kept.
 * @module
 */

/** Number of arrays of distances that are kept. */
const KEPT_DISTANCES = 8;
/** Up to this many bytes all coordinates of a map are loaded at once; of larger maps those that are shown. */
const ALL_COORDINATES = 6e6;

/** An answer of the server that is an error: the text is for the user. */
class ApiError extends Error {}

/** The server. */
export class Api {
  constructor() {
    /** @type {Map<string, Promise<ArrayBuffer>>} */ this.kept = new Map();
  }

  /**
   * Send a request and return the response, or throw the error of the server.
   * @param {string} path
   * @param {{method?: string, body?: any, headers?: Record<string, string>}} [options]
   * @returns {Promise<Response>}
   */
  async request(path, options = {}) {
    const method = options.method ?? "GET", headers = { ...(method === "GET" ? {} : { "X-Eigenscape": "1" }), ...options.headers };
    let response;
    try {
      response = await fetch(`api/${path}`, { ...options, method, headers });
    } catch {
      throw new ApiError("The server does not answer. Was it stopped? Start it again and reload the page.");
    }
    if (response.ok) return response;
    let text = `${response.status} ${response.statusText}`;
    try { text = (await response.json()).error ?? text; } catch { /* no text */ }
    throw new ApiError(text);
  }

  /** @param {string} path @param {{method?: string, body?: any, headers?: Record<string, string>}} [options] @returns {Promise<any>} */
  async json(path, options) {
    return (await this.request(path, options)).json();
  }

  /** Send a JSON object. @param {string} path @param {object} content @returns {Promise<any>} */
  post(path, content) {
    return this.json(path, { method: "POST", body: JSON.stringify(content), headers: { "Content-Type": "application/json" } });
  }

  /** @param {string} path @returns {Promise<void>} */
  async remove(path) {
    await this.request(path, { method: "DELETE" });
  }

  /** @param {string} path @returns {Promise<ArrayBuffer>} */
  bytes(path) {
    let found = this.kept.get(path);
    if (!found) {
      found = this.request(path).then((response) => response.arrayBuffer());
      this.kept.set(path, found);
      found.catch(() => this.kept.delete(path));
    }
    return found;
  }

  /** @param {string} path @returns {Promise<Float32Array>} */
  async numbers(path) {
    return new Float32Array(await this.bytes(path));
  }

  /** @param {string} path @returns {Promise<Uint16Array>} */
  async codes(path) {
    return new Uint16Array(await this.bytes(path));
  }

  /**
   * Coordinates of a map: all of them, or some of a large map. `components` lists those that were loaded.
   * @param {{id: string, n_components: number}} map
   * @param {number} n
   * @param {number[]} asked  components that are needed
   * @returns {Promise<{values: Float32Array, components: number[]}>}
   */
  async coordinates(map, n, asked) {
    const all = Array.from({ length: map.n_components }, (_, k) => k), needed = asked.filter((k) => k < map.n_components);
    const components = 4 * n * all.length <= ALL_COORDINATES || needed.length === all.length ? all : needed;
    const part = components === all ? "" : `?components=${components.join(",")}`;
    return { values: await this.numbers(`maps/${map.id}/coordinates${part}`), components };
  }

  /** Distances in the data from a row, in the units of a map. @param {number} row @param {string} map @returns {Promise<Float32Array>} */
  async distances(row, map) {
    const others = [...this.kept.keys()].filter((path) => path.startsWith("distances/"));
    for (const path of others.slice(0, Math.max(0, others.length - KEPT_DISTANCES))) this.kept.delete(path);
    return this.numbers(`distances/${row}?map=${map}`);
  }

  /** Bytes that take long, or null while a job computes them. @param {string} path @returns {Promise<ArrayBuffer | null>} */
  async measuredBytes(path) {
    const kept = this.kept.get(path);
    if (kept) return kept;
    const response = await this.request(path);
    if (response.status === 202) return null;
    const bytes = await response.arrayBuffer();
    this.kept.set(path, Promise.resolve(bytes));
    return bytes;
  }

  /** Numbers that take long, or null while a job computes them. @param {string} path @returns {Promise<Float32Array | null>} */
  async measured(path) {
    const bytes = await this.measuredBytes(path);
    return bytes && new Float32Array(bytes);
  }

  /** Codes that take long, or null while a job computes them. @param {string} path @returns {Promise<Uint16Array | null>} */
  async measuredCodes(path) {
    const bytes = await this.measuredBytes(path);
    return bytes && new Uint16Array(bytes);
  }

  /** Forget kept arrays whose path begins with `start`. @param {string} start @returns {void} */
  forget(start) {
    for (const path of [...this.kept.keys()]) if (path.startsWith(start)) this.kept.delete(path);
  }

  /**
   * Listen to events of the server.
   * @param {Record<string, (content: any) => void>} handlers
   * @param {(connected: boolean) => void} onConnection
   * @returns {EventSource}
   */
  listen(handlers, onConnection) {
    const source = new EventSource("api/events");
    for (const [type, handler] of Object.entries(handlers)) {
      source.addEventListener(type, (event) => handler(JSON.parse(/** @type {MessageEvent} */ (event).data)));
    }
    source.addEventListener("open", () => onConnection(true));
    source.addEventListener("error", () => onConnection(false));
    return source;
  }
}
