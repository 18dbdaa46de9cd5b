// One operation: its form, its request and the answer.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Fault, faultFrom } from '../../core/api';
import { to } from '../../core/route';
import { Long } from './answer';
import { Body } from './body';
import { Document, Entry } from './document';
import { Parameters } from './parameters';
import { Answer, Operation, missingOf, operationOf, sendRequest, urlOf } from './request';
import { Requests, Sent, remember } from './requests';
import { clean, initial } from './schema';
import {
  Secrets,
  isSecretName,
  keptText,
  textWithSecrets,
  textWithoutSecrets,
  withSecrets,
  withoutSecrets,
  writeText,
} from './secrets';
import { Request, snippet } from './snippet';
import { Choice, Failure, Mark, Outcome, useAct } from '../../core/ui';

/** masked are values of parameters without those that are secret. */
const masked = (values: Record<string, string>) =>
  Object.fromEntries(Object.entries(values).filter(([name]) => !isSecretName(name)));

/** useBody holds the body of a request as a form or as text; no text that is shown has secrets. */
function useBody(o: Operation, doc: Document, earlier: Sent | undefined) {
  const [value, setValue] = useState<unknown>(() =>
      o.schema ? initial(o.schema, doc.components?.schemas ?? {}) : undefined,
    ),
    [raw, setRaw] = useState<string | null>(earlier?.body || null),
    secrets = useRef<Secrets>(new Map());
  const filled = value === undefined ? undefined : (clean(value) ?? {});
  const text = raw ?? (filled === undefined ? '' : writeText(withoutSecrets(filled), o.isForm));
  return {
    value,
    raw,
    text,
    setValue: (v: unknown) => setValue(withSecrets(v, secrets.current)),
    setRaw: (t: string | null) => {
      if (raw === null) withoutSecrets(filled, secrets.current);
      setRaw(t);
    },
    /** hideSecrets takes the secrets out of a text that was typed. */
    hideSecrets: () => setRaw(raw && textWithoutSecrets(raw, o.isForm, secrets.current)),
    /** whole is the body as it is sent. */
    whole: () => {
      if (raw !== null) return textWithSecrets(raw, o.isForm, secrets.current);
      return filled === undefined ? '' : writeText(filled, o.isForm);
    },
  };
}

/** AnswerPart shows what the controller answered. */
function AnswerPart({ answer, file }: { answer: Answer; file: string }) {
  return (
    <section aria-label="Answer" data-status={answer.status}>
      <p role="status">
        <Mark tone={answer.status < 400 ? 'good' : 'bad'}>{answer.status}</Mark> in {answer.took} ms
        {answer.fault?.message && `: ${answer.fault.message}`}{' '}
        {answer.fault?.path && <code class="wrap">{answer.fault.path}</code>}
      </p>
      <Long text={answer.text} whole={answer.whole} file={file} />
      <details>
        <summary>Headers</summary>
        <pre class="code">{answer.headers}</pre>
      </details>
    </section>
  );
}

/** Snippet shows the request in a language, to be copied. */
function Snippet({ request }: { request: Request }) {
  const [language, setLanguage] = useState('curl'),
    copy = useAct(),
    text = snippet(language, request);
  const copyText = async () => {
    await navigator.clipboard.writeText(text);
    return 'Copied.';
  };
  return (
    <>
      <div class="row">
        <Choice
          label="This request in"
          value={language}
          options={[
            ['curl', 'a shell'],
            ['python', 'Python'],
            ['go', 'Go'],
          ]}
          onChange={setLanguage}
        />
        <button type="button" class="plain" onClick={() => copy.run(copyText)}>
          Copy
        </button>
      </div>
      <Outcome act={copy} />
      <pre class="code" tabIndex={0} data-testid="snippet">
        {text}
      </pre>
    </>
  );
}

/** useSending sends a request and holds its answer; a new one ends the one before. */
function useSending() {
  const [answer, setAnswer] = useState<Answer | null>(null),
    [error, setError] = useState<Fault | null>(null),
    [busy, setBusy] = useState(false),
    source = useRef<AbortController | null>(null);
  useEffect(() => () => source.current?.abort(), []);
  const stop = () => {
    source.current?.abort();
    setBusy(false);
  };
  const start = async (run: (signal: AbortSignal, show: (a: Answer) => void) => Promise<void>) => {
    const now = new AbortController();
    source.current?.abort();
    source.current = now;
    setBusy(true);
    setError(null);
    setAnswer(null);
    try {
      await run(now.signal, setAnswer);
    } catch (x) {
      if (!now.signal.aborted) setError(faultFrom(x));
    } finally {
      if (source.current === now) setBusy(false);
    }
  };
  return { answer, error, busy, start, stop };
}

interface Props {
  e: Entry;
  other: string | undefined;
  doc: Document;
  earlier: Sent | undefined;
}

/** Try fills in one operation, sends it and shows the answer. */
export function Try({ e, other, doc, earlier }: Props) {
  const o = operationOf(e),
    body = useBody(o, doc, earlier),
    sending = useSending(),
    [values, setValues] = useState<Record<string, string>>(earlier?.values ?? {}),
    [missing, setMissing] = useState('');
  useEffect(() => {
    document.title = `${e.id} – API – ctl`;
  }, []);
  const keep = (status: number) =>
    remember({
      at: new Date().toISOString(),
      id: e.id,
      verb: e.verb,
      url: urlOf(e, masked(values)),
      values: masked(values),
      body: keptText(body.text, o.isForm),
      status,
    });
  const submit = () => {
    const name = missingOf(e, values) ?? '';
    setMissing(name);
    if (name) {
      document.querySelector<HTMLInputElement>(`[name="${name}"]`)?.focus();
      return;
    }
    void sending.start((signal, show) =>
      sendRequest(o, urlOf(e, values), body.whole(), signal, show, keep),
    );
  };
  const request: Request = {
    verb: e.verb,
    url: location.origin + urlOf(e, masked(values)),
    body: e.verb === 'GET' ? '' : body.text,
    type: o.type,
    stream: o.stream,
  };
  return (
    <form
      onSubmit={x => {
        x.preventDefault();
        submit();
      }}
      onKeyDown={x => {
        if (x.key === 'Enter' && (x.ctrlKey || x.metaKey)) {
          x.preventDefault();
          submit();
        }
      }}
    >
      <h2 class="wrap">
        <b class={'verb ' + e.verb.toLowerCase()}>{e.verb}</b> {e.path}
      </h2>
      <p>{e.op.description ?? e.op.summary}</p>
      {other && (
        <p class="small">
          The same at <a href={to(['api', other])}>{other.replace(/^\w+ /, '')}</a>
        </p>
      )}
      <Parameters entry={e} values={values} missing={missing} onChange={setValues} />
      {o.schema && (
        <Body
          schema={o.schema}
          defs={doc.components?.schemas ?? {}}
          isForm={o.isForm}
          value={body.value}
          raw={body.raw}
          text={body.text}
          fault={sending.answer?.fault}
          onValue={body.setValue}
          onRaw={body.setRaw}
          onTyped={body.hideSecrets}
        />
      )}
      <p class="actions">
        <button disabled={sending.busy && !o.stream}>Send</button>
        {sending.busy && o.stream && (
          <button type="button" class="plain" onClick={sending.stop}>
            Stop
          </button>
        )}
        <small class="soft">Ctrl+Enter</small>
      </p>
      {sending.error && <Failure error={sending.error} />}
      {sending.answer && (
        <AnswerPart answer={sending.answer} file={e.verb === 'GET' ? urlOf(e, values) : ''} />
      )}
      <Snippet request={request} />
      <Requests />
    </form>
  );
}
