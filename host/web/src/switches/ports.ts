// Names and numbers of ports, as people write them.
import { RowOf } from '../api/rows';
import { Fault } from '../core/api';

/** spans writes ports as 1-4, 7. */
export function spans(list: number[] = []): string {
  const out: string[] = [],
    p = [...list].sort((a, b) => a - b);
  for (let i = 0; i < p.length; i++) {
    const from = p[i]!;
    while (p[i + 1] === p[i]! + 1) i++;
    out.push(from === p[i] ? `${from}` : `${from}-${p[i]}`);
  }
  return out.join(', ');
}

/** namedSpans writes names of ports that end with a number as eth1-4, 7; port1 is port 1. */
export function namedSpans(list: string[] = []): string {
  const by = new Map<string, number[]>(),
    other: string[] = [];
  for (const p of list) {
    const m = /^(.*?)(\d+)$/.exec(p);
    if (m) by.set(m[1]!, [...(by.get(m[1]!) ?? []), Number(m[2])]);
    else other.push(p);
  }
  return [
    ...[...by].map(([prefix, n]) => (prefix === 'port' ? '' : prefix) + spans(n)),
    ...other,
  ].join(', ');
}

/** shortPort is the name of a port in a column of ports, and after the word port. */
export const shortPort = (name: string): string => name.replace(/^port(?=\d+$)/, '');

/** portsOf reads 1-4, 7; it throws what is wrong in words. */
export function portsOf(text: string): number[] {
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .flatMap(part => {
      const m = /^(\d+)(?:-(\d+))?$/.exec(part),
        from = Number(m?.[1]),
        end = Number(m?.[2] ?? m?.[1]);
      if (!m || from < 1 || end < from || end - from > 4096)
        throw new Fault(400, `“${part}” is no port: write ports as 1-4, 7`);
      return Array.from({ length: end - from + 1 }, (_, i) => from + i);
    });
}

/** SwitchPort is a port as its switch reports it. */
export type SwitchPort = RowOf<'switch:ports', 'entry'>;

/** Rate is what a port has sent and received in the last two readings. */
export type Rate = RowOf<'switch:counters', 'entry'>;
