// Talk: the conversation with a character, what it is doing right now, and a line to say something.

import { me, newKey, of } from "./api.js";
import { button, byId, el, feeling, quiet } from "./dom.js";
import { announce } from "./memory.js";
import { STEPS, ago, line } from "./words.js";

const PAGE = 20;
const drafts = new Map(); // unsent text, by character; it outlives the view
const outbox = []; // messages without an answer yet: { agent, key, text, user_id, name, problem }

/** Show the conversation. Resolves with what the page may ask of this view. */
export async function show(place, { agent, character, live, signal }) {
  const cards = new Map(); // entry → its element in the list
  const list = el("ol", { class: "exchanges" });
  const earlier = button("Earlier messages", () => read(cards.size).catch(trouble), { class: "quiet-button" });
  const note = el("p", { class: "problem", role: "alert", hidden: true });
  const mood = el("span", { class: "facts" });
  const input = el("textarea", { id: "line", rows: 1, maxlength: 4000, autocomplete: "off" });
  const name = el("input",
    { id: "name", value: me.name, maxlength: 30, autocomplete: "off", change: () => {
      me.name = name.value;
      name.value = me.name; // without spaces around it
    } });
  const form = el("form", { class: "composer", submit },
    el("p", { class: "facts" }, el("label", { for: "line" }, `Say something to ${character.name}`),
      me.rights.speaks === "anybody" && el("span", {}, el("label", { for: "name" }, "as "), name), mood),
    el("div", { class: "say" }, input, el("button", { class: "primary" }, "Say")),
    quiet(`Press Enter to say it. Only ${character.name} hears it.`));
  input.value = drafts.get(agent) ?? "";
  input.addEventListener("input", () => drafts.set(agent, input.value));
  input.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    form.requestSubmit();
  });
  place.replaceChildren(
    el("header", { class: "person" }, el("h1", { tabindex: -1 }, character.name),
      quiet(character.species), el("p", {}, character.description)),
    el("section", { "aria-label": `Talk with ${character.name}` }, earlier, list),
    note, me.rights.speaks === "nobody" ? quiet("This token can only read, so you cannot say anything.") : form,
  );
  showMood(character.mood);
  let order = Promise.resolve(); // handles one message after another, though some need another request
  const next = ({ detail }) => (order = order.then(() => heard(detail)).catch(trouble));
  live.addEventListener("message", next, { signal });
  await read(0);
  outbox.filter((one) => one.agent === agent).forEach(waiting);
  scrollDown();
  return { refresh, focus: () => (byId("line") ?? list).focus() };

  function showMood(felt) {
    mood.replaceChildren("It feels ", feeling(felt));
  }

  /** The latest exchanges, or those before so many. */
  async function read(offset) {
    const query = { everything: true, order: "when", limit: PAGE, offset };
    const page = await of(agent, "memory/browse", { query, signal });
    const before = list.scrollHeight;
    for (const entry of page.entries) put(entry.id, exchange(entry));
    earlier.hidden = offset + page.entries.length >= page.total;
    if (offset) scrollBy(0, list.scrollHeight - before);
  }

  /** Read everything again after the connection was lost. */
  async function refresh() {
    cards.clear();
    list.replaceChildren();
    await read(0);
    showMood((await of(agent, "", { signal })).mood);
    outbox.filter((one) => one.agent === agent).forEach((one) => (waiting(one), send(one)));
    scrollDown();
  }

  /** Insert an element in the order of the entries. */
  function put(id, card) {
    cards.get(id)?.remove();
    cards.set(id, card);
    const next = [...list.children].find((other) => !other.dataset.id || Number(other.dataset.id) > id);
    card.dataset.id = id;
    list.insertBefore(card, next ?? null);
  }

  function exchange(entry, degraded = []) {
    if (["arrive", "leave"].includes(entry.kind) && !entry.response) {
      return el("li", { "data-memory": `${agent}/${entry.id}` }, quiet(`${entry.name} ${line(entry)}`));
    }
    const why = el("a", { href: `#/why/${agent}/${entry.id}` }, "why?",
      el("span", { class: "unseen" }, ` ${entry.response ?? line(entry)}`));
    const silent = entry.parts.addressed > 0 && quiet(`${character.name} says nothing.`);
    return el("li", { "data-memory": `${agent}/${entry.id}` },
      el("p", { class: "heard" }, el("b", {}, entry.name), " ", line(entry)),
      entry.response ? el("p", { class: "voice" }, entry.response) : silent,
      degraded.map((words) => quiet(`Not everything worked: ${words}`)),
      el("p", { class: "facts" }, el("span", {}, "felt"), feeling(entry),
        el("span", {}, ago(entry.age)), entry.private && el("span", {}, "privately"), why));
  }

  /** Show a message that has no answer yet, with its progress or its problem. */
  function waiting(sent) {
    sent.card?.remove();
    sent.steps = el("ol", { class: "steps" });
    sent.card = el("li", { class: "waiting" },
      el("p", { class: "heard" }, el("b", {}, sent.name), " ", sent.text), sent.steps,
      sent.problem && el("p", { class: "problem" }, `Not sent yet: ${sent.problem} `,
        button("Try again", () => send(sent))));
    list.append(sent.card);
  }

  async function heard({ type, entry, step, said, turn, agents }) {
    if (type === "snapshot") return showMood(agents[0].agent.mood);
    if (type === "turn") return finished(turn);
    if (!["step", "speech"].includes(type)) return;
    if (!cards.has(entry)) await begun(entry);
    const steps = cards.get(entry)?.querySelector(".steps");
    if (said) steps?.parentElement.append(el("p", { class: "voice" }, said));
    else if (steps && STEPS[step]) steps.append(el("li", {}, STEPS[step]));
  }

  /** A message was perceived. If it is ours, it replaces the waiting one. */
  async function begun(entry) {
    cards.set(entry, null);
    const { percept } = (await of(agent, `turns/${entry}`, { signal })).turn;
    const ours = outbox.find(
      (one) => one.agent === agent && one.text === percept.text && one.user_id === percept.user);
    const steps = el("ol", { class: "steps" });
    const heard = el("p", { class: "heard" }, el("b", {}, percept.name), " ", line(percept));
    if (cards.get(entry)) return; // the turn has finished meanwhile
    ours?.card.remove();
    put(entry, el("li", { class: "waiting" }, heard, steps));
    scrollDown();
  }

  function finished(view) {
    const { percept, response, mood, degraded } = view.turn;
    if (!percept) return;
    put(percept.id, exchange(percept, degraded));
    showMood(mood);
    if (response) announce(`${character.name}: ${response}`);
    scrollDown();
  }

  function submit(event) {
    event.preventDefault();
    const text = input.value.split(/\s+/).join(" ").trim();
    if (!text) return;
    note.hidden = true;
    const sent = { agent, key: newKey(), text, user_id: me.id, name: me.rights.user ? me.id : me.name };
    outbox.push(sent);
    input.value = "";
    drafts.delete(agent);
    waiting(sent);
    scrollDown();
    send(sent);
  }

  /** Thanks to its key, a message is heard once, however often it is sent. */
  async function send(sent) {
    const { key, text, user_id } = sent;
    const body = { text, user_id, ...(me.rights.speaks === "anybody" && { name: sent.name }) };
    try {
      const view = await of(sent.agent, "perceive", { method: "POST", key, body });
      outbox.splice(outbox.indexOf(sent), 1);
      sent.card.remove();
      if (!signal.aborted) finished(view);
    } catch (problem) {
      sent.problem = problem.message;
      if (problem.passing) return waiting(sent);
      outbox.splice(outbox.indexOf(sent), 1);
      sent.card.remove();
      input.value ||= sent.text;
      trouble(problem);
    }
  }

  function trouble(problem) {
    if (signal.aborted) return;
    note.textContent = problem.message;
    note.hidden = false;
  }

  function scrollDown() {
    scrollTo(0, document.body.scrollHeight);
  }
}
