// `muxgate demo`, and its page in a browser.

import http from "node:http";

import { startDemo } from "./gateway.mjs";

/** What went wrong in a page without anybody asking: errors, exceptions, breaches of the content security policy. */
export async function watch(page) {
  const faults = [];
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => ["error", "warning"].includes(message.type()) && faults.push(message.text()));
  page.on("response", (response) => response.status() >= 400 && faults.push(`${response.status()} ${response.url()}`));
  await page.exposeFunction("reportBreach", (directive) => faults.push(`breach of ${directive}`));
  await page.addInitScript(() =>
    addEventListener("securitypolicyviolation", ({ violatedDirective }) => reportBreach(violatedDirective)),
  );
  return faults;
}

/** A running demo: `origin` of its page, and the destinations that it offers. */
export async function demo() {
  const process = await startDemo();
  const origin = process.url.replace(/^ws/, "http");
  const offered = await fetch(`${origin}/demo.json`);
  return { process, origin, destinations: await offered.json() };
}

/** One request with headers that `fetch` does not let one choose. Resolves with the status, the headers and the body. */
export function request(origin, { path = "/", method = "GET", headers = {} }) {
  const { hostname, port } = new URL(origin);
  return new Promise((resolve, reject) => {
    const request = http.request({ hostname, port, path, method, headers, agent: false });
    request.on("response", async (response) => {
      const body = Buffer.concat(await response.toArray());
      resolve({ status: response.statusCode, headers: response.headers, body });
    });
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve({ status: response.statusCode, headers: response.headers });
    });
    request.on("error", reject);
    request.end();
  });
}
