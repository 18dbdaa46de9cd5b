// Data of a page: loaded, kept while it is loaded again, stale when that fails.
import { useCallback, useEffect, useRef, useState } from 'preact/hooks';
import { Fault, faultFrom } from './api';

export interface Data<T> {
  value?: T;
  error?: Fault;
  at?: Date;
  loading: boolean;
  reload: () => void;
}

/**
 * useData loads what a page shows, again when a dependency changes or reload is called. A failure
 * keeps the old value.
 */
export function useData<T>(load: (signal: AbortSignal) => Promise<T>, deps: unknown[]): Data<T> {
  const [state, set] = useState<{
    value?: T;
    error?: Fault;
    at?: Date;
    loading: boolean;
    key: string;
  }>({ loading: true, key: '' });
  const [turn, again] = useState(0);
  const key = JSON.stringify(deps),
    latest = useRef(load);
  latest.current = load;
  useEffect(() => {
    const stop = new AbortController();
    set(s => (s.key === key ? { ...s, loading: true } : { loading: true, key }));
    latest.current(stop.signal).then(
      value => {
        if (!stop.signal.aborted) set({ value, at: new Date(), loading: false, key });
      },
      (e: unknown) => {
        if (!stop.signal.aborted) set(s => ({ ...s, loading: false, error: faultFrom(e) }));
      },
    );
    return () => stop.abort();
  }, [key, turn]);
  const reload = useCallback(() => again(t => t + 1), []);
  // What another key had is not drawn for a moment.
  return state.key === key ? { ...state, reload } : { loading: true, reload };
}

/**
 * useSeldom is a value that changes at most once in so many seconds. A change is seen at once, what
 * follows soon when the time is over.
 */
export function useSeldom<T>(value: T, seconds: number): T {
  const [seen, see] = useState(value),
    [rests, rest] = useState(false);
  useEffect(() => {
    if (rests || seen === value) return;
    see(value);
    rest(true);
  }, [value, seen, rests]);
  useEffect(() => {
    if (!rests) return;
    const t = setTimeout(() => rest(false), seconds * 1000);
    return () => clearTimeout(t);
  }, [rests, seconds]);
  return seen;
}

/** useTick draws again every few seconds, for ages. */
export function useTick(seconds: number): void {
  const [, set] = useState(0);
  useEffect(() => {
    const t = setInterval(() => set(x => x + 1), seconds * 1000);
    return () => clearInterval(t);
  }, [seconds]);
}

/** age says how long ago a time is, in one word for the browser. */
export function age(t: string | Date | undefined): string {
  if (!t) return '';
  const s = Math.max(0, Math.round((Date.now() - new Date(t).getTime()) / 1000));
  if (s < 60) return `${s}\u00a0s\u00a0ago`;
  if (s < 3600) return `${Math.floor(s / 60)}\u00a0min\u00a0ago`;
  if (s < 86400) return `${Math.floor(s / 3600)}\u00a0h\u00a0ago`;
  return `${Math.floor(s / 86400)}\u00a0d\u00a0ago`;
}

/**
 * stamp writes a time as logs do, in the zone of the browser: it sorts as text, and is the same in
 * every language.
 */
export function stamp(t: string | Date | undefined): string {
  if (!t) return '';
  const d = new Date(t);
  const join = (parts: number[], by: string) => parts.map(n => String(n).padStart(2, '0')).join(by);
  const day = join([d.getFullYear(), d.getMonth() + 1, d.getDate()], '-');
  return `${day} ${join([d.getHours(), d.getMinutes(), d.getSeconds()], ':')}`;
}

/** count writes a number of things: 1 row, 2 rows. */
export const count = (n: number, one: string, many = one + 's'): string =>
  `${n.toLocaleString('en')} ${n === 1 ? one : many}`;

/** mac writes a MAC address that the API has as a number. */
export function mac(n: number | string | undefined): string {
  if (n === undefined || n === '') return '';
  return BigInt(n).toString(16).padStart(12, '0').match(/../g)!.join(':');
}

/**
 * macNumber reads a MAC address as the API writes it; undefined if the text is not a MAC address.
 */
export function macNumber(text: string): number | undefined {
  const hex = text.trim().replace(/[:.-]/g, '');
  return /^[0-9a-f]{12}$/i.test(hex) ? parseInt(hex, 16) : undefined;
}

export function download(name: string, type: string, content: BlobPart): void {
  const a = document.createElement('a');
  a.href = URL.createObjectURL(new Blob([content], { type }));
  a.download = name;
  a.click();
  setTimeout(() => URL.revokeObjectURL(a.href), 10_000);
}

const formula = /^[=+\-@\t\r]/,
  decimal = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i;

/**
 * csv writes rows. Cells that a spreadsheet would run as a formula get a ' before them, as in the
 * CSV of the console.
 */
export function csv(rows: (string | number)[][]): string {
  const cell = (v: string | number) => {
    let s = String(v ?? '');
    if (formula.test(s) && !decimal.test(s)) s = "'" + s;
    return /[",\r\n]/.test(s) ? '"' + s.replace(/"/g, '""') + '"' : s;
  };
  return rows.map(r => r.map(cell).join(',')).join('\n') + '\n';
}
