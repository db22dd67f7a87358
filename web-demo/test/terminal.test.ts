import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { hexRows } from "../src/terminal/hexdump.ts";
import { printable } from "../src/terminal/printable.ts";
import { Transcript } from "../src/terminal/transcript.ts";

function bytes(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

test("a dump has offsets, bytes and characters, and its last row is as wide as the others", () => {
  const [first, last] = hexRows(bytes("hello, world\r\n\0~x"), 0x20, 16);
  assert.deepEqual(first, {
    offset: "00000020",
    hex: "68 65 6c 6c 6f 2c 20 77  6f 72 6c 64 0d 0a 00 7e",
    ascii: "hello, world···~",
  });
  assert.equal(last?.offset, "00000030");
  assert.equal(last?.hex.trimEnd(), "78");
  assert.equal(last?.hex.length, first?.hex.length);
});

test("text is shown without escape sequences, and with pictures of other control characters", () => {
  assert.equal(printable("\x1b[1;31mred\x1b[0m\r\nnext\rline"), "red\nnext\nline");
  assert.equal(printable("\x1b]0;title\x07x\x1b]8;;y\x1b\\z"), "xz");
  assert.equal(printable("a\tb\0\x7f"), "a\tb␀␡");
});

describe("transcript", () => {
  test("keeps a character that came in two pieces", () => {
    const transcript = new Transcript();
    const umlaut = bytes("ü");
    transcript.received(umlaut.subarray(0, 1));
    transcript.received(umlaut.subarray(1));
    assert.deepEqual(transcript.entries, [{ kind: "received", bytes: umlaut }]);
  });

  test("keeps the order of what was said", () => {
    const transcript = new Transcript();
    transcript.sent("question");
    transcript.received(bytes("answer"));
    transcript.note("closed");
    assert.deepEqual(
      transcript.entries.map(({ kind }) => kind),
      ["sent", "received", "note"],
    );
  });

  test("drops the oldest bytes, and knows how many", () => {
    const transcript = new Transcript();
    transcript.received(new Uint8Array(20_000).fill(1));
    transcript.sent("more");
    transcript.received(new Uint8Array(20_000).fill(2));
    assert.equal(transcript.bytes().length, 32 * 1024);
    assert.equal(transcript.dropped, 40_000 - 32 * 1024);
    assert.equal(transcript.bytes().at(-20_001), 1);
    transcript.received(new Uint8Array(1_000_000).fill(3));
    assert.ok(transcript.bytes().every((byte) => byte === 3));
    assert.equal(transcript.dropped, 1_040_000 - 32 * 1024);
  });

  test("does not change with the buffer that was read into", () => {
    const transcript = new Transcript();
    const buffer = bytes("first");
    transcript.received(buffer);
    buffer.fill(0);
    assert.deepEqual(transcript.bytes(), bytes("first"));
  });

  test("counts on after it was cleared", () => {
    const transcript = new Transcript();
    transcript.received(bytes("four"));
    transcript.clear();
    transcript.received(bytes("five!"));
    assert.equal(transcript.dropped, 4);
    assert.deepEqual(transcript.bytes(), bytes("five!"));
  });
});
