// Debian's Chromium, driven by Playwright.

import { chromium } from "playwright-core";

/** Without the things that a browser does for people and by itself. */
const ARGUMENTS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync",
];

export function startBrowser() {
  return chromium.launch({
    executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
    args: ARGUMENTS,
  });
}

/** Memory of all pages' processes that is their own, in bytes. */
export async function pageMemory(browser) {
  const session = await browser.newBrowserCDPSession();
  const { processInfo } = await session.send("SystemInfo.getProcessInfo");
  await session.detach();
  const { readFile } = await import("node:fs/promises");
  const pages = processInfo.filter(({ type }) => type === "renderer");
  const sizes = await Promise.all(
    pages.map(async ({ id }) => {
      const status = await readFile(`/proc/${id}/status`, "utf8");
      return Number(/^RssAnon:\s+(\d+) kB$/m.exec(status)[1]) * 1024;
    }),
  );
  return sizes.reduce((sum, size) => sum + size, 0);
}
