// The real gateway, as a process.

import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

/** Those that run: none may outlive the tests. */
const children = new Set();
process.once("exit", () => children.forEach((child) => child.kill("SIGKILL")));

const BINARY = process.env.MUXGATE_BIN ?? fileURLToPath(new URL("../../../target/debug/muxgate", import.meta.url));

/** Starts a gateway on `port` (0: a free one), for pages of `origin`, with more arguments of `serve`. */
export async function startGateway({ origin, port = 0, args = [] }) {
  const listen = ["serve", "--listen", `ws://127.0.0.1:${port}`, "--allow", "127.0.0.1", "--allow", "*.invalid"];
  const origins = origin ? ["--allow-origin", origin] : [];
  return start([...listen, ...origins, ...args]);
}

/** Starts `muxgate demo` on a free port. */
export function startDemo() {
  return start(["demo", "--listen", "ws://127.0.0.1:0"]);
}

async function start(args) {
  const gateway = new Gateway(spawn(BINARY, args, { stdio: ["ignore", "ignore", "pipe"] }));
  gateway.url = await gateway.listening();
  return gateway;
}

class Gateway {
  #child;
  #log = [];

  constructor(child) {
    this.#child = child;
    children.add(child);
    child.once("exit", () => children.delete(child));
  }

  get port() {
    return Number(new URL(this.url).port);
  }

  /** Memory that is its own, in bytes. */
  get memory() {
    const status = readFileSync(`/proc/${this.#child.pid}/status`, "utf8");
    return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)[1]) * 1024;
  }

  /** Ends it as Ctrl-C does; resolves with its exit code and the last line that it wrote. */
  async interrupt() {
    this.#child.kill("SIGINT");
    const [code] = await once(this.#child, "close");
    return { code, last: this.#log.at(-1) };
  }

  /** Ends it without a word to anybody. */
  async kill() {
    if (this.#child.exitCode !== null || this.#child.signalCode !== null) return;
    this.#child.kill("SIGKILL");
    await once(this.#child, "exit");
  }

  /** Resolves with the URL that it prints when it is ready. */
  listening() {
    return new Promise((resolve, reject) => {
      createInterface(this.#child.stderr).on("line", (line) => {
        this.#log.push(line);
        const url = /listening on (ws:\S+)/.exec(line)?.[1];
        if (url) resolve(url);
      });
      this.#child.once("exit", () => reject(new Error(`the gateway ended:\n${this.#log.join("\n")}`)));
      this.#child.once("error", reject);
    });
  }
}
