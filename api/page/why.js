// Why: one answer as a picture, from the line that was heard to the words that were said.
//
// Each part is a <details> element, so it can be read and opened without the picture. The lines between the parts
// are drawn behind them, wherever the layout puts the parts: side by side, or one below the other.

import { of } from "./api.js";
import { bar, button, el, feeling, quiet, svg } from "./dom.js";
import { announce, felt, weighed } from "./memory.js";
import { OUTCOMES, TONES, TRANSISTORS, ago, line, reasons } from "./words.js";

const NEAREST = 4; // the most near misses that are drawn
const AROUND = 50; // how many memories are fetched at once to find the previous or next answer

export async function show(place, { agent, id, character, signal }) {
  const step = async (by) => {
    const found = await neighbour(agent, Number(current), by, signal);
    if (found) location.hash = `#/why/${agent}/${found}`;
    else announce(by < 0 ? "This is the first answer." : "This is the latest answer.");
  };
  let current = id;
  const body = el("div");
  place.replaceChildren(
    el("header", { class: "bar-top" }, el("h1", { tabindex: -1 }, `Why ${character.name} said it`),
      el("p", { class: "actions" },
        button("‹ previous", () => step(-1), { "aria-keyshortcuts": ",", title: "Previous answer (,)" }),
        button("next ›", () => step(1), { "aria-keyshortcuts": ".", title: "Next answer (.)" }))),
    body,
  );
  await draw(id);
  return { step, moved: (where) => draw(where.id), refresh: () => draw(current) };

  async function draw(entry) {
    const told = await of(agent, entry ? `turns/${entry}` : "why", { signal });
    if (!told.turn?.percept) {
      return body.replaceChildren(el("p", {}, `${character.name} has not yet given an answer that you may read.`));
    }
    current = told.turn.percept.id;
    const wanted = told.modulations.some((made) => made.symbols.length);
    const [flow, images] = await Promise.all([
      of(agent, "memory/last-retrieval", { signal }),
      wanted ? of(agent, "memory/symbols", { query: { limit: 1000 }, signal }) : { symbols: [] },
    ]);
    const latest = flow.turn?.percept?.id === current;
    body.replaceChildren(picture(agent, told, latest ? flow.left_out : null, images.symbols, signal));
    const { percept, response } = told.turn;
    announce(`${percept.name}: ${line(percept)} ${character.name}: ${response ?? "silence"}`);
  }
}

/** The answer before (-1) or after (1) the one to this entry; undefined if there is none. */
async function neighbour(agent, entry, by, signal) {
  const page = (offset, limit) =>
    of(agent, "memory/browse", { query: { everything: true, order: "when", offset, limit }, signal });
  let low = 0, high = (await page(0, 1)).total; // the latest first: where does it stand?
  while (low < high) {
    const middle = (low + high) >> 1;
    const [{ id }] = (await page(middle, 1)).entries;
    if (id > entry) low = middle + 1;
    else high = middle;
  }
  for (let offset = by < 0 ? low : low - AROUND; offset > -AROUND; offset -= by * AROUND) {
    const { entries, total } = await page(Math.max(offset, 0), AROUND + Math.min(offset, 0));
    const side = entries.filter((one) => one.response && (one.id - entry) * by > 0);
    if (side.length) return (by < 0 ? side[0] : side.at(-1)).id;
    if (offset >= total) return;
  }
}

/** What went into the answer comes first, then what was told or done; what is merely recent comes last. */
const standing = ({ used, entry, why }) =>
  2 * used + !["arrive", "leave"].includes(entry?.kind) + !why.every((one) => one === "recent");

const node = (name, more, summary, ...body) =>
  el("details", { class: `node ${more}`, "data-node": name },
    el("summary", {}, summary), el("div", { class: "inside" }, body));

/** The picture: five stages with their parts, and the lines between them. */
function picture(agent, told, missed, symbols, signal) {
  const { percept, response, mood, voice, decision, degraded } = told.turn;
  const edges = []; // { from, to, weight 0…1, kind }
  const join = (from, to, weight, kind = "") => edges.push({ from, to, weight, kind });
  const full = (id) => el("p", {}, el("a", { href: `#/timeline/${agent}/${id}` }, "Open this memory"));

  const memory = (one) => {
    const name = `m${one.id}`;
    join("felt", name, one.score);
    if (one.used) join(name, "thought", one.score);
    if (!one.entry) return node(name, "gone", el("span", { class: "quiet" }, "forgotten since then"), full(one.id));
    return node(name, one.used ? "used" : "",
      [el("span", { class: "words" }, line(one.entry)),
        el("span", { class: "facts" }, feeling(one.entry),
          el("span", {}, one.score.toFixed(2)), one.used && el("b", {}, "in the answer"))],
      el("p", {}, `Came to mind because ${reasons(one.why)}.`),
      Object.entries(one.scores).map(([why, score]) => bar(reasons([why]), score)),
      quiet(`${one.entry.name}, ${ago(one.entry.age)}`), full(one.id));
  };
  const miss = (one) => {
    const name = `x${one.entry.id}`;
    join("felt", name, 0, "missed");
    return node(name, "missed", [el("span", { class: "words" }, line(one.entry)),
      el("span", { class: "facts" }, feeling(one.entry), el("span", {}, "nearly"))],
    el("p", {}, `It nearly came to mind because ${reasons([one.why])}: it scored ${one.score.toFixed(2)}; ` +
      `${one.least.toFixed(2)} would have been enough.`), full(one.entry.id));
  };
  const image = (id) => {
    const symbol = symbols.find((one) => one.id === id);
    if (!symbol) return node(`s${id}`, "gone", "an image that has since faded");
    return node(`s${id}`, "image", [el("span", { class: "words" }, symbol.image),
      el("span", { class: "facts" }, feeling(symbol.felt))],
    el("p", {}, `“${symbol.event}” turned into this image, ${ago(symbol.age)}.`), full(symbol.entry_id));
  };
  const transistor = (made) => {
    const name = `t${made.transistor}`;
    const changed = made.before !== made.after || made.how === "fused";
    made.entries.forEach((id) => join(`m${id}`, name, 0.2, "read"));
    made.symbols.forEach((id) => join(`s${id}`, name, 0.4, "read"));
    if (changed) join(name, "said", made.gain);
    return node(name, changed ? "used" : "idle", [el("span", { class: "words" }, made.transistor),
      el("span", { class: "quiet" }, changed ? "coloured the words" : OUTCOMES[made.how] ?? "changed nothing")],
    el("p", {}, `It ${TRANSISTORS[made.transistor] ?? "colours the words"}.`),
    bar("its strength setting", made.gain),
    made.lens && quiet(made.lens),
    changed && made.before && el("p", {}, el("del", {}, made.before), " ", el("ins", {}, made.after)));
  };

  join("heard", "felt", 0.6);
  join("thought", "said", 0.6);
  const seen = [...new Set(told.modulations.flatMap((made) => made.symbols))];
  const { name: sound, why: source } = told.tone;
  const regard = told.regard && el("p", {}, `By what it makes of people: ${told.regard}.`);
  const tone = sound !== "plain" && el("p", {}, `The answer had to be ${sound} because of ${TONES[source]}.`);
  const stages = [
    ["Heard", node("heard", "", [el("b", {}, percept.name), " ", el("span", { class: "words" }, line(percept))],
      el("p", {}, `${ago(percept.age)}${percept.private ? ", privately" : ""}.`), full(percept.id))],
    ["Felt", node("felt", "", [feeling(percept), told.affect
      && told.affect.feeling !== percept.feeling && [" then ", feeling(told.affect)]],
      el("p", {}, "Its mood afterwards: ", feeling(mood)), felt(told.affect?.affect), tone, regard,
      bar("unexpected", told.surprise), el("h3", {}, "How much it matters"), bar("importance", told.importance),
      weighed(told.parts))],
    ["Came to mind", [...told.recalled].sort((a, b) => standing(b) - standing(a) || b.score - a.score).map(memory),
      (missed ?? []).slice(0, NEAREST).map(miss),
      !told.recalled.length && quiet("nothing"),
      missed === null && quiet("What nearly came to mind is only known for the latest answer."),
      told.hidden > 0 && quiet(`and ${told.hidden} that you may not read`),
      seen.length > 0 && el("h3", {}, "Images"), seen.map(image)],
    ["Thought and coloured", node("thought", "",
      el("span", { class: "voice" }, told.thought || "(nothing to show)"),
      el("p", {}, "What it would have said in plain words.")), told.modulations.map(transistor)],
    ["Said", node("said", "", el("span", { class: "voice" }, response ?? "nothing"),
      el("p", {}, voice === "offline" ? "The offline voice spoke." : `${voice || "Nobody"} spoke.`),
      decision && el("p", {}, `Why it answered: ${decision}.`),
      degraded.map((words) => el("p", {}, `Not everything worked: ${words}`)),
      told.calls > 0 && el("p", {}, `${told.calls} model calls, ${told.tokens} tokens.`),
      told.steps.length > 0 && el("h3", {}, "Milliseconds"),
      el("ul", { class: "plain" },
        told.steps.map((one) => el("li", {}, `${one.step} ${one.milliseconds.toFixed(1)}`))))],
  ];
  const lines = svg("svg", { class: "lines", "aria-hidden": "true" });
  const flow = el("div", { class: "flow" }, lines, stages.map(([title, ...parts]) =>
    el("section", { class: "stage" }, el("h2", {}, title), parts)));
  const watching = new ResizeObserver(() => trace(flow, lines, edges));
  watching.observe(flow);
  flow.querySelectorAll(".node").forEach((one) => watching.observe(one));
  signal.addEventListener("abort", () => watching.disconnect());
  return el("div", {}, flow, el("p", { class: "legend quiet" },
    "Thicker lines mean higher scores, from 0 to 1. Dashed: it nearly came to mind. A marked edge: it went into "
    + "the answer. Open any part to see its reason and numbers."));
}

/** Draw the lines between the parts as they stand now. */
function trace(flow, lines, edges) {
  const ground = flow.getBoundingClientRect();
  const box = (name) => flow.querySelector(`[data-node="${CSS.escape(name)}"]`)?.getBoundingClientRect();
  lines.setAttribute("width", ground.width);
  lines.setAttribute("height", ground.height);
  lines.replaceChildren(...edges.flatMap(({ from, to, weight, kind }) => {
    const [a, b] = [box(from), box(to)];
    if (!a || !b) return [];
    const beside = edges.filter((one) => one.from === from); // their starting points share one side
    const share = (beside.findIndex((one) => one.to === to) + 0.5) / beside.length;
    const ay = a.top + 8 + (a.height - 16) * share - ground.top;
    const by = b.top + Math.min(b.height / 2, 28) - ground.top;
    const across = b.left > a.right;
    let path;
    if (across) {
      const [ax, bx] = [a.right - ground.left, b.left - ground.left];
      const middle = (ax + bx) / 2;
      path = `M${ax} ${ay} C${middle} ${ay} ${middle} ${by} ${bx} ${by}`;
    } else { // one below the other: a curve on the left, wider if the parts are further apart
      const [ax, bx] = [a.left - ground.left, b.left - ground.left];
      const out = Math.max(Math.min(ax, bx) - 8 - Math.abs(by - ay) / 30, 2);
      path = `M${ax} ${ay} C${out} ${ay} ${out} ${by} ${bx} ${by}`;
    }
    return svg("path", { d: path, class: kind, "stroke-width": 1 + (across ? 6 : 3) * weight });
  }));
}
