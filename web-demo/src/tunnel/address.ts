/** Something that a person typed cannot be used. The message says what to type instead. */
export class InputError extends Error {
  override name = "InputError";
}

/** A TCP destination. */
export interface Address {
  hostname: string;
  port: number;
}

/** Reads `host:port` or `[IPv6]:port`; a `tcp://` before it is allowed. */
export function parseAddress(text: string): Address {
  const address = text.trim().replace(/^tcp:\/\//i, "");
  if (address === "") throw new InputError("Enter a destination as host:port, as the gateway sees it.");
  const match = /^(?:\[([^\]]+)\]|([^:[\]/\s]+)):(\d{1,5})$/.exec(address);
  const port = Number(match?.[3]);
  if (!match || port < 1 || port > 65535) {
    throw new InputError(
      `“${address.slice(0, 80)}” is no destination. It should look like db.internal:5432 or [2001:db8::7]:22.`,
    );
  }
  return { hostname: match[1] ?? match[2] ?? "", port };
}
