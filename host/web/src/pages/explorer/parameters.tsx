// The parameters of an operation in its address.
import { Entry } from './document';
import { isSecretName } from './secrets';

type Parameter = Entry['parameters'][number];

interface FieldProps {
  p: Parameter;
  value: string;
  missing: boolean;
  onChange: (v: string) => void;
}

/** ParameterField takes the value of one parameter. */
function ParameterField({ p, value, missing, onChange }: FieldProps) {
  const id = 'p-' + p.name;
  return (
    <div class="field">
      <label for={id}>
        {p.name}
        {(p.required || p.in === 'path') && ' *'}{' '}
        <small class="soft">
          {p.in}
          {p.schema?.type && `, ${p.schema.type}`}
        </small>
      </label>
      {p.schema?.enum ? (
        <select id={id} name={p.name} value={value} onChange={e => onChange(e.currentTarget.value)}>
          <option value="">not given</option>
          {p.schema.enum.map(v => (
            <option key={String(v)}>{String(v)}</option>
          ))}
        </select>
      ) : (
        <input
          id={id}
          name={p.name}
          type={isSecretName(p.name) ? 'password' : 'text'}
          value={value}
          aria-invalid={missing}
          onInput={e => onChange(e.currentTarget.value)}
        />
      )}
      {missing ? (
        <small class="bad" role="alert">
          This needs a value.
        </small>
      ) : (
        p.description && <small class="soft">{p.description}</small>
      )}
    </div>
  );
}

/** Parameters takes the values of the parameters in the path and the query. */
export function Parameters({
  entry,
  values,
  missing,
  onChange,
}: {
  entry: Entry;
  values: Record<string, string>;
  missing: string;
  onChange: (values: Record<string, string>) => void;
}) {
  return (
    <>
      {entry.parameters
        .filter(p => p.in !== 'header')
        .map(p => (
          <ParameterField
            key={p.name}
            p={p}
            value={values[p.name] ?? ''}
            missing={missing === p.name}
            onChange={v => onChange({ ...values, [p.name]: v })}
          />
        ))}
    </>
  );
}
