// The API for a browser: requests with a token, errors as messages, and the live stream.

/** An error, with a message for the user. `status` is 0 if no server answered. */
export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
  /** Whether trying again may help. */
  get passing() {
    return [0, 429, 503].includes(this.status);
  }
}

/** The user of this page. The token is kept until the tab is closed, and appears in no address. */
export const me = {
  get token() {
    return sessionStorage.getItem("noodlings.token") ?? "";
  },
  set token(token) {
    token ? sessionStorage.setItem("noodlings.token", token) : sessionStorage.removeItem("noodlings.token");
  },
  get name() {
    return localStorage.getItem("noodlings.name") || "Visitor";
  },
  set name(name) {
    localStorage.setItem("noodlings.name", name.trim());
  },
  get id() {
    return this.rights?.user || this.named;
  },
  /** The user id that belongs to the name. */
  get named() {
    return `user_${this.name.toLowerCase().replaceAll(/\s+/g, "_")}`;
  },
  /** The answer of `GET /api/whoami`. */
  rights: null,
  /** The user that a world's token reads for; every other token reads for itself. */
  get behalf() {
    return this.rights?.role === "world" ? this.named : "";
  },
};

/** One request; resolves with the JSON of the answer, rejects with a `Problem`. */
export async function ask(path, { method = "GET", body, key, query, signal, keepalive } = {}) {
  const headers = { Accept: "application/json" };
  if (me.token) headers.Authorization = `Bearer ${me.token}`;
  if (me.behalf) headers["Noodlings-User"] = encodeURIComponent(me.behalf);
  if (body) headers["Content-Type"] = "application/json";
  if (key) headers["Idempotency-Key"] = key;
  const given = Object.entries(query ?? {}).filter(([, value]) => value !== "" && value != null);
  const url = given.length ? `${path}?${new URLSearchParams(given)}` : path;
  let answer, said;
  try {
    answer = await fetch(url, { method, headers, body: body && JSON.stringify(body), signal, keepalive });
    said = await answer.json();
  } catch (error) {
    if (error.name === "AbortError") throw error;
    throw new Problem(answer?.status ?? 0, "The server does not answer. Check that it is running.");
  }
  if (!answer.ok) throw new Problem(answer.status, said.detail ?? said.title ?? `Error ${answer.status}.`);
  return said;
}

/** A request about a character, such as `of("servnak", "memory/stats")`. */
export const of = (agent, path = "", options = {}) =>
  ask(`/api/agents/${encodeURIComponent(agent)}${path && `/${path}`}`, options);

/** An idempotency key. */
export const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const PAUSES = [0.5, 1, 2, 4, 8, 15];

/**
 * The live stream of one character. Events: "message" (`detail` is what the server sent), "lost" and "back" for
 * the connection (after "back", read everything again), "refused" if the token is not valid.
 */
export class Live extends EventTarget {
  #socket = null;
  #agent = "";
  #failed = 0;
  #timer = 0;

  open(agent) {
    if (agent === this.#agent && this.#socket) return;
    this.close();
    this.#agent = agent;
    this.#connect();
  }

  close() {
    clearTimeout(this.#timer);
    const socket = this.#socket;
    this.#socket = null;
    this.#failed = 0;
    socket?.close();
  }

  /** Try again at once. */
  hurry() {
    if (!this.#failed) return;
    clearTimeout(this.#timer);
    this.#connect();
  }

  #connect() {
    const query = new URLSearchParams({ agent: this.#agent, ...(me.behalf && { user: me.behalf }) });
    const url = `${location.origin.replace("http", "ws")}/api/live?${query}`;
    const socket = new WebSocket(url, ["noodlings", ...(me.token ? [`bearer.${me.token}`] : [])]);
    this.#socket = socket;
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data);
      if (message.type === "snapshot" && this.#failed) {
        this.#failed = 0;
        this.#tell("back");
      }
      this.#tell("message", message);
    };
    socket.onclose = () => {
      if (socket !== this.#socket) return; // it was replaced
      const pause = PAUSES[Math.min(this.#failed++, PAUSES.length - 1)];
      this.#tell("lost", { pause });
      // Random, so that not all pages reconnect at the same moment after a restart.
      this.#timer = setTimeout(() => this.#again(), pause * (750 + 500 * Math.random()));
    };
  }

  /** A browser does not say why a stream was refused, so ask the server first. */
  async #again() {
    const socket = this.#socket;
    try {
      me.rights = await ask("/api/whoami");
    } catch (problem) {
      if (problem.status === 401) return this.#tell("refused");
    }
    if (socket === this.#socket) this.#connect();
  }

  #tell(what, detail) {
    this.dispatchEvent(new CustomEvent(what, { detail }));
  }
}
