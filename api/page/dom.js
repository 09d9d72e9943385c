// Making elements. Text always becomes a text node, so nothing in a memory can become markup.

const SVG = "http://www.w3.org/2000/svg";

function fill(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value !== false && value != null) node.setAttribute(name, value === true ? "" : value);
  }
  node.append(...children.flat(Infinity).filter((child) => child != null && child !== false));
  return node;
}

/** An HTML element: attributes by name, listeners by the name of their event, then children or text. */
export const el = (tag, attributes = {}, ...children) =>
  fill(document.createElement(tag), attributes, children);

/** An SVG element. */
export const svg = (tag, attributes = {}, ...children) =>
  fill(document.createElementNS(SVG, tag), attributes, children);

export const byId = (id) => document.getElementById(id);

export const button = (label, click, more = {}) => el("button", { type: "button", click, ...more }, label);

/** A named quantity as a number and a bar; `least` is -1 if it can be negative. */
export function bar(name, value, least = 0) {
  const [zero, at] = [0, value].map((one) => ((one - least) / (1 - least)) * 100);
  return el(
    "div", { class: "bar" }, el("span", {}, name), el("span", { class: "number" }, value.toFixed(2).replace("-", "−")),
    svg(
      "svg", { viewBox: "0 0 100 4", preserveAspectRatio: "none", "aria-hidden": "true" },
      svg("rect", { width: 100, height: 4, class: "ground" }),
      svg("rect", { x: Math.min(zero, at), width: Math.abs(at - zero), height: 4, class: "level" }),
    ),
  );
}

/** A feeling: its colour and its word. */
export const feeling = ({ feeling, family }) =>
  el("span", { class: `feeling ${family}` }, svg("svg", { viewBox: "0 0 10 10", "aria-hidden": "true" },
    svg("circle", { cx: 5, cy: 5, r: 4.5 })), feeling);

/** Less important text. */
export const quiet = (...words) => el("p", { class: "quiet" }, words);
