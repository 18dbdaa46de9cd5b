// The form of an operation: its fields, the question before it, and what it answers.
import { useId, useState } from 'preact/hooks';
import { Choice, Field, Outcome, Table, useAct } from '../../core/ui';
import {
  Document,
  Field as Input,
  Operation,
  Numbered,
  PluginPage,
  cellOf,
  format,
  inputOf,
  member,
  numbered,
  perform,
  valuesAt,
} from './schema';

/** Entry is a field of a form, of the kind that the type of its leaf asks for. */
function Entry({
  f,
  value,
  known,
  onInput,
}: {
  f: Input;
  value: string;
  known: string[];
  onInput: (v: string) => void;
}) {
  const id = useId(),
    label = f.title + (f.unit ? ` (${f.unit})` : ''),
    hint = [
      f.help?.replace(/\s+/g, ' '),
      f.default && `${f.default} if empty`,
      f.several && 'several: separated by commas',
      f.type === 'json' && 'as JSON',
    ]
      .filter(Boolean)
      .join(' · ');
  const choices = {
    choice: f.values ?? [],
    boolean: ['true', 'false'],
    empty: ['true'],
  }[f.type as string];
  if (choices && !f.several)
    return (
      <Choice
        label={label + (f.required ? ' *' : '')}
        value={value}
        options={[
          ['', f.required ? 'choose' : '–'],
          ...choices.map((v): [string, string] => [v, v]),
        ]}
        onChange={onInput}
      />
    );
  return (
    <>
      <Field
        label={label}
        hint={hint}
        required={f.required ?? false}
        type={f.secret ? 'password' : f.type === 'number' && !f.several ? 'number' : 'text'}
        autocomplete={f.secret ? 'new-password' : 'off'}
        min={f.min}
        max={f.max}
        minLength={f.shortest}
        maxLength={f.longest}
        list={known.length ? id : undefined}
        value={value}
        onInput={e => onInput(e.currentTarget.value)}
      />
      {known.length > 0 && (
        <datalist id={id}>
          {known.map(v => (
            <option key={v} value={v} />
          ))}
        </datalist>
      )}
    </>
  );
}

/** Answer is what an operation has answered: its values, and its lists as tables. */
export function Answer({ o, output }: { o: Operation; output: Document }) {
  const values = o.values.filter(c => member(output, c.key) !== undefined);
  return (
    <>
      {values.length > 0 && (
        <dl class="values">
          {values.map(c => (
            <div key={c.key}>
              <dt>{c.title}</dt>
              <dd>{format(c, member(output, c.key))}</dd>
            </div>
          ))}
        </dl>
      )}
      {o.tables.map(t => (
        <Table
          key={t.path.join('/')}
          name={t.title}
          rows={numbered(output, t)}
          id={r => String(r.at)}
          columns={t.columns.map(c => ({
            name: c.title,
            text: (r: Numbered) => format(c, cellOf(c, r.row)),
            right: c.right ?? false,
          }))}
        />
      ))}
    </>
  );
}

/** Form calls an operation with what is typed, after the question that it asks for. */
export function Form({
  o,
  page,
  documents,
  onDone,
}: {
  o: Operation;
  page: PluginPage;
  documents: Record<string, unknown>;
  onDone: () => void;
}) {
  const act = useAct(),
    [typed, setTyped] = useState<Record<string, string>>({}),
    [sure, setSure] = useState(false),
    [output, setOutput] = useState<Document | null>(null);
  const send = () =>
    act.run(async () => {
      setOutput(null);
      const got = await perform(o, inputOf(o.fields, typed));
      setTyped(t =>
        Object.fromEntries(
          Object.entries(t).filter(([name]) => !o.fields.find(f => f.name === name)?.secret),
        ),
      );
      setOutput(got);
      onDone();
      return o.readOnly ? '' : `${o.title}: done.`;
    });
  return (
    <div class="card">
      <h3>{o.title}</h3>
      {o.help && <p class="soft">{o.help.replace(/\s+/g, ' ')}</p>}
      <form
        inert={sure} // what is asked about is what is sent
        onSubmit={e => {
          e.preventDefault();
          if (o.confirm) setSure(true);
          else send();
        }}
      >
        <div class="row">
          {o.fields.map(f => (
            <Entry
              key={f.name}
              f={f}
              value={typed[f.name] ?? ''}
              known={valuesAt(f, page, documents)}
              onInput={v => setTyped({ ...typed, [f.name]: v })}
            />
          ))}
        </div>
        <p class="actions">
          <button disabled={act.busy}>{o.readOnly ? 'Show' : o.title}</button>
        </p>
      </form>
      <Outcome act={act} />
      {output && <Answer o={o} output={output} />}
      {sure && (
        <div class="note warn" role="alert">
          <p>{o.confirm}</p>
          <button
            class="danger"
            onClick={() => {
              setSure(false);
              send();
            }}
          >
            Yes
          </button>{' '}
          <button class="plain" onClick={() => setSure(false)}>
            No
          </button>
        </div>
      )}
    </div>
  );
}
