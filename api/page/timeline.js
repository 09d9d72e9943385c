// The timeline: everything the character ever perceived, by time or importance, and a search in it.

import { of } from "./api.js";
import { button, el, feeling, svg } from "./dom.js";
import { failed, open, row } from "./memory.js";
import { FAMILIES, line, reasons } from "./words.js";

const PAGE = 40;

export async function show(place, { agent, id, query, character, signal }) {
  let asked = query.get("q") ?? "", order = query.get("order") ?? "when", offset = 0, limit = PAGE;
  let busy = false, stale = false;
  const search = el("input", { type: "search", id: "search", value: asked, autocomplete: "off", maxlength: 200,
    placeholder: "a dog, a storm, a promise …",
    input: () => { asked = search.value.trim(); offset = 0; limit = PAGE; read(); },
    change: () => history.replaceState(null, "", address()) });
  const sort = el("select", { id: "order", change: () => { order = sort.value; offset = 0; read(); } },
    new Option("latest first", "when"), new Option("most important first", "importance"));
  sort.value = order;
  const found = el("p", { class: "quiet", role: "status" });
  const strip = el("div", { class: "strip" });
  const list = el("ol", { class: "memories" });
  const pages = el("p", { class: "actions" });
  place.replaceChildren(
    el("h1", { tabindex: -1 }, `What ${character.name} remembers`),
    el("form", { role: "search", class: "search", submit: (event) => event.preventDefault() },
      el("span", {}, el("label", { for: "search" }, "Search by words and meaning"), search),
      el("span", {}, el("label", { for: "order" }, "Sorted by"), sort)),
    el("p", { class: "families" }, FAMILIES.map((family) => feeling({ feeling: family, family })),
      el("span", { class: "quiet" }, "bigger means more important")),
    strip, found, list, pages);
  await read();
  await moved({ id });
  return { moved, refresh: read, focus: () => search.focus() };

  function address(entry = "") {
    const given = new URLSearchParams({ ...(asked && { q: asked }), ...(order !== "when" && { order }) });
    return `#/timeline/${agent}${entry && `/${entry}`}${given.size ? `?${given}` : ""}`;
  }

  /** Show the memory in the address, if any. */
  async function moved(where) {
    const dialog = document.getElementById("memory");
    if (!where.id) return dialog.close();
    const left = () => location.hash.startsWith(`#/timeline/${agent}/`) && (location.hash = address());
    await open(agent, where.id, address, left).catch((problem) => (failed(problem), left()));
  }

  /** Read what is asked for now. One request at a time, so a fast typist waits for two at most. */
  async function read() {
    stale = true;
    if (busy) return;
    busy = true;
    try {
      while (stale && !signal.aborted) {
        stale = false;
        await (asked ? recall() : browse());
      }
    } catch (problem) {
      if (!signal.aborted) found.textContent = problem.message;
    } finally {
      busy = false;
    }
  }

  async function recall() {
    const words = asked;
    const { memories } = await of(agent, "recall", { query: { query: words, limit }, signal });
    if (words !== asked) return;
    draw(memories.map(({ entry, why, score }) => [entry, `${score.toFixed(2)}: ${reasons(why)}`]));
    found.textContent = memories.length ? `${memories.length} found, best first` : "Nothing found.";
    sort.disabled = true;
    pages.replaceChildren(memories.length < limit ? "" : button("More", () => { limit += PAGE; read(); }));
  }

  async function browse() {
    const query = { everything: true, order, limit: PAGE, offset };
    const { entries, total, hidden } = await of(agent, "memory/browse", { query, signal });
    draw(entries.map((entry) => [entry, ""]));
    const last = offset + entries.length;
    found.textContent = (total ? `${offset + 1} to ${last} of ${total}` : "Nothing yet.")
      + (hidden ? `; ${hidden} you may not read` : "");
    sort.disabled = false;
    const turn = (by) => async () => {
      offset = Math.max(offset + by, 0);
      await read();
      found.scrollIntoView();
    };
    pages.replaceChildren(button("‹ newer", turn(-PAGE), { disabled: !offset }),
      button("older ›", turn(PAGE), { disabled: last >= total }));
  }

  function draw(rows) {
    list.replaceChildren(...rows.map(([entry, more]) => row(agent, entry, address(entry.id), more)));
    strip.replaceChildren(rows.length > 1 ? picture(rows.map(([entry]) => entry), strip.clientWidth) : "");
  }
}

/** The same memories at a glance: time from left to right, pleasant above, painful below. */
function picture(entries, width) {
  const height = 120;
  const rising = [...entries].sort((a, b) => a.id - b.id);
  const dots = rising.map((entry, at) => svg("circle", {
    cx: 20 + (at * (width - 40)) / (rising.length - 1), cy: height / 2 - (entry.affect?.valence ?? 0) * 44,
    r: 3 + 9 * entry.importance, class: entry.family,
  }, svg("title", {}, `${entry.feeling}: ${line(entry)}`)));
  return svg("svg", { viewBox: `0 0 ${width} ${height}`, "aria-hidden": "true" },
    svg("line", { x1: 0, x2: width, y1: height / 2, y2: height / 2 }), dots);
}
