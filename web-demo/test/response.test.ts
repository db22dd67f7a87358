import assert from "node:assert/strict";
import { describe, test } from "node:test";

import { HttpError } from "../src/http/error.ts";
import { ResponseReader } from "../src/http/response.ts";

const encoder = new TextEncoder();

interface Outcome {
  reader: ResponseReader;
  body: string;
}

/** Feeds a response in pieces of `piece` bytes, then the end of the connection if asked to. */
function read(response: string, piece = Infinity, end = true): Outcome {
  const bytes = encoder.encode(response);
  const decoder = new TextDecoder();
  const outcome = { body: "" } as Outcome;
  outcome.reader = new ResponseReader((content) => (outcome.body += decoder.decode(content, { stream: true })));
  for (let at = 0; at < bytes.length; at += piece) outcome.reader.push(bytes.subarray(at, at + piece));
  if (end) outcome.reader.end();
  return outcome;
}

function refused(response: string, message: RegExp): void {
  assert.throws(
    () => read(response),
    (error: unknown) => error instanceof HttpError && message.test(error.message),
  );
}

const CHUNKED =
  "HTTP/1.1 200 OK\r\nTransfer-Encoding: Chunked\r\n\r\n" +
  "5\r\nhello\r\n7;name=value\r\n, world\r\n1 \r\n!\r\n0\r\nTrailer: x\r\n\r\n";

describe("head", () => {
  test("status line and fields", () => {
    const { reader } = read(
      "HTTP/1.1 404 Not Found\r\nServer: x\r\nX-Empty:\r\nServer:\ty \r\nContent-Length: 0\r\n\r\n",
    );
    assert.equal(reader.head?.statusLine, "HTTP/1.1 404 Not Found");
    assert.equal(reader.head?.get("server"), "x, y");
    assert.equal(reader.head?.get("x-empty"), "");
    assert.equal(reader.head?.get("absent"), undefined);
  });

  test("no reason, bare line feeds and folded lines are borne", () => {
    const { reader } = read("HTTP/1.0 200\nX: a\n  b\nContent-Length: 0\n\n");
    assert.equal(reader.head?.statusLine, "HTTP/1.0 200");
    assert.equal(reader.head?.get("x"), "a b");
  });

  test("bytes beyond ASCII are kept one by one", () => {
    const bytes = Uint8Array.from(encoder.encode("HTTP/1.1 200 ?\r\nContent-Length: 0\r\n\r\n"), (byte) =>
      byte === 0x3f ? 0x80 : byte,
    );
    const reader = new ResponseReader(() => undefined);
    reader.push(bytes);
    assert.equal(reader.head?.reason, "\u0080");
  });

  test("informational responses are passed over", () => {
    const { reader, body } = read(
      "HTTP/1.1 103 Early Hints\r\nLink: x\r\n\r\nHTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok",
      3,
    );
    assert.equal(reader.head?.status, 200);
    assert.equal(reader.head?.get("link"), undefined);
    assert.equal(body, "ok");
  });

  test("what is not HTTP is refused, in a sentence", () => {
    refused("SSH-2.0-OpenSSH_9.6\r\n", /does not speak HTTP\/1\.1: .*SSH-2\.0/);
    refused("HTTP/2 200\r\n\r\n", /does not speak/);
    refused("HTTP/1.1 200 OK\r\nno colon\r\n\r\n", /header field/);
    refused("HTTP/1.1 200 OK\r\nName : x\r\n\r\n", /header field/);
    refused("HTTP/1.1 200 OK\r\nA: b\rc\r\n\r\n", /carriage return/);
    refused("HTTP/1.1 101 Switching Protocols\r\n\r\n", /another protocol/);
    refused(`HTTP/1.1 200 ${"x".repeat(20_000)}`, /line of more than/);
    refused(`HTTP/1.1 200 OK\r\n${"A: b\r\n".repeat(300)}`, /header fields/);
  });

  test("an end before the head is said", () => {
    refused("", /without an answer/);
    refused("HTTP/1.1 200 OK\r\nContent-Len", /middle of the response's head/);
  });
});

describe("body", () => {
  test("of a known length, however it is cut", () => {
    for (const piece of [1, 2, 7, Infinity]) {
      const { reader, body } = read("HTTP/1.1 200 OK\r\nContent-Length: 12\r\n\r\nhello, world and more", piece, false);
      assert.equal(body, "hello, world");
      assert.equal(reader.length, 12);
      assert.ok(reader.complete);
    }
  });

  test("in chunks, however it is cut", () => {
    for (const piece of [1, 2, 3, 5, 11, Infinity]) {
      const { reader, body } = read(CHUNKED, piece, false);
      assert.equal(body, "hello, world!");
      assert.equal(reader.length, undefined);
      assert.ok(reader.complete);
    }
  });

  test("until the end of the connection", () => {
    const open = read("HTTP/1.1 200 OK\r\n\r\nall of it", 4, false);
    assert.ok(!open.reader.complete);
    open.reader.end();
    assert.ok(open.reader.complete);
    assert.equal(open.body, "all of it");
  });

  test("chunks count more than a length", () => {
    const both = CHUNKED.replace("\r\n\r\n", "\r\nContent-Length: 3\r\n\r\n");
    assert.equal(read(both).body, "hello, world!");
  });

  test("none after 204 and 304, whatever the head says", () => {
    assert.ok(read("HTTP/1.1 304 Not Modified\r\nContent-Length: 10\r\n\r\n", 5, false).reader.complete);
    assert.ok(read("HTTP/1.1 204 No Content\r\n\r\n", 5, false).reader.complete);
  });

  test("the same length twice is one length", () => {
    assert.equal(read("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 2\r\n\r\nok").body, "ok");
  });

  test("what contradicts itself is refused", () => {
    refused("HTTP/1.1 200 OK\r\nContent-Length: 2\r\nContent-Length: 3\r\n\r\nok", /lengths/);
    refused("HTTP/1.1 200 OK\r\nContent-Length: -2\r\n\r\nok", /lengths/);
    refused("HTTP/1.1 200 OK\r\nContent-Length: 0x2\r\n\r\nok", /lengths/);
    refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", /transfer coding/);
    refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n-1\r\n", /without a size/);
    refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1\r\nab\r\n", /longer than/);
    refused(`HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n${"f".repeat(13)}\r\n`, /without a size/);
  });

  test("an early end is said", () => {
    refused("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhel", /2 bytes too early/);
    refused("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nhel", /chunked body/);
  });
});
