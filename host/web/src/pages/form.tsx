// A form from a JSON schema: what may be written, with types, ranges, choices and what is required.
import { useId } from 'preact/hooks';

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
type Defs = Record<string, Schema>;

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

const bounds = (s: Schema) =>
  [
    s.minimum !== undefined || s.maximum !== undefined
      ? `${s.minimum ?? ''}..${s.maximum ?? ''}`
      : '',
    s.maxLength !== undefined ? `${s.minLength ?? 0}..${s.maxLength} characters` : '',
  ]
    .filter(Boolean)
    .join(', ');

interface Props {
  schema: Schema;
  defs: Defs;
  value: unknown;
  onChange: (v: unknown) => void;
  path: string;
  name?: string;
  required?: boolean;
  fault: string;
  faultText: string;
  depth?: number;
}

export function Form(p: Props) {
  const s = resolved(p.schema, p.defs),
    id = useId(),
    depth = p.depth ?? 0;
  const hit =
    p.fault !== '' &&
    p.path !== '' &&
    (p.fault === p.path ||
      p.fault.replace(/\[[^\]]*\]|=[^/]*/g, '').replace(/[a-z0-9-]+:/gi, '') ===
        p.path.replace(/[a-z0-9-]+:/gi, ''));
  const label = p.name && (
    <>
      {p.name}
      {p.required && <span aria-hidden="true"> *</span>}{' '}
      <small class="soft">
        {[s.enum ? 'one of' : (s.type ?? (s.anyOf ? 'text or number' : '')), bounds(s)]
          .filter(Boolean)
          .join(' ')}
      </small>
    </>
  );
  const note = (
    <>
      {hit && (
        <small class="bad" role="alert">
          {p.faultText}
        </small>
      )}
      {s.description && (
        <small class="soft" id={id + 'd'}>
          {s.description}
        </small>
      )}
    </>
  );
  if (depth > 8) return <p class="soft">Deeper parts are written as JSON.</p>;
  if (s.properties) {
    const value = (p.value && typeof p.value === 'object' ? p.value : {}) as Record<
        string,
        unknown
      >,
      parts = Object.entries(s.properties).filter(([, c]) => !c.readOnly);
    const inner = parts.map(([k, c]) => (
      <Form
        key={k}
        schema={c}
        defs={p.defs}
        name={k}
        required={s.required?.includes(k) ?? false}
        value={value[k]}
        path={p.path ? p.path + '/' + k : k}
        fault={p.fault}
        faultText={p.faultText}
        depth={depth + 1}
        onChange={v => p.onChange({ ...value, [k]: v })}
      />
    ));
    return p.name ? (
      <fieldset>
        <legend>{label}</legend>
        {note}
        {p.value === undefined && !p.required && depth > 1 ? (
          <button type="button" class="plain" onClick={() => p.onChange({})}>
            Add {p.name}
          </button>
        ) : (
          inner
        )}
      </fieldset>
    ) : (
      <>{inner}</>
    );
  }
  if (s.type === 'array') {
    const list = Array.isArray(p.value) ? (p.value as unknown[]) : [];
    return (
      <fieldset>
        <legend>{label}</legend>
        {note}
        {list.map((v, i) => (
          <div class="item" key={i}>
            <Form
              schema={s.items ?? {}}
              defs={p.defs}
              name={`${i + 1}`}
              value={v}
              path={p.path}
              fault={p.fault}
              faultText={p.faultText}
              depth={depth + 1}
              onChange={x => p.onChange(list.map((o, k) => (k === i ? x : o)))}
            />
            <button
              type="button"
              class="plain"
              aria-label={`Remove ${p.name} ${i + 1}`}
              onClick={() => p.onChange(list.filter((_, k) => k !== i))}
            >
              ✕
            </button>
          </div>
        ))}
        <button
          type="button"
          class="plain"
          onClick={() =>
            p.onChange([...list, resolved(s.items ?? {}, p.defs).properties ? {} : undefined])
          }
        >
          Add {p.name}
        </button>
      </fieldset>
    );
  }
  const number = s.type === 'integer' || s.type === 'number',
    common = {
      id,
      'aria-describedby': s.description ? id + 'd' : undefined,
      'aria-invalid': hit || undefined,
      name: p.path,
    };
  const set = (text: string) =>
    p.onChange(
      text === ''
        ? undefined
        : number && Number.isFinite(Number(text))
          ? Number(text)
          : s.anyOf && /^-?\d+$/.test(text) && s.anyOf.some(a => a.type === 'integer')
            ? Number(text)
            : text,
    );
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {s.type === 'boolean' ? (
        <select
          {...common}
          value={p.value === undefined ? '' : String(p.value)}
          onChange={e =>
            p.onChange(e.currentTarget.value === '' ? undefined : e.currentTarget.value === 'true')
          }
        >
          <option value="">
            {s.default === undefined ? 'not given' : `as by default: ${String(s.default)}`}
          </option>
          <option>true</option>
          <option>false</option>
        </select>
      ) : s.enum ? (
        <select
          {...common}
          value={p.value === undefined ? '' : String(p.value)}
          onChange={e => p.onChange(e.currentTarget.value || undefined)}
        >
          <option value="">
            {s.default === undefined ? 'not given' : `as by default: ${String(s.default)}`}
          </option>
          {s.enum.map(v => (
            <option key={String(v)}>{String(v)}</option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          list={/^node-?id$/i.test(p.name ?? '') && number ? 'switches' : undefined}
          type={/password/i.test(p.name ?? '') ? 'password' : 'text'}
          autocomplete="off"
          inputMode={number ? 'numeric' : undefined}
          value={
            p.value === undefined || p.value === null
              ? ''
              : typeof p.value === 'object'
                ? JSON.stringify(p.value)
                : String(p.value)
          }
          placeholder={s.default !== undefined ? `as by default: ${String(s.default)}` : ''}
          onInput={e => set(e.currentTarget.value)}
        />
      )}
      {note}
    </div>
  );
}
