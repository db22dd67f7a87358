/** One line of a dump. */
export interface HexRow {
  offset: string;
  hex: string;
  ascii: string;
}

/**
 * The bytes in rows of `columns`, as `hexdump -C` has them.
 * @param start Offset of the first byte in everything that was received.
 */
export function hexRows(bytes: Uint8Array, start: number, columns: number): HexRow[] {
  const rows: HexRow[] = [];
  for (let at = 0; at < bytes.length; at += columns) {
    const row = [...bytes.subarray(at, at + columns)];
    const hex = row.map(
      (byte, index) => `${index > 0 && index % 8 === 0 ? " " : ""}${byte.toString(16).padStart(2, "0")}`,
    );
    rows.push({
      offset: (start + at).toString(16).padStart(8, "0"),
      hex: hex.join(" ").padEnd(columns * 3 - 1 + Math.floor((columns - 1) / 8)),
      ascii: row.map((byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : "·")).join(""),
    });
  }
  return rows;
}
