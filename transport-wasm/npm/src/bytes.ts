const encoder = /* @__PURE__ */ new TextEncoder();

/** The bytes of what a page may write, where they lie; strings become UTF-8. */
export function toBytes(chunk: unknown): Uint8Array {
  if (chunk instanceof Uint8Array) return chunk;
  if (typeof chunk === "string") return encoder.encode(chunk);
  if (ArrayBuffer.isView(chunk)) return new Uint8Array(chunk.buffer, chunk.byteOffset, chunk.byteLength);
  // By name, so that buffers of other frames count too.
  if (Object.prototype.toString.call(chunk) === "[object ArrayBuffer]") return new Uint8Array(chunk as ArrayBuffer);
  throw new TypeError("only strings, ArrayBuffers and views of them can be written");
}

/** About how many bytes a chunk has, without touching it. */
export function sizeOf(chunk: BufferSource | string): number {
  return typeof chunk === "string" ? chunk.length : (chunk?.byteLength ?? 0);
}
