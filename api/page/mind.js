// Mind: what a character feels and wants, the people it knows, its days, and its images of intense moments.

import { of } from "./api.js";
import { bar, button, el, feeling, quiet } from "./dom.js";
import { failed, felt } from "./memory.js";
import { ago } from "./words.js";

export async function show(place, { agent, character, signal }) {
  const ask = (path, query) => of(agent, path, { query, signal });
  const [mood, state, known, days, images] = await Promise.all([
    ask("mood"), ask("state"), ask("people", { limit: 10 }), ask("journal", { limit: 3 }),
    ask("memory/symbols", { limit: 8 })]);
  const evidence = (ids) => ids.map((id) => [" ", el("a",
    { href: `#/timeline/${agent}/${id}`, class: "mark" }, el("span", { class: "unseen" }, "memory "), `${id}`)]);

  const lines = (count) => count === 1 ? "one line" : `${count} lines`;
  const moved = ({ pleasant, unpleasant }) => pleasant || unpleasant
    ? `${lines(pleasant)} for, ${unpleasant} against` : "no line moved it for or against them";
  const card = (one) => el("article", { class: "card" }, el("h3", {}, one.name),
    one.acquaintance && quiet(`${lines(one.acquaintance.lines)}, the last `
      + `${ago(one.acquaintance.last_age)}; what they say makes it feel ${one.acquaintance.feeling}`),
    one.acquaintance?.relationship && quiet(
      `It is ${one.acquaintance.relationship.words} (${moved(one.acquaintance.relationship)})`,
      evidence(one.acquaintance.relationship.evidence)),
    el("ul", { class: "plain" },
      one.plans.map((plan) => el("li", {}, plan.words, el("span", { class: "quiet" }, ` ${ago(-plan.ahead)}`),
        evidence([plan.evidence]))),
      one.facts.map((fact) => el("li", {}, fact.words, evidence(fact.evidence)))));
  const day = (one) => el("article", {}, el("h3", {}, one.day), el("ul", { class: "plain" },
    one.sentences.map((sentence) => el("li", {}, sentence.text, evidence(sentence.evidence)))));
  const image = (one) => el("li", {}, el("span", { class: "voice" }, one.image), " ", feeling(one.felt),
    evidence([one.entry_id]));

  place.replaceChildren(
    el("h1", { tabindex: -1 }, `The mind of ${character.name}`),
    el("div", { class: "panels" },
      el("section", {}, el("h2", {}, "Mood: ", feeling(mood.mood)), felt(mood.mood.affect),
        quiet("Left alone, it settles back to ", feeling(mood.baseline), "; the last thing it perceived felt ",
          feeling(mood.affect), ".")),
      el("section", {}, el("h2", {}, "Wants"),
        el("p", {}, mood.goals.length ? `To ${mood.goals.join(", to ")}.` : "Nothing in particular."),
        quiet("How much it lacks each of these, from 0 (sated) to 1 (starving):"),
        Object.entries(state.appetites).map(([name, level]) => bar(name.replaceAll("_", " "), level))),
      list("Images of intense moments", "symbols", images.symbols, images.total, image, "None yet."),
      list("People it knows", "people", known.people, known.total, card, "Nobody yet."),
      list("Its days", "days", days.days, days.more ? Infinity : 0, day, "Nothing yet.")));
  return {};

  /** A list with a "More" button; `key` is the name of the items in an answer. */
  function list(title, key, items, total, draw, none) {
    const path = { people: "people", days: "journal", symbols: "memory/symbols" }[key];
    const inside = el(key === "symbols" ? "ul" : "div", { class: "plain" }, items.map(draw));
    const more = button("More", async () => {
      const next = await ask(path, { limit: 10, offset: items.length }).catch(failed);
      if (!next) return;
      items.push(...next[key]);
      inside.append(...next[key].map(draw));
      more.hidden = !(next.more || items.length < (next.total ?? 0));
    }, { hidden: items.length >= total, "aria-label": `More: ${title}` });
    const shown = items.length ? inside : quiet(none);
    return el("section", { class: key }, el("h2", {}, title), shown, more);
  }
}
