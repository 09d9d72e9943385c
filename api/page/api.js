// The API as a browser uses it: requests with a token, errors in words, and the live stream.

/** Whatever went wrong: `message` says it in words. `status` is 0 where no server answered. */
export class Problem extends Error {
  constructor(status, message) {
    super(message);
    this.status = status;
  }
  /** Whether the same may go well in a moment. */
  get passing() {
    return [0, 429, 503].includes(this.status);
  }
}

/** Who sits here. The token lives as long as the tab, and in no address. */
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
    return this.rights?.user || `user_${this.name.toLowerCase().replaceAll(/\s+/g, "_")}`;
  },
  /** What `GET /api/whoami` answered. */
  rights: null,
  /** For whom a world's token reads; every other token reads for itself. */
  get behalf() {
    return this.rights?.role === "world" ? `user_${this.name.toLowerCase().replaceAll(/\s+/g, "_")}` : "";
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

/** Something of a character: `of("servnak", "memory/stats")`. */
export const of = (agent, path = "", options = {}) =>
  ask(`/api/agents/${encodeURIComponent(agent)}${path && `/${path}`}`, options);

/** A key under which something is said once, however often it is sent. */
export const newKey = () =>
  [...crypto.getRandomValues(new Uint8Array(12))].map((byte) => byte.toString(16).padStart(2, "0")).join("");

const PAUSES = [0.5, 1, 2, 4, 8, 15];

/**
 * The live stream of one character. Its events: "message" (`detail` is what the server sent), "lost" when
 * the connection is, "back" when it is there again and all is best read anew, "refused" where the token is.
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

  /** Do not wait any longer before the next try. */
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
      if (socket !== this.#socket) return; // another one took its place
      const pause = PAUSES[Math.min(this.#failed++, PAUSES.length - 1)];
      this.#tell("lost", { pause });
      // A little by chance, so that after a restart not all come at the same moment.
      this.#timer = setTimeout(() => this.#again(), pause * (750 + 500 * Math.random()));
    };
  }

  /** A browser does not say why a stream was refused, so the server is asked first. */
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
