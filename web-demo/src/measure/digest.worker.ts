import { sha256 } from "@noble/hashes/sha2.js";
import { bytesToHex } from "@noble/hashes/utils.js";

const hash = sha256.create();

addEventListener("message", ({ data }: MessageEvent<Uint8Array | "finish">) => {
  if (data === "finish") return postMessage(bytesToHex(hash.digest()));
  hash.update(data);
  postMessage(data.byteLength);
});
