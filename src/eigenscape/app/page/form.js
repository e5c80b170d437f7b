/**
 * Form of a fit, made from the methods that the server lists.
 * @module
 */

import { element } from "./dom.js";

/**
 * @typedef {object} Parameter
 * @property {string} name
 * @property {"int" | "float" | "bool" | "choice" | "text"} type
 * @property {any} default
 * @property {any[] | null} [choices]
 * @property {number | null} [minimum]
 * @property {number | null} [maximum]
 * @property {boolean} [optional]
 * @property {boolean} [everyday]
 * @property {string} [help]
 */

/**
 * Fields of the parameters of a method; the rarer ones are folded.
 * @param {Parameter[]} parameters
 * @param {Record<string, any>} given  values to start with
 * @returns {HTMLElement}
 */
export function parameterFields(parameters, given) {
  const fields = parameters.map((parameter) => parameterField(parameter, given[parameter.name]));
  const isFirst = (/** @type {HTMLElement} */ _, /** @type {number} */ k) => parameters[k].everyday === true || parameters[k].name in given;
  const first = fields.filter(isFirst), rest = fields.filter((field) => !first.includes(field));
  const more = element("details", {}, element("summary", {}, rest.length === 1 ? "one more parameter" : `${rest.length} more parameters`), ...rest);
  return element("div", { class: "fields" }, ...first, rest.length > 0 && more);
}

/** @param {Parameter} parameter @param {any} value @returns {HTMLElement} */
function parameterField(parameter, value) {
  const id = `parameter-${parameter.name}`, start = value === undefined ? parameter.default : value;
  return element("div", { class: "parameter" }, element("label", { for: id }, parameter.name), inputOf(parameter, start, id), helpText(parameter, id));
}

/**
 * The first sentence of a description; a button shows the others. Nothing moves while fields are used.
 * @param {Parameter} parameter
 * @param {string} id
 * @returns {HTMLElement}
 */
function helpText(parameter, id) {
  const text = parameter.help ?? "", first = /^.*?(?:[:;](?= )|\.(?= [A-Z"])|$)/s.exec(text)?.[0] ?? text, others = text.slice(first.length);
  const rest = element("span", { hidden: true }, others);
  const more = element("button", {
    type: "button", class: "more", "aria-expanded": "false", "aria-label": `More about ${parameter.name}`,
    onclick: () => {
      rest.hidden = !rest.hidden;
      more.setAttribute("aria-expanded", String(!rest.hidden));
      more.textContent = rest.hidden ? "more" : "less";
    },
  }, "more");
  return element("small", { id: `${id}-help` }, first, rest, others !== "" && " ", others !== "" && more);
}

/** @param {Parameter} parameter @param {any} start @param {string} id @returns {HTMLElement} */
function inputOf(parameter, start, id) {
  const common = { id, name: parameter.name, "aria-describedby": `${id}-help` };
  if (parameter.type === "bool") {
    const box = element("input", { ...common, type: "checkbox" });
    box.checked = Boolean(start);
    return box;
  }
  if (parameter.type === "choice") {
    const choices = [...(parameter.optional ? [null] : []), ...(parameter.choices ?? [])];
    const select = element("select", common, ...choices.map((choice) => element("option", { value: choice === null ? "" : choice }, choice === null ? "none" : String(choice))));
    select.value = start === null || start === undefined ? "" : String(start);
    return select;
  }
  const isNumber = parameter.type === "int" || parameter.type === "float";
  return element("input", {
    ...common, type: isNumber ? "number" : "text", step: parameter.type === "int" ? 1 : "any", min: parameter.minimum ?? null,
    max: parameter.maximum ?? null, value: start ?? "", placeholder: parameter.optional ? "automatic" : "", autocomplete: "off",
  });
}

/**
 * Values of the fields that differ from their defaults.
 * @param {HTMLFormElement} form
 * @param {Parameter[]} parameters
 * @returns {Record<string, any>}
 */
export function readParameters(form, parameters) {
  /** @type {Record<string, any>} */
  const values = {};
  for (const parameter of parameters) {
    const input = /** @type {HTMLInputElement} */ (form.elements.namedItem(parameter.name));
    const value = valueOf(parameter, input);
    if (value !== undefined && value !== parameter.default) values[parameter.name] = value;
  }
  return values;
}

/** @param {Parameter} parameter @param {HTMLInputElement} input @returns {any} */
function valueOf(parameter, input) {
  if (parameter.type === "bool") return input.checked;
  const text = input.value.trim();
  if (text === "") return parameter.default === null || parameter.optional ? null : undefined;
  if (parameter.type === "int" || parameter.type === "float") return Number(text);
  const choice = parameter.choices?.find((one) => String(one) === text);
  return choice === undefined ? text : choice;
}
