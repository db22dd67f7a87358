/** Services that whoever serves this page offers to play with, as the gateway sees them. Empty: there is none. */
export interface Demo {
  echo: string;
  http: string;
  source: string;
  sink: string;
}

/** Reads the `demo.json` beside the page. A page without one is no error: then people enter destinations of their own. */
export async function loadDemo(): Promise<Demo> {
  const offered = await fetch("./demo.json").then(
    (response): unknown => (response.ok ? response.json().catch(() => undefined) : undefined),
    () => undefined,
  );
  const text = (name: string): string => {
    const value: unknown = isObject(offered) ? offered[name] : undefined;
    return typeof value === "string" ? value : "";
  };
  return { echo: text("echo"), http: text("http"), source: text("source"), sink: text("sink") };
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null;
}
