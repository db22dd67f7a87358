// Builds `dist` from the TypeScript sources and from what muxgate-bindgen wrote into `src/generated`.
//
// `cargo xtask npm` runs this. The wasm file is shrunk here, and its size is checked.

import { execFileSync } from "node:child_process";
import { createHash } from "node:crypto";
import { copyFileSync, existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { gzipSync } from "node:zlib";

const MAX_BYTES = 100_000;
const MAX_GZIPPED = 45_000;

// Stripping drops the module's own record of what it needs.
const FEATURES = [
  "bulk-memory", "reference-types", "multivalue", "mutable-globals", "sign-ext", "nontrapping-float-to-int",
];

process.chdir(new URL("..", import.meta.url).pathname);
rmSync("dist", { recursive: true, force: true });
mkdirSync("dist/generated", { recursive: true });

const wasm = optimised("src/generated/muxgate_bg.wasm");
writeFileSync("dist/muxgate.wasm", wasm);
writeFileSync("src/generated/base64.js", `export const base64 = "${wasm.toString("base64")}";\n`);
writeFileSync("src/generated/base64.d.ts", "export declare const base64: string;\n");
for (const file of ["muxgate.js", "muxgate.d.ts", "base64.js", "base64.d.ts"]) {
  copyFileSync(`src/generated/${file}`, `dist/generated/${file}`);
}
run("node_modules/.bin/tsc", []);
for (const file of ["LICENSE-MIT", "LICENSE-APACHE"]) copyFileSync(`../../${file}`, file);

const gzipped = gzipSync(wasm, { level: 9 });
console.log(`muxgate.wasm: ${kilobytes(wasm)} KB, ${kilobytes(gzipped)} KB gzipped`);
if (wasm.length > MAX_BYTES || gzipped.length > MAX_GZIPPED) {
  const excuse = process.env.MUXGATE_LARGER_BECAUSE;
  console.error(`more than ${MAX_BYTES / 1000} KB (${MAX_GZIPPED / 1000} KB gzipped): ${excuse || "find out what grew"}`);
  // A machine that cannot build the small one can still test with a larger one.
  if (!excuse) process.exit(1);
}

/** The file, smaller. It takes seconds, so the result is kept. */
function optimised(input) {
  const options = ["-Oz", "--strip-debug", "--strip-producers", ...FEATURES.map((feature) => `--enable-${feature}`)];
  const key = createHash("sha256").update(readFileSync(input)).update(options.join()).digest("hex");
  const output = `node_modules/.cache/muxgate/${key}.wasm`;
  if (!existsSync(output)) {
    mkdirSync("node_modules/.cache/muxgate", { recursive: true });
    run("node_modules/.bin/wasm-opt", [...options, input, "-o", output]);
  }
  return readFileSync(output);
}

function run(program, args) {
  execFileSync(program, args, { stdio: "inherit" });
}

function kilobytes(data) {
  return (data.length / 1000).toFixed(1);
}
