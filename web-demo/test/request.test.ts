import assert from "node:assert/strict";
import { test } from "node:test";

import { requestFor } from "../src/http/request.ts";

function head(url: string): string {
  return new TextDecoder().decode(requestFor(url).head);
}

test("the request names host and path as the URL does", () => {
  const request = requestFor("http://example.org:8080/a%20b?c=d#e");
  assert.equal(request.hostname, "example.org");
  assert.equal(request.port, 8080);
  assert.match(
    head("http://example.org:8080/a%20b?c=d#e"),
    /^GET \/a%20b\?c=d HTTP\/1\.1\r\nHost: example\.org:8080\r\n/,
  );
  assert.ok(head("http://example.org").endsWith("\r\n\r\n"));
});

test("scheme and port may be left out", () => {
  assert.equal(requestFor("example.org").port, 80);
  assert.equal(requestFor("127.0.0.1:8000/x").port, 8000);
});

test("an IPv6 host goes without brackets to the tunnel, and with them to the server", () => {
  assert.equal(requestFor("http://[::1]:8000/").hostname, "::1");
  assert.match(head("http://[::1]:8000/"), /Host: \[::1\]:8000\r\n/);
});

test("what cannot be fetched is refused with what to do", () => {
  assert.throws(() => requestFor(""), /Enter the URL/);
  assert.throws(() => requestFor("https://example.org/"), /begins with http:/);
  assert.throws(() => requestFor("ftp://example.org/"), /http:\/\/ URLs, not ftp:/);
  assert.throws(() => requestFor("http://"), /is not a URL/);
  assert.throws(() => requestFor("http://me:secret@example.org/"), /out of the URL/);
});
