// What /web/schema says of a plugin, and how values of it are read and written.
import { call } from '../../core/api';
import { natural } from '../../core/text';

export interface Reference {
  plugin: string;
  tree: string;
  path: string;
  key: string;
}

export interface Column {
  key: string;
  title: string;
  unit?: string;
  format?: string;
  right?: boolean;
  above?: number;
  ref?: Reference;
}

export interface TableOf {
  title: string;
  help?: string;
  tree?: string;
  path: string[];
  columns: Column[];
}

export interface Field {
  name: string;
  title: string;
  help?: string;
  type: 'text' | 'number' | 'big' | 'boolean' | 'empty' | 'choice' | 'json';
  several?: boolean;
  values?: string[];
  pattern?: string;
  min?: string;
  max?: string;
  shortest?: number;
  longest?: number;
  default?: string;
  required?: boolean;
  secret?: boolean;
  unit?: string;
  ref?: Reference;
}

export interface Operation {
  module: string;
  name: string;
  title: string;
  help?: string;
  readOnly?: boolean;
  confirm?: string;
  fields: Field[];
  values: Column[];
  tables: TableOf[];
}

export interface PluginPage {
  plugin: string;
  tables: TableOf[];
  operations: Operation[];
  streams: string[];
}

export type Document = Record<string, unknown>;

/** member is the value of a node, whose name may have its module before it. */
export function member(o: unknown, name: string): unknown {
  if (typeof o !== 'object' || o === null) return undefined;
  const all = o as Document,
    key = name in all ? name : Object.keys(all).find(k => k.endsWith(':' + name));
  return key === undefined ? undefined : all[key];
}

/** A row is an entry of a list after those of the lists that it is in. */
export type Row = Document[];

/** rowsOf are the entries of a list of a document, wherever they are in it. */
export function rowsOf(document: unknown, table: TableOf): Row[] {
  let at: { lists: Row; now: unknown }[] = [{ lists: [], now: document }];
  for (const name of table.path)
    at = at.flatMap(({ lists, now }) => {
      const v = member(now, name);
      if (Array.isArray(v))
        return v.map(e => ({ lists: [...lists, e as Document], now: e as unknown }));
      return v === undefined ? [] : [{ lists, now: v }];
    });
  return at.filter(a => a.lists.length).map(a => a.lists);
}

/** A row with its place, by which a table distinguishes it from others. */
export interface Numbered {
  row: Row;
  at: number;
}

/** numbered are the rows of a table. */
export const numbered = (document: unknown, table: TableOf): Numbered[] =>
  rowsOf(document, table).map((row, at) => ({ row, at }));

/** cellOf is the value of a column in a row. */
export const cellOf = (c: Column, row: Row): unknown =>
  member(row[row.length - 1 - (c.above ?? 0)], c.key);

function scaled(n: number, step: number, units: string[]): string {
  let i = 0;
  while (Math.abs(n) >= step && i < units.length - 1) {
    n /= step;
    i++;
  }
  return `${n.toFixed(1).replace(/\.0$/, '')} ${units[i]}`;
}

function aged(n: number): string {
  const s = Math.floor(n);
  if (s >= 86400) return `${Math.floor(s / 86400)}d${Math.floor((s % 86400) / 3600)}h`;
  if (s >= 3600) return `${Math.floor(s / 3600)}h${Math.floor((s % 3600) / 60)}m`;
  return s >= 60 ? `${Math.floor(s / 60)}m${s % 60}s` : `${s}s`;
}

function macText(text: string): string {
  const hex = text.toLowerCase().replace(/[:.-]/g, '');
  return /^[0-9a-f]{12}$/.test(hex) ? hex.match(/../g)!.join(':') : text;
}

/** format writes a value as the console does, by the format and the unit of its column. */
export function format(c: Column, v: unknown): string {
  if (v === undefined || v === null) return '';
  if (Array.isArray(v)) return v.map(x => format(c, x)).join(' ');
  if (typeof v === 'object') return JSON.stringify(v);
  const text = String(v),
    n = Number(text);
  if (c.format === 'mac') return macText(text);
  if (text && !Number.isNaN(n)) {
    if (c.format === 'bytes') return scaled(n, 1024, ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB']);
    if (c.format === 'rate')
      return scaled(n, 1000, ['bit/s', 'kbit/s', 'Mbit/s', 'Gbit/s', 'Tbit/s']);
    if (c.format === 'percent') return text + ' %';
    if (c.format === 'age' && n >= 0) return aged(n);
  }
  return c.unit && text ? `${text} ${c.unit}` : text;
}

/** one is what a text means as a value of a field. */
function one(f: Field, text: string): unknown {
  if (f.type === 'number') {
    const n = Number(text);
    if (Number.isNaN(n)) throw new Error(`${f.title}: “${text}” is no number`);
    return n;
  }
  if (f.type === 'boolean') return text === 'true';
  if (f.type === 'empty') return [null];
  if (f.type !== 'json') return text;
  try {
    return JSON.parse(text) as unknown;
  } catch {
    throw new Error(`${f.title}: this is no JSON`);
  }
}

/** inputOf is the input that a form gives; what is left empty is left out. */
export function inputOf(fields: Field[], typed: Record<string, string>): Document {
  const input: Document = {};
  for (const f of fields) {
    const text = typed[f.name] ?? '';
    if (text === '') continue;
    input[f.name] = f.several ? text.split(',').map(t => one(f, t.trim())) : one(f, text);
  }
  return input;
}

/** nameOf is the name of an operation, which no operation of another module has. */
export const nameOf = (o: Operation): string => `${o.module}:${o.name}`;

/** perform calls an operation and returns its output. */
export async function perform(
  o: Operation,
  input: Document,
  signal?: AbortSignal,
): Promise<Document> {
  const answer = await call<Document | undefined>(`/rests/operations/${nameOf(o)}`, {
    method: 'POST',
    body: { [o.module + ':input']: input },
    ...(signal ? { signal, background: true } : {}),
  });
  return (member(answer, 'output') ?? {}) as Document;
}

/** valuesAt are the values that a leafref of a field may have. */
export function valuesAt(f: Field, page: PluginPage, documents: Record<string, unknown>): string[] {
  const table = page.tables.find(t => t.tree === f.ref?.tree && t.path.join('/') === f.ref?.path);
  if (!f.ref || !table) return [];
  const values = rowsOf(documents[f.ref.tree], table).map(r =>
    String(member(r[r.length - 1], f.ref!.key) ?? ''),
  );
  return [...new Set(values)].filter(Boolean).sort(natural);
}
