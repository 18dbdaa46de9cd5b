// Names as people read them.
/** natural orders names as people do: port2 before port10. */
const collator = new Intl.Collator('en', { numeric: true });

export const natural = (a: string, b: string): number => collator.compare(a, b);

/** printable shows characters that would turn or hide text as escapes: names come from devices. */
export function printable(s: string): string {
  return s
    .slice(0, 500)
    .replace(
      /[\u0000-\u001f\u007f-\u009f\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g,
      c => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'),
    );
}
