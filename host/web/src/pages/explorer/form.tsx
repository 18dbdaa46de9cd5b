// A form from a JSON schema.
import { ComponentChildren } from 'preact';
import { useId } from 'preact/hooks';
import { Defs, Schema, bounds, resolved } from './schema';
import { isSecretName } from './secrets';

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

/** Part is a field or group with its schema, label and note. */
interface Part {
  p: Props;
  s: Schema;
  id: string;
  hit: boolean;
  depth: number;
  label: ComponentChildren;
  note: ComponentChildren;
}

/** withoutModules is a path without the names of modules. */
const withoutModules = (path: string) => path.replace(/[a-z0-9-]+:/gi, '');

/** isAtFault reports whether a fault is about the field of a path. */
function isAtFault(p: Props): boolean {
  if (!p.fault || !p.path) return false;
  const at = p.fault.replace(/\[[^\]]*\]|=[^/]*/g, '');
  return p.fault === p.path || withoutModules(at) === withoutModules(p.path);
}

/** kindOf says in a label what a field takes. */
function kindOf(s: Schema): string {
  if (s.enum) return 'one of';
  return s.type ?? (s.anyOf ? 'text or number' : '');
}

/** Label names a field, and says what it takes. */
function Label({ p, s }: { p: Props; s: Schema }) {
  if (!p.name) return null;
  return (
    <>
      {p.name}
      {p.required && <span aria-hidden="true"> *</span>}{' '}
      <small class="soft">{[kindOf(s), bounds(s)].filter(Boolean).join(' ')}</small>
    </>
  );
}

/** Note is what the controller refused at a field, and its description. */
function Note({ p, s, id, hit }: { p: Props; s: Schema; id: string; hit: boolean }) {
  return (
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
}

/** Form is the field, or the group of fields, of a schema. */
export function Form(p: Props) {
  const s = resolved(p.schema, p.defs),
    id = useId(),
    depth = p.depth ?? 0,
    hit = isAtFault(p),
    part: Part = {
      p,
      s,
      id,
      hit,
      depth,
      label: <Label p={p} s={s} />,
      note: <Note p={p} s={s} id={id} hit={hit} />,
    };
  if (depth > 8) return <p class="soft">Deeper parts are written as JSON.</p>;
  if (s.properties) return <Group {...part} />;
  return s.type === 'array' ? <List {...part} /> : <Field {...part} />;
}

/** Group is the fields of a container; one that is optional is added by a press. */
function Group({ p, s, depth, label, note }: Part) {
  const value = (p.value && typeof p.value === 'object' ? p.value : {}) as Record<string, unknown>,
    parts = Object.entries(s.properties ?? {}).filter(([, c]) => !c.readOnly);
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
  if (!p.name) return <>{inner}</>;
  const absent = p.value === undefined && !p.required && depth > 1;
  return (
    <fieldset>
      <legend>{label}</legend>
      {note}
      {absent ? (
        <button type="button" class="plain" onClick={() => p.onChange({})}>
          Add {p.name}
        </button>
      ) : (
        inner
      )}
    </fieldset>
  );
}

/** List is the entries of a list; one adds and removes them. */
function List({ p, s, depth, label, note }: Part) {
  const list = Array.isArray(p.value) ? (p.value as unknown[]) : [];
  const added = resolved(s.items ?? {}, p.defs).properties ? {} : undefined;
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
      <button type="button" class="plain" onClick={() => p.onChange([...list, added])}>
        Add {p.name}
      </button>
    </fieldset>
  );
}

const isNumber = (s: Schema) => s.type === 'integer' || s.type === 'number';

/** valueOf is what a text in a field means: a number where the schema takes one. */
function valueOf(s: Schema, text: string): unknown {
  if (text === '') return undefined;
  if (isNumber(s)) return Number.isFinite(Number(text)) ? Number(text) : text;
  const maybe = s.anyOf?.some(a => a.type === 'integer') && /^-?\d+$/.test(text);
  return maybe ? Number(text) : text;
}

/** shownValue is how a value is written in a field. */
function shownValue(v: unknown): string {
  if (v === undefined || v === null) return '';
  return typeof v === 'object' ? JSON.stringify(v) : String(v);
}

/** Field is one value: a choice where there are few, else a text. */
function Field(part: Part) {
  const { p, s, id, hit, label, note } = part;
  const common = {
    id,
    'aria-describedby': s.description ? id + 'd' : undefined,
    'aria-invalid': hit || undefined,
    name: p.path,
  };
  const byDefault = s.default === undefined ? '' : `as by default: ${String(s.default)}`,
    choices = s.type === 'boolean' ? ['true', 'false'] : s.enum?.map(String),
    valueOfChoice = (text: string) => (s.type === 'boolean' ? text === 'true' : text);
  return (
    <div class="field">
      <label for={id}>{label}</label>
      {choices ? (
        <select
          {...common}
          value={shownValue(p.value)}
          onChange={e => {
            const text = e.currentTarget.value;
            p.onChange(text === '' ? undefined : valueOfChoice(text));
          }}
        >
          <option value="">{byDefault || 'not given'}</option>
          {choices.map(v => (
            <option key={v}>{v}</option>
          ))}
        </select>
      ) : (
        <input
          {...common}
          list={/^node-?id$/i.test(p.name ?? '') && isNumber(s) ? 'switches' : undefined}
          type={s.format === 'password' || isSecretName(p.name ?? '') ? 'password' : 'text'}
          autocomplete={isSecretName(p.name ?? '') ? 'new-password' : 'off'}
          inputMode={isNumber(s) ? 'numeric' : undefined}
          value={shownValue(p.value)}
          placeholder={byDefault}
          onInput={e => p.onChange(valueOf(s, e.currentTarget.value))}
        />
      )}
      {note}
    </div>
  );
}
