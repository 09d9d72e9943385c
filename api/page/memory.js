// A memory: as a row of a list, and in full with its actions.

import { me, of } from "./api.js";
import { bar, button, byId, el, feeling, quiet, svg } from "./dom.js";
import { AXES, PARTS, ago, line } from "./words.js";

const SECONDS = 10;
const going = new Map(); // "servnak/12" → sends the request that deletes it

const ref = (agent, id) => `${agent}/${id}`;

/** Announce something to screen readers. */
export const announce = (words) => byId("news").replaceChildren(words);

export const failed = (problem) => toast(problem.message, {});

/** A dot in the colour of the feeling; its size is the importance. */
const dot = ({ family, importance }) =>
  svg("svg", { class: `dot ${family}`, viewBox: "-13 -13 26 26", "aria-hidden": "true" },
    svg("circle", { r: 3 + 9 * importance }));

/** A memory in a list; `more` is extra text. */
export function row(agent, entry, href, more) {
  return el(
    "li", { class: "memory", "data-memory": ref(agent, entry.id), hidden: going.has(ref(agent, entry.id)) },
    dot(entry),
    el("div", {},
      el("p", { class: "words" }, el("a", { href }, line(entry))),
      entry.response && quiet(`answered: ${entry.response}`),
      el("p", { class: "facts" }, feeling(entry), el("span", {}, entry.name),
        el("span", {}, ago(entry.age)), el("span", {}, `importance ${entry.importance.toFixed(2)}`),
        entry.pinned && el("span", {}, "pinned"), more && el("span", {}, more)),
    ),
  );
}

/** A notice that stays for a while; `undo` is offered, and `then` happens when time is up. */
export function toast(words, { undo, then }) {
  let left = SECONDS;
  const count = el("span", { class: "quiet" });
  const back = undo && button("Undo", () => end(undo), { "aria-keyshortcuts": "u", class: "undo" });
  const note = el("div", { class: "toast" }, el("span", {}, words), count, back);
  const tick = () => {
    if (note.matches(":hover, :focus-within")) return; // the time stops while the user is about to answer
    count.textContent = then ? `in ${left} s` : "";
    if (left-- <= 0) end(then);
  };
  const timer = setInterval(tick, 1000);
  function end(what) {
    clearInterval(timer);
    note.remove();
    what?.();
  }
  tick();
  byId("toasts").append(note);
  announce(undo ? `${words} Press u to undo.` : words);
}

/** Hide a memory now and delete it a little later, because deleting cannot be undone. */
function forget(agent, id) {
  const key = ref(agent, id);
  const seen = (hidden) => document.querySelectorAll(`[data-memory="${CSS.escape(key)}"]`)
    .forEach((one) => (one.hidden = hidden));
  const send = (keepalive) => {
    going.delete(key);
    return of(agent, `memory/entries/${id}`, { method: "DELETE", keepalive });
  };
  going.set(key, send);
  seen(true);
  const keep = () => {
    going.delete(key);
    seen(false);
    announce("The memory is kept.");
  };
  const done = ({ answers }) =>
    announce(answers ? `The memory is deleted, and so are ${answers} answers that repeated it.` : "The memory is deleted.");
  toast("This memory will be deleted for good", {
    undo: keep,
    then: () => send().then(done).catch((problem) => (seen(false), failed(problem))),
  });
}

// Closing the page does not stop a deletion that the user has asked for.
addEventListener("pagehide", () => going.forEach((send) => send(true).catch(() => {})));

async function pin(agent, entry, after) {
  try {
    await of(agent, `memory/entries/${entry.id}/pin`, { method: entry.pinned ? "DELETE" : "PUT" });
    const undo = () => of(agent, "memory/undo", { method: "POST" }).then(after).catch(failed);
    toast(entry.pinned ? "Unpinned: this memory may fade again." : "Pinned: this memory will never fade.", { undo });
    after();
  } catch (problem) {
    failed(problem);
  }
}

/** The numbers behind a feeling and an importance. */
export const felt = (affect) =>
  Object.entries(affect ? AXES : {}).map(
    ([axis, words]) => bar(words, affect[axis], axis === "valence" ? -1 : 0));
export const weighed = (parts) => Object.entries(PARTS).map(([part, words]) => bar(words, parts[part] ?? 0));

/** Show a memory in full; `left` is called when the dialog is closed. */
export async function open(agent, id, hrefOf, left) {
  const dialog = byId("memory");
  const { entry, linked } = await of(agent, `memory/entries/${id}/links`, { query: { depth: 1 } });
  const mayForget =
    me.rights.forgets === "anything" || (me.rights.forgets === "own" && entry.user === me.id);
  const again = () => open(agent, id, hrefOf, left).catch(failed);
  const actions = el("p", { class: "actions" },
    el("a", { href: `#/why/${agent}/${id}`, class: "button" }, "Why this answer?"),
    me.rights.corrects && button(entry.pinned ? "Unpin" : "Pin", () => pin(agent, entry, again)),
    mayForget && button("Forget …", () => sure.replaceChildren(
      el("p", {}, "Forget this memory? It will be deleted for good, with every note and answer that repeats it."),
      button("Forget it", () => (dialog.close(), forget(agent, id)), { class: "danger" }), " ",
      button("Keep it", () => sure.replaceChildren()),
    ) ?? sure.querySelector("button").focus()),
  );
  const sure = el("div", { role: "group", "aria-label": "Forget this?", class: "sure" });
  dialog.replaceChildren(
    el("form", { method: "dialog" }, el("button", { class: "close", "aria-label": "Close" }, "×")),
    el("h2", { id: "memory-title" }, `Memory ${id}`),
    el("blockquote", {}, line(entry), el("footer", {}, `${entry.name}, ${ago(entry.age)}`,
      entry.when && ` (${new Date(entry.when).toLocaleString("en-GB")})`,
      entry.private && ", told privately")),
    entry.response ? el("p", { class: "voice" }, entry.response) : quiet("No answer."),
    actions, sure,
    el("div", { class: "columns" },
      el("section", {}, el("h3", {}, "Felt: ", feeling(entry)), felt(entry.affect)),
      el("section", {}, el("h3", {}, `Importance ${entry.importance.toFixed(2)}`), weighed(entry.parts),
        bar("strength now", entry.strength),
        entry.recall_count > 0 && quiet(`Came to mind: ${entry.recall_count}×`)),
    ),
    linked.length ? el("section", {}, el("h3", {}, "Linked to"), el("ul", { class: "plain" },
      linked.map((one) => el("li", {}, el("a", { href: hrefOf(one.entry.id) }, line(one.entry)),
        el("span", { class: "quiet" }, ` ${one.type.replaceAll("_", " ")}`))))) : "",
  );
  dialog.onclose = left;
  if (!dialog.open) dialog.showModal();
}
