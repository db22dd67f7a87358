/** Escape sequences of terminals: colours, cursor movements, titles. This view has none of these. */
const ESCAPE_SEQUENCES = /\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\^_])/g;
const CONTROL_CHARACTERS = /[\0-\x08\x0b-\x1f\x7f]/g;

/** Received text as it can be shown: no escape sequences, and other control characters as their pictures. */
export function printable(text: string): string {
  return text
    .replace(ESCAPE_SEQUENCES, "")
    .replace(/\r\n?/g, "\n")
    .replace(CONTROL_CHARACTERS, (character) => {
      const code = character.charCodeAt(0);
      return String.fromCharCode(code === 0x7f ? 0x2421 : 0x2400 + code);
    });
}
