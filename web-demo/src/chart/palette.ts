/**
 * The colour of one transfer among several: neighbours differ in hue and a little in lightness, and all together run
 * from teal over blue to pink, so that a stack of them looks like one thing cut into even slices.
 */
export function flowColour(index: number, count: number): string {
  const hue = 180 + (170 * index) / Math.max(count - 1, 1);
  const lightness = index % 2 === 0 ? 68 : 74;
  return `oklch(${lightness}% 0.14 ${hue.toFixed(0)})`;
}

const resolved = new Map<string, string>();

/** A colour of the style sheet as the canvas takes it: with the theme applied. */
export function themeColour(name: string): string {
  const known = resolved.get(name);
  if (known !== undefined) return known;
  const probe = document.body;
  probe.style.color = `var(${name})`;
  const colour = getComputedStyle(probe).color;
  probe.style.color = "";
  resolved.set(name, colour);
  return colour;
}

/** The theme has changed. */
export function forgetColours(): void {
  resolved.clear();
}
