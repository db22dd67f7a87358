import assert from "node:assert/strict";
import { test } from "node:test";

import { parseAddress } from "../src/tunnel/address.ts";

test("names, IPv4 and IPv6 addresses, with or without a scheme", () => {
  assert.deepEqual(parseAddress("db.internal:5432"), { hostname: "db.internal", port: 5432 });
  assert.deepEqual(parseAddress(" tcp://127.0.0.1:22 "), { hostname: "127.0.0.1", port: 22 });
  assert.deepEqual(parseAddress("[2001:db8::7]:22"), { hostname: "2001:db8::7", port: 22 });
});

test("what is no destination is refused with an example", () => {
  assert.throws(() => parseAddress(""), /Enter a destination/);
  for (const text of ["host", "host:", ":22", "host:0", "host:65536", "::1:22", "http://host:80", "host:22/path"]) {
    assert.throws(() => parseAddress(text), /should look like/, text);
  }
});
