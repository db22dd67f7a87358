/** Numbers as people read them. Decimal for rates, as networks are sold; binary for memory. */

const RATE_UNITS = ["bit/s", "kbit/s", "Mbit/s", "Gbit/s", "Tbit/s"];
const SIZE_UNITS = ["B", "KiB", "MiB", "GiB", "TiB"];

/** A rate given in bits a second. */
export function rate(bits: number): string {
  return scaled(bits, 1000, RATE_UNITS);
}

/** A size given in bytes. */
export function size(bytes: number): string {
  return scaled(bytes, 1024, SIZE_UNITS);
}

/** A time given in milliseconds. */
export function duration(ms: number): string {
  if (!Number.isFinite(ms)) return "–";
  if (ms < 1000) return `${digits(ms)} ms`;
  if (ms < 60_000) return `${(ms / 1000).toFixed(1)} s`;
  const seconds = Math.round(ms / 1000);
  return `${Math.floor(seconds / 60)} min ${seconds % 60} s`;
}

/** The same without zeros at the end, for lines of an axis and numbers that are often round. */
export function short(format: (value: number) => string): (value: number) => string {
  return (value) => format(value).replace(/\.0+(?=\D|$)|(\.\d*[1-9])0+(?=\D|$)/, "$1");
}

/** A count with separators. */
export function count(number: number): string {
  return Math.round(number).toLocaleString("en");
}

/** Three significant digits at least, no exponent. */
export function digits(number: number): string {
  if (!Number.isFinite(number)) return "–";
  if (number >= 100 || number === 0) return number.toFixed(0);
  return number.toFixed(number >= 10 ? 1 : 2);
}

function scaled(number: number, base: number, units: readonly string[]): string {
  if (!Number.isFinite(number)) return "–";
  let step = 0;
  // 999.6 would be shown as 1000, so the next unit begins a little earlier.
  while (number >= base - 0.5 && step < units.length - 1) {
    number /= base;
    step += 1;
  }
  return `${step === 0 ? number.toFixed(0) : digits(number)} ${units[step] ?? ""}`;
}
