// The API explorer: every operation with a form from its schema, the request, its answer and the same in a shell.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { call, Fault, faultFrom, send } from '../core/api';
import { count, download, natural, useData } from '../core/data';
import { go, route, setQuery, to } from '../core/route';
import { Choice, Empty, Failure, Loaded, Mark, Outcome, Search, Title, useAct } from '../core/ui';
import { Form, initial, Schema, clean } from './form';

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
  $ref?: string;
}
interface Operation {
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, { schema?: Schema }> };
  responses?: Record<string, { content?: Record<string, unknown> }>;
}
interface Document {
  paths: Record<string, Record<string, Operation> & { parameters?: Parameter[] }>;
  components?: { schemas?: Record<string, Schema>; parameters?: Record<string, Parameter> };
}
interface Entry {
  id: string;
  twin?: string;
  verb: string;
  path: string;
  op: Operation;
  group: string;
  parameters: Parameter[];
}

const verbs = ['get', 'post', 'put', 'patch', 'delete'] as const;

function entries(doc: Document): Entry[] {
  const out: Entry[] = [];
  for (const [path, item] of Object.entries(doc.paths))
    for (const verb of verbs) {
      const op = item[verb];
      if (!op) continue;
      const parameters = [...(item.parameters ?? []), ...(op.parameters ?? [])].map(p =>
        p.$ref ? (doc.components?.parameters?.[p.$ref.split('/').pop()!] ?? p) : p,
      );
      out.push({
        id: `${verb.toUpperCase()} ${path}`,
        verb: verb.toUpperCase(),
        path,
        op,
        group: op.tags?.[0] ?? '',
        parameters,
      });
    }
  // The same thing is at /restconf (RFC 8040 of before) and /rests: the list shows it once.
  const ids = new Set(out.map(e => e.id));
  for (const e of out) {
    const m = /^(\w+) \/rests\/(operations|data|streams)(.*)$/.exec(e.id),
      twin =
        m &&
        (m[2] === 'data' ? ['config', 'operational', 'data'] : [m[2]!])
          .map(k => `${m[1]} /restconf/${k}${m[3]}`)
          .find(i => ids.has(i));
    if (twin) e.twin = twin;
  }
  return out.sort((a, b) => natural(a.group, b.group) || natural(a.path, b.path));
}

/** Named is what a field offers: an id, and the name that people know it by. */
export interface Named {
  id: string;
  name: string;
}

export function ExplorerPage({ switches }: { switches: Named[] }) {
  const doc = useData(
      s => call<Document>('/apidoc/openapi.json', { signal: s, background: true }),
      [],
    ),
    id = route.value.path[1] ?? '',
    want = route.value.query.get('q') ?? '';
  return (
    <>
      <Title>API</Title>
      <Loaded data={doc}>
        {d => (
          <>
            <datalist id="switches">
              {switches.map(n => (
                <option key={n.id} value={n.id}>
                  {n.name}
                </option>
              ))}
            </datalist>
            <Explorer doc={d} id={id} want={want} />
          </>
        )}
      </Loaded>
    </>
  );
}

function Explorer({ doc, id, want }: { doc: Document; id: string; want: string }) {
  const all = useMemo(() => entries(doc), [doc]),
    w = want.toLowerCase().split(/\s+/).filter(Boolean),
    both = w.some(x => x.includes('rests')) || /^\w+ \/rests\//.test(id),
    shown = useMemo(
      () =>
        all.filter(e => {
          if (e.twin && !both) return false;
          const t = (e.id + ' ' + e.group + ' ' + (e.op.summary ?? '')).toLowerCase();
          return w.every(x => t.includes(x));
        }),
      [all, want, both],
    ),
    twins = useMemo(() => all.filter(e => e.twin).length, [all]),
    now = all.find(e => e.id === id),
    again = route.value.query.get('again') ?? '';
  const [top, setTop] = useState(0),
    box = useRef<HTMLDivElement>(null),
    [row, setRow] = useState(30),
    first = Math.max(0, Math.floor(top / row) - 5),
    part = shown.slice(first, first + 50);
  useEffect(() => {
    // a row is higher for fingers, and a window may become narrow
    const size = new ResizeObserver(() => {
      const li = box.current?.querySelector('li');
      if (li) setRow(li.offsetHeight);
    });
    if (box.current) size.observe(box.current);
    return () => size.disconnect();
  }, []);
  useEffect(() => {
    const i = shown.findIndex(e => e.id === id);
    if (
      box.current &&
      i >= 0 &&
      (i * row < box.current.scrollTop ||
        i * row > box.current.scrollTop + box.current.clientHeight - row)
    )
      box.current.scrollTop = Math.max(0, (i - 3) * row);
  }, [id, row]);
  const move = (e: KeyboardEvent) => {
    const step = { ArrowDown: 1, ArrowUp: -1 }[e.key],
      i = shown.findIndex(x => x.id === id),
      next =
        e.key === 'Home'
          ? 0
          : e.key === 'End'
            ? shown.length - 1
            : step === undefined
              ? -1
              : Math.max(0, Math.min(shown.length - 1, i + step));
    if (next >= 0 && shown[next]) {
      e.preventDefault();
      go(['api', shown[next]!.id], want ? { q: want } : {});
    }
  };
  return (
    <div class="two">
      <section class="card list" aria-label="Operations">
        <Search
          label="Find an operation"
          value={want}
          onInput={q => setQuery({ q })}
          onEnter={() => shown[0] && go(['api', shown[0].id], want ? { q: want } : {})}
        />
        <p class="soft" role="status">
          {shown.length < all.length - (both ? 0 : twins) && `${shown.length} of `}
          {count(all.length - (both ? 0 : twins), 'operation')}
          {twins > 0 && !both && <small>; {twins} are at /rests, too</small>}
        </p>
        <div
          ref={box}
          class="virtual"
          tabIndex={0}
          role="region"
          aria-label="List of operations; select with the arrow keys"
          onKeyDown={move}
          onScroll={e => setTop(e.currentTarget.scrollTop)}
        >
          <ul
            ref={e => {
              if (e) {
                e.style.height = shown.length * row + 'px';
              }
            }}
          >
            {part.map((e, i) => (
              <li
                key={e.id}
                ref={x => {
                  if (x) x.style.top = (first + i) * row + 'px';
                }}
              >
                <a
                  href={
                    '#/api/' +
                    encodeURIComponent(e.id) +
                    (want ? '?q=' + encodeURIComponent(want) : '')
                  }
                  aria-current={e.id === id ? 'true' : undefined}
                  title={e.id}
                  tabIndex={-1}
                >
                  <b class={'verb ' + e.verb.toLowerCase()}>{e.verb}</b>{' '}
                  {e.path.replace(/^\/restconf\/(operations\/)?/, '')}
                </a>
              </li>
            ))}
          </ul>
        </div>
        {!shown.length && <p class="soft">Nothing here matches “{want}”.</p>}
      </section>
      <section class="card detail" aria-label="Operation">
        {now ? (
          <Try
            key={now.id + again}
            e={now}
            earlier={past().find(s => s.at === again)}
            other={now.twin ?? all.find(e => e.twin === now.id)?.id}
            doc={doc}
          />
        ) : id ? (
          <Empty>There is no operation “{id}” here (any more).</Empty>
        ) : (
          <>
            <Empty>
              Select an operation. The list has the operations of the controller and of each plugin
              whose feature NAME-ui is installed, such as ctl-bier-channel-ui.
            </Empty>
            <Requests />
          </>
        )}
      </section>
    </div>
  );
}

interface Sent {
  at: string;
  id: string;
  verb: string;
  url: string;
  values: Record<string, string>;
  body: string;
  status: number;
}
const historyKey = 'ctl.requests',
  past = (): Sent[] => {
    try {
      return (JSON.parse(sessionStorage.getItem(historyKey) ?? '[]') as Sent[]).filter(s => s.id);
    } catch {
      return [];
    }
  };
function Requests() {
  const list = past();
  return list.length ? (
    <>
      <h2>Sent before</h2>
      <ul class="plainlist">
        {list.map(s => (
          <li key={s.at}>
            <Mark tone={s.status < 400 ? 'good' : 'bad'}>{s.status}</Mark>{' '}
            <a href={to(['api', s.id], { again: s.at })} title="Fill in the form with these values">
              <code class="wrap">
                {s.verb} {s.url} {s.body.slice(0, 120)}
              </code>
            </a>
          </li>
        ))}
      </ul>
    </>
  ) : null;
}

/** Of an answer so many characters are read, and so many shown at once. */
const mostRead = 5_000_000,
  part = 100_000;
/** readText reads the text of an answer, and whether that is all of it. */
async function readText(r: Response): Promise<{ text: string; whole: boolean }> {
  let text = '';
  const reader = r.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
    if (done) return { text, whole: true };
    text += value;
    if (text.length > mostRead) {
      await reader!.cancel();
      return { text: text.slice(0, mostRead), whole: false };
    }
  }
}

const shell = (s: string) => "'" + s.replace(/'/g, "'\\''") + "'";
function snippet(
  kind: string,
  verb: string,
  url: string,
  body: string,
  type: string,
  stream: boolean,
): string {
  const whole = location.origin + url;
  if (kind === 'python')
    return `import requests\nr = requests.request(${JSON.stringify(verb)}, ${JSON.stringify(whole)}, auth=("USER", "PASSWORD")${body ? `,\n    headers={"Content-Type": "${type}"}, data=${JSON.stringify(body)}` : ''})\nprint(r.status_code, r.text)`;
  if (kind === 'go')
    return `req, err := http.NewRequestWithContext(ctx, ${JSON.stringify(verb)}, ${JSON.stringify(whole)}, ${body ? `strings.NewReader(${body.includes('`') ? JSON.stringify(body) : '`' + body + '`'})` : 'nil'})\nif err != nil {\n\treturn err\n}\nreq.SetBasicAuth(user, password)${body ? '\nreq.Header.Set("Content-Type", "' + type + '")' : ''}\nres, err := http.DefaultClient.Do(req)`;
  return `curl -u USER ${stream ? "-N -H 'Accept: text/event-stream' " : ''}${verb === 'GET' || (verb === 'POST' && body) ? '' : `-X ${verb} `}${body ? `-H 'Content-Type: ${type}' -d ${shell(body)} ` : ''}${shell(whole)}`;
}

function Try({
  e,
  other,
  doc,
  earlier,
}: {
  e: Entry;
  other: string | undefined;
  doc: Document;
  earlier: Sent | undefined;
}) {
  const media = Object.entries(e.op.requestBody?.content ?? {}),
    json = media.find(([m]) => m.includes('json')),
    type = json?.[0] ?? media[0]?.[0] ?? 'application/json',
    isForm = type.includes('x-www-form'),
    schema = (json ?? media[0])?.[1].schema;
  const stream =
    /\/streams\/(json|xml|stream)\//.test(e.path) ||
    ('200' in (e.op.responses ?? {}) &&
      'text/event-stream' in (e.op.responses?.['200']?.content ?? {}));
  const [values, setValues] = useState<Record<string, string>>(earlier?.values ?? {}),
    [body, setBody] = useState<unknown>(() =>
      schema ? initial(schema, doc.components?.schemas ?? {}) : undefined,
    ),
    [raw, setRaw] = useState<string | null>(earlier?.body || null),
    [kind, setKind] = useState('curl');
  const [answer, setAnswer] = useState<{
      status: number;
      took: number;
      text: string;
      whole: boolean;
      headers: string;
      fault?: Fault;
    } | null>(null),
    [error, setError] = useState<Fault | null>(null),
    [problem, setProblem] = useState(''),
    [busy, setBusy] = useState(false),
    source = useRef<AbortController | null>(null),
    copy = useAct();
  useEffect(() => {
    document.title = `${e.id} – API – ctl`;
    return () => source.current?.abort();
  }, []);
  const url =
    e.path.replace(
      /\{([^}]+)\}/g,
      (_, n: string) => encodeURIComponent(values[n] ?? '').replace(/%3A/g, ':') || `{${n}}`,
    ) +
    (() => {
      const q = new URLSearchParams(
        e.parameters
          .filter(p => p.in === 'query' && values[p.name])
          .map(p => [p.name, values[p.name]!]),
      ).toString();
      return q ? '?' + q : '';
    })();
  const text =
    raw ??
    (body === undefined
      ? ''
      : isForm
        ? new URLSearchParams(
            Object.entries((clean(body) as Record<string, string>) ?? {}).map(([k, v]) => [
              k,
              String(v),
            ]),
          ).toString()
        : JSON.stringify(clean(body) ?? {}, null, 2));
  const submit = async () => {
    const missing = e.parameters.find(
      p => (p.in === 'path' || p.required) && p.in !== 'header' && !values[p.name],
    );
    setProblem(missing ? missing.name : '');
    if (missing) {
      document.querySelector<HTMLInputElement>(`[name="${missing.name}"]`)?.focus();
      return;
    }
    const began = performance.now(),
      stop = new AbortController();
    source.current?.abort();
    source.current = stop;
    setBusy(true);
    setError(null);
    setAnswer(null);
    try {
      const r = await send(url, {
        method: e.verb,
        ...(text && e.verb !== 'GET' ? { text, type } : {}),
        signal: stop.signal,
        accept: stream ? 'text/event-stream' : '*/*',
      });
      const headers = [...r.headers].map(([k, v]) => `${k}: ${v}`).join('\n'),
        took = Math.round(performance.now() - began);
      sessionStorage.setItem(
        historyKey,
        JSON.stringify(
          [
            {
              at: new Date().toISOString(),
              id: e.id,
              verb: e.verb,
              url,
              values,
              body: e.verb === 'POST' && /password|token/.test(e.path + text) ? '' : text,
              status: r.status,
            },
            ...past(),
          ].slice(0, 30),
        ),
      );
      if (stream && r.ok && r.body) {
        let got = '';
        const reader = r.body.pipeThrough(new TextDecoderStream()).getReader();
        setAnswer({ status: r.status, took, headers, text: '', whole: true });
        for (;;) {
          const { value, done } = await reader.read();
          if (done) break;
          got = (got + value).slice(-200_000);
          setAnswer({ status: r.status, took, headers, text: got, whole: true });
        }
      } else {
        const { text: content, whole } = await readText(r);
        let pretty = content;
        if (whole)
          try {
            pretty = JSON.stringify(JSON.parse(content), null, 2);
          } catch {
            /* as it is */
          }
        let fault: Fault | undefined;
        if (!r.ok)
          try {
            const o = JSON.parse(content),
              x = (o.errors ?? o['ietf-restconf:errors'])?.error?.[0];
            fault = new Fault(
              r.status,
              x?.['error-message'] ?? o.details ?? o.detail ?? o.error_description ?? '',
              '',
              x?.['error-path'] ?? '',
            );
          } catch {
            /* no JSON */
          }
        setAnswer({
          status: r.status,
          took,
          headers,
          text: pretty,
          whole,
          ...(fault ? { fault } : {}),
        });
      }
    } catch (x) {
      if (!stop.signal.aborted) setError(faultFrom(x));
    } finally {
      setBusy(false);
    }
  };
  const faultPath = answer?.fault?.path?.replace(/^\/?([\w-]+:)?input/, 'input') ?? '';
  return (
    <form
      onSubmit={x => {
        x.preventDefault();
        void submit();
      }}
      onKeyDown={x => {
        if (x.key === 'Enter' && (x.ctrlKey || x.metaKey)) {
          x.preventDefault();
          void submit();
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
      {e.parameters
        .filter(p => p.in !== 'header')
        .map(p => (
          <div class="field" key={p.name}>
            <label for={'p-' + p.name}>
              {p.name}
              {(p.required || p.in === 'path') && ' *'}{' '}
              <small class="soft">
                {p.in}
                {p.schema?.type && `, ${p.schema.type}`}
              </small>
            </label>
            {p.schema?.enum ? (
              <select
                id={'p-' + p.name}
                name={p.name}
                value={values[p.name] ?? ''}
                onChange={x => setValues({ ...values, [p.name]: x.currentTarget.value })}
              >
                <option value="">not given</option>
                {p.schema.enum.map(v => (
                  <option key={String(v)}>{String(v)}</option>
                ))}
              </select>
            ) : (
              <input
                id={'p-' + p.name}
                name={p.name}
                value={values[p.name] ?? ''}
                aria-invalid={problem === p.name}
                onInput={x => setValues({ ...values, [p.name]: x.currentTarget.value })}
              />
            )}
            {problem === p.name ? (
              <small class="bad" role="alert">
                This needs a value.
              </small>
            ) : (
              p.description && <small class="soft">{p.description}</small>
            )}
          </div>
        ))}
      {schema && (
        <>
          <p class="bar">
            <button
              type="button"
              class="plain"
              aria-pressed={raw === null}
              onClick={() => {
                if (raw !== null) {
                  try {
                    setBody(
                      isForm
                        ? Object.fromEntries(new URLSearchParams(raw))
                        : JSON.parse(raw || '{}'),
                    );
                    setRaw(null);
                    setProblem('');
                  } catch {
                    setProblem('body');
                  }
                }
              }}
            >
              Form
            </button>
            <button
              type="button"
              class="plain"
              aria-pressed={raw !== null}
              onClick={() => setRaw(text)}
            >
              {isForm ? 'Text' : 'JSON'}
            </button>
          </p>
          {problem === 'body' && (
            <p class="bad" role="alert">
              The text is not valid JSON: correct it first.
            </p>
          )}
          {raw === null ? (
            <Form
              schema={schema}
              defs={doc.components?.schemas ?? {}}
              value={body}
              onChange={setBody}
              path=""
              fault={faultPath}
              faultText={answer?.fault?.message ?? ''}
            />
          ) : (
            <textarea
              aria-label="Body"
              spellcheck={false}
              value={raw}
              onInput={x => setRaw(x.currentTarget.value)}
            />
          )}
        </>
      )}
      <p class="actions">
        <button disabled={busy && !stream}>Send</button>
        {busy && stream && (
          <button
            type="button"
            class="plain"
            onClick={() => {
              source.current?.abort();
              setBusy(false);
            }}
          >
            Stop
          </button>
        )}
        <small class="soft">Ctrl+Enter</small>
      </p>
      {error && <Failure error={error} />}
      {answer && (
        <section aria-label="Answer" data-status={answer.status}>
          <p role="status">
            <Mark tone={answer.status < 400 ? 'good' : 'bad'}>{answer.status}</Mark> in{' '}
            {answer.took} ms{answer.fault?.message && `: ${answer.fault.message}`}{' '}
            {answer.fault?.path && <code class="wrap">{answer.fault.path}</code>}
          </p>
          <Long text={answer.text} whole={answer.whole} file={e.verb === 'GET' ? url : ''} />
          <details>
            <summary>Headers</summary>
            <pre class="code">{answer.headers}</pre>
          </details>
        </section>
      )}
      <div class="row">
        <Choice
          label="This request in"
          value={kind}
          options={[
            ['curl', 'a shell'],
            ['python', 'Python'],
            ['go', 'Go'],
          ]}
          onChange={setKind}
        />
        <button
          type="button"
          class="plain"
          onClick={() =>
            copy.run(async () => {
              await navigator.clipboard.writeText(
                snippet(kind, e.verb, url, e.verb === 'GET' ? '' : text, type, stream),
              );
              return 'Copied.';
            })
          }
        >
          Copy
        </button>
      </div>
      <Outcome act={copy} />
      <pre class="code" tabIndex={0} data-testid="snippet">
        {snippet(kind, e.verb, url, e.verb === 'GET' ? '' : text, type, stream)}
      </pre>
      <Requests />
    </form>
  );
}

/** Long shows a part of a text at a time, and says how to have all of it. */
function Long({ text, whole, file }: { text: string; whole: boolean; file: string }) {
  const [at, setAt] = useState(0),
    parts = Math.ceil(text.length / part),
    now = Math.min(at, Math.max(0, parts - 1)),
    size = (n: number) => n.toLocaleString('en');
  return (
    <>
      {!whole && (
        <p class="note warn" data-state="cut">
          The answer is longer than {size(mostRead)} characters; no more was read.{' '}
          {file ? (
            <>
              Have all of it{' '}
              <a href={file} download="answer.json">
                as a file
              </a>
              , or ask for less: depth, fields, limit.
            </>
          ) : (
            <>
              Have all of it with the lines below, in a shell with <code>-o FILE</code>, or ask for
              less.
            </>
          )}
        </p>
      )}
      {parts > 1 && (
        <p class="bar" data-parts={parts}>
          <button type="button" class="plain" disabled={now === 0} onClick={() => setAt(now - 1)}>
            Back
          </button>
          <span role="status">
            part {now + 1} of {parts}, {size(text.length)} characters
          </span>
          <button
            type="button"
            class="plain"
            disabled={now === parts - 1}
            onClick={() => setAt(now + 1)}
          >
            On
          </button>
          <button
            type="button"
            class="plain"
            onClick={() => download('answer.txt', 'text/plain', text)}
          >
            Save what was read
          </button>
        </p>
      )}
      <pre class="code" id="answer" tabIndex={0}>
        {text.slice(now * part, (now + 1) * part)}
      </pre>
    </>
  );
}
