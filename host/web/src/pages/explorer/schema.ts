// JSON schemas, as forms need them.
export interface Schema {
  type?: string;
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  enum?: (string | number)[];
  minimum?: number;
  maximum?: number;
  minLength?: number;
  maxLength?: number;
  description?: string;
  default?: unknown;
  anyOf?: Schema[];
  oneOf?: Schema[];
  allOf?: Schema[];
  $ref?: string;
  readOnly?: boolean;
  format?: string;
  example?: unknown;
  minItems?: number;
}

export type Defs = Record<string, Schema>;

export function resolved(s: Schema, defs: Defs): Schema {
  let out = s;
  for (let i = 0; out.$ref && i < 20; i++)
    out = defs[decodeURIComponent(out.$ref.split('/').pop()!)] ?? {};
  if (out.allOf)
    out = out.allOf
      .map(a => resolved(a, defs))
      .reduce((a, b) => ({ ...a, ...b, properties: { ...a.properties, ...b.properties } }), out);
  return out;
}

/** initial is the value that a form begins with: what is required, empty. */
export function initial(schema: Schema, defs: Defs, depth = 0): unknown {
  const s = resolved(schema, defs);
  if (s.default !== undefined) return undefined;
  if (s.properties && depth < 4)
    return Object.fromEntries(
      Object.entries(s.properties)
        .filter(
          ([k, p]) => s.required?.includes(k) || (depth === 0 && resolved(p, defs).properties),
        )
        .map(([k, p]) => [k, initial(p, defs, depth + 1)]),
    );
  return s.type === 'array' ? [] : undefined;
}

/** clean leaves out what was not filled in. */
export function clean(v: unknown): unknown {
  if (Array.isArray(v)) return v.map(clean).filter(x => x !== undefined);
  if (v && typeof v === 'object')
    return Object.fromEntries(
      Object.entries(v)
        .map(([k, x]) => [k, clean(x)])
        .filter(([, x]) => x !== undefined && !(Array.isArray(x) && !x.length)),
    );
  return v === '' ? undefined : v;
}

export const bounds = (s: Schema) =>
  [
    s.minimum !== undefined || s.maximum !== undefined
      ? `${s.minimum ?? ''}..${s.maximum ?? ''}`
      : '',
    s.maxLength !== undefined ? `${s.minLength ?? 0}..${s.maxLength} characters` : '',
  ]
    .filter(Boolean)
    .join(', ');
