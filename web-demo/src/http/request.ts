import { InputError } from "../tunnel/address.ts";

/** A GET: where it goes and what is sent. */
export interface Request {
  hostname: string;
  port: number;
  head: Uint8Array<ArrayBuffer>;
}

/** The request for a URL that a person typed; `http://` may be left out. */
export function requestFor(text: string): Request {
  const url = parse(text.trim());
  if (url.protocol === "https:") {
    throw new InputError("This demo does not do TLS inside of the tunnel. Enter a URL that begins with http://.");
  }
  if (url.protocol !== "http:") throw new InputError(`This demo fetches http:// URLs, not ${url.protocol}//.`);
  if (url.username !== "" || url.password !== "") {
    throw new InputError("Leave user name and password out of the URL: this demo does not send them.");
  }
  const lines = [
    `GET ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    "Accept: */*",
    // The digest is to be that of the file, and nothing here unpacks.
    "Accept-Encoding: identity",
    "Connection: close",
    "User-Agent: muxgate-web-demo",
  ];
  return {
    hostname: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? 80 : Number(url.port),
    head: new TextEncoder().encode(`${lines.join("\r\n")}\r\n\r\n`),
  };
}

function parse(text: string): URL {
  if (text === "") throw new InputError("Enter the URL to fetch, such as http://example.org/.");
  try {
    return new URL(/^[a-z][a-z0-9+.-]*:\/\//i.test(text) ? text : `http://${text}`);
  } catch {
    throw new InputError(`“${text.slice(0, 80)}” is not a URL. It should look like http://host:port/path.`);
  }
}
