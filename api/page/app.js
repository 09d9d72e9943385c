// The frame of the page: user, character and view; routes, keys and the connection.

import { Live, ask, me, of } from "./api.js";
import { button, byId, el } from "./dom.js";
import { announce } from "./memory.js";
import * as mind from "./mind.js";
import * as talk from "./talk.js";
import * as timeline from "./timeline.js";
import * as why from "./why.js";

const VIEWS = {
  talk: ["Talk", talk], why: ["Why", why], timeline: ["Timeline", timeline], mind: ["Mind", mind],
};
const KEYS = [
  ["1 2 3 4", "Talk, Why, Timeline, Mind"],
  ["/", "go to the text box or the search"],
  [", .", "previous answer, next answer (in Why)"],
  ["u", "undo, while the offer is shown"],
  ["c", "choose a character"],
  ["t", "light, dark, or the system setting"],
  ["?", "this help"],
];
const main = byId("main");
const live = new Live();
let agents = [];
let shown = null; // { key, view, leave }: the current view

/** The parts of an address such as "#/why/servnak/12?q=dog". */
function route() {
  const [path, query = ""] = location.hash.slice(1).split("?");
  const [view, agent = "", id = ""] = path.split("/").slice(1).map(decodeURIComponent);
  return { view: VIEWS[view] ? view : "talk", agent, id, query: new URLSearchParams(query) };
}

async function start() {
  live.close();
  shown?.leave.abort();
  shown = null;
  try {
    me.rights = await ask("/api/whoami");
    if (me.behalf) me.rights = await ask("/api/whoami"); // again, now on behalf of a user
    agents = (await ask("/api/agents")).agents;
  } catch (problem) {
    return problem.status === 401 ? askForToken() : showProblem(problem, start);
  }
  byId("leave").hidden = !me.token;
  byId("views").hidden = byId("who").parentElement.hidden = false;
  await go();
}

/** Show the view in the address. */
async function go() {
  if (!me.rights) return;
  const where = route();
  where.agent ||= agents[0]?.id ?? "";
  if (!where.agent) return showProblem(new Error("There are no characters yet. docs/recipes.md explains how to add one."));
  const key = `${where.view}/${where.agent}`;
  if (shown?.key === key && shown.view?.moved) return shown.view.moved(where);
  byId("memory").close();
  shown?.leave.abort();
  const first = !shown;
  const leave = new AbortController();
  const here = (shown = { key, leave, view: null });
  frame(where);
  live.open(where.agent);
  main.setAttribute("aria-busy", "true");
  try {
    where.character = await of(where.agent, "", { signal: leave.signal });
    if (!agents.some((one) => one.id === where.agent)) { // it came to life after the page was opened
      agents.push({ id: where.agent, name: where.character.name });
      frame(where);
    }
    document.title = `${VIEWS[where.view][0]}: ${where.character.name} · noodlings`;
    const place = el("div", { class: `view ${where.view}` });
    main.replaceChildren(place);
    here.view = await VIEWS[where.view][1].show(place, { ...where, live, signal: leave.signal });
    // Move the focus into the new view, unless it is there already.
    if (!first && !place.contains(document.activeElement)) {
      main.querySelector("h1")?.focus({ preventScroll: where.view === "talk" });
    }
  } catch (problem) {
    if (problem.status === 404) { // nothing to wait for
      live.close();
      byId("connection").textContent = "";
    }
    if (!leave.signal.aborted) problem.status === 401 ? askForToken() : showProblem(problem, again);
  }
  if (here === shown) main.removeAttribute("aria-busy");
}

/** Read everything in the view again. */
async function again() {
  if (!shown?.view?.refresh) {
    shown = null;
    return start();
  }
  await shown.view.refresh().catch((problem) => showProblem(problem, again));
}

function frame({ view, agent }) {
  const links = Object.entries(VIEWS).map(([name, [label]]) =>
    el("a", { href: `#/${name}/${agent}`, "aria-current": name === view && "page" }, label));
  byId("views").replaceChildren(...links);
  byId("who").replaceChildren(...agents.map((one) => new Option(one.name, one.id)));
  byId("who").value = agent; // empty where there is no such character
}

function showProblem(problem, retry) {
  main.removeAttribute("aria-busy");
  main.replaceChildren(el("div", { class: "view", role: "alert" },
    el("h1", { tabindex: -1 }, "Something went wrong"), el("p", { class: "problem" }, problem.message),
    retry && button("Try again", retry, { class: "primary" })));
}

function askForToken() {
  const wrong = me.token ? "That token is not valid here. Check it and try again." : "";
  me.token = "";
  me.rights = null;
  live.close();
  byId("leave").hidden = byId("views").hidden = byId("who").parentElement.hidden = true;
  main.removeAttribute("aria-busy");
  const input = el("input", { id: "token", type: "password", autocomplete: "off", required: true,
    "aria-describedby": "token-note" });
  const submit = (event) => {
    event.preventDefault();
    me.token = input.value.trim();
    start();
  };
  main.replaceChildren(el("form", { class: "view token", submit },
    el("h1", { tabindex: -1 }, "Sign in"),
    el("p", {}, "You need a token to use this server. Ask the person who runs it for one."),
    wrong && el("p", { class: "problem", role: "alert" }, wrong),
    el("label", { for: "token" }, "Token"), input,
    el("p", { id: "token-note", class: "quiet" }, "It is remembered until you close this tab."),
    el("button", { class: "primary" }, "Sign in")));
  input.focus();
}

// The connection: a calm notice while it is lost; read everything again when it is back.
live.addEventListener("lost", ({ detail }) => {
  byId("connection").textContent =
    detail.pause > 2 ? "Reconnecting. What you typed is safe." : "Reconnecting …";
});
live.addEventListener("back", () => {
  byId("connection").textContent = "";
  again();
});
live.addEventListener("refused", () => {
  byId("connection").textContent = "";
  askForToken();
});
addEventListener("online", () => live.hurry());
document.addEventListener("visibilitychange", () => document.hidden || live.hurry());

// Light and dark.
const THEMES = ["", "light", "dark"];
function wear(theme) {
  theme ? localStorage.setItem("noodlings.theme", theme) : localStorage.removeItem("noodlings.theme");
  document.documentElement.dataset.theme = theme;
  byId("theme").textContent = { light: "☀", dark: "☾" }[theme] ?? "◐";
  const label = `Colours: ${theme || "system setting"}`;
  byId("theme").title = label;
  byId("theme").setAttribute("aria-label", label);
}
function nextTheme() {
  wear(THEMES[(THEMES.indexOf(document.documentElement.dataset.theme ?? "") + 1) % THEMES.length]);
  announce(byId("theme").title);
}

// Single-letter keys, unless the user is typing or has switched them off.
const keysOn = () => localStorage.getItem("noodlings.keys") !== "off";
function help() {
  const on = el("input", { type: "checkbox", id: "keys-on", checked: keysOn(),
    change: () => localStorage.setItem("noodlings.keys", on.checked ? "on" : "off") });
  byId("help").replaceChildren(
    el("form", { method: "dialog" }, el("button", { class: "close", "aria-label": "Close" }, "×")),
    el("h2", { id: "help-title" }, "Keys"),
    el("dl", { class: "keys" }, KEYS.map(([key, what]) => [
      el("dt", {}, key.split(" ").map((one) => el("kbd", {}, one))), el("dd", {}, what)])),
    el("p", {}, on, el("label", { for: "keys-on" }, " Use single-letter keys")),
    el("p", { class: "quiet" }, "Every view has its own address, so the Back button works and links "
      + "can be shared. The API behind this page is described at ", el("a", { href: "/docs" }, "/docs"), "."));
  byId("help").showModal();
}
const actions = {
  "/": () => shown?.view?.focus?.(),
  ",": () => shown?.view?.step?.(-1),
  ".": () => shown?.view?.step?.(1),
  u: () => [...document.querySelectorAll(".toast .undo")].at(-1)?.click(),
  c: () => byId("who").focus(),
  t: nextTheme,
  "?": help,
};
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || !keysOn()) return;
  if (event.target.closest("input, textarea, select") || document.querySelector("dialog[open]")) return;
  const view = byId("views").children[Number(event.key) - 1];
  const action = view ? () => view.click() : actions[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

byId("skip").addEventListener("click", (event) => (event.preventDefault(), main.focus()));
byId("theme").addEventListener("click", nextTheme);
byId("keys").addEventListener("click", help);
byId("leave").addEventListener("click", () => ((me.token = ""), start()));
byId("who").addEventListener("change", ({ target }) => {
  location.hash = `#/${route().view}/${encodeURIComponent(target.value)}`;
});
addEventListener("hashchange", go);
wear(localStorage.getItem("noodlings.theme") ?? "");
start();
