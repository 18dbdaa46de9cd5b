// The body of a request: as a form, or as text.
import { useState } from 'preact/hooks';
import { Fault } from '../../core/api';
import { Form } from './form';
import { Defs, Schema } from './schema';
import { readText } from './secrets';

interface Props {
  schema: Schema;
  defs: Defs;
  isForm: boolean;
  value: unknown;
  /** The text that is edited, without secrets; null while the form is. */
  raw: string | null;
  /** The body as text, without secrets. */
  text: string;
  fault: Fault | undefined;
  onValue: (v: unknown) => void;
  onRaw: (text: string | null) => void;
  /** The text is complete: its secrets are taken out of it. */
  onTyped: () => void;
}

/** Body takes the body of a request; one goes from the form to its text and back. */
export function Body(p: Props) {
  const [invalid, setInvalid] = useState(false);
  const showForm = () => {
    if (p.raw === null) return;
    try {
      p.onValue(readText(p.raw || '{}', p.isForm));
      p.onRaw(null);
      setInvalid(false);
    } catch {
      setInvalid(true);
    }
  };
  return (
    <>
      <p class="bar">
        <button type="button" class="plain" aria-pressed={p.raw === null} onClick={showForm}>
          Form
        </button>
        <button
          type="button"
          class="plain"
          aria-pressed={p.raw !== null}
          onClick={() => p.onRaw(p.text)}
        >
          {p.isForm ? 'Text' : 'JSON'}
        </button>
      </p>
      {invalid && (
        <p class="bad" role="alert">
          The text is not valid JSON: correct it first.
        </p>
      )}
      {p.raw === null ? (
        <Form
          schema={p.schema}
          defs={p.defs}
          value={p.value}
          onChange={p.onValue}
          path=""
          fault={p.fault?.path.replace(/^\/?([\w-]+:)?input/, 'input') ?? ''}
          faultText={p.fault?.message ?? ''}
        />
      ) : (
        <textarea
          aria-label="Body"
          spellcheck={false}
          value={p.raw}
          onInput={e => p.onRaw(e.currentTarget.value)}
          onBlur={p.onTyped}
        />
      )}
    </>
  );
}
