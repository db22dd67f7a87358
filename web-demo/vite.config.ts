import { gzipSync } from "node:zlib";

import { type Plugin, defineConfig } from "vite";

/** A gateway and its demo services to develop against: `MUXGATE_URL=http://127.0.0.1:7171 npm run dev`. */
const gateway = process.env["MUXGATE_URL"] ?? "http://127.0.0.1:7171";

/** What the page may do. wasm needs a word of its own; the gateway may be anywhere. */
const policy = [
  "default-src 'none'",
  "script-src 'self' 'wasm-unsafe-eval'",
  "worker-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self' ws: wss:",
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");

/** Puts the policy into the built page only: the development server injects styles of its own. */
const contentSecurityPolicy: Plugin = {
  name: "content-security-policy",
  apply: "build",
  transformIndexHtml: () => [
    { tag: "meta", attrs: { "http-equiv": "Content-Security-Policy", content: policy }, injectTo: "head-prepend" },
  ],
};

/** Prints what a visitor's browser loads in all. */
const totalSize: Plugin = {
  name: "total-size",
  apply: "build",
  writeBundle(_, bundle) {
    const files = Object.values(bundle).map((file) => Buffer.from(file.type === "chunk" ? file.code : file.source));
    const kilobytes = (sizes: number[]): string => (sizes.reduce((sum, size) => sum + size, 0) / 1000).toFixed(1);
    const [plain, zipped] = [files.map((file) => file.length), files.map((file) => gzipSync(file).length)];
    this.info(`the page has ${kilobytes(plain)} kB, gzipped ${kilobytes(zipped)} kB`);
  },
};

export default defineConfig({
  // Relative, so that the page works below any path.
  base: "./",
  plugins: [contentSecurityPolicy, totalSize],
  server: {
    proxy: { "/jet/jmux": { target: gateway, ws: true } },
    // The package lives beside this folder.
    fs: { allow: [".."] },
  },
});
