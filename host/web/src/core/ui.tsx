// The parts that pages are made of.
import { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks';
import { Fault, away, faultFrom } from './api';
import { Data, age, count, csv, download, natural, printable, stamp } from './data';
import { route, setQuery, to } from './route';
import { theme } from './theme';

/** Title is the heading of a page, and the title of the window. */
export function Title({ children, side }: { children: string; side?: ComponentChildren }) {
  useEffect(() => {
    document.title = `${children} – ctl`;
  }, [children]);
  return (
    <div class="title">
      <h1>{printable(children)}</h1>
      {side && <div class="side">{side}</div>}
    </div>
  );
}

const remedies: Record<number, ComponentChildren> = {
  0: 'It is tried again when you press Retry.',
  401: 'Ask an administrator for the role, or log in as another user.',
  403: 'Ask an administrator for the role, or log in as another user.',
  404: 'It does not exist, or the feature that serves it is not installed.',
  409: 'If no instruction is shown above: read the current state and try again.',
  429: 'Too many attempts: wait some seconds.',
  503: (
    <>
      If no instruction is shown above: a plugin may be starting or stopped.{' '}
      <a href={to(['system', 'plugins'])}>System, plugins</a> shows it.
    </>
  ),
  504: 'The device did not answer in time: look at its state.',
};

/** Failure says what went wrong, and what to do. */
export function Failure({ error, retry }: { error: Fault; retry?: () => void }) {
  return (
    <div class="note bad" role="alert" data-state="failed">
      <p>
        <b>
          {error.status === 401 || error.status === 403
            ? 'Not allowed'
            : error.status
              ? `Failed (${error.status})`
              : 'No answer'}
          .
        </b>{' '}
        {printable(error.message)}
      </p>
      {error.path && <p class="soft mono">{error.path}</p>}
      <p class="soft">
        {remedies[error.status] ?? (
          <>
            The log of the controller may have details:{' '}
            <a href={to(['system', 'log'])}>System, log</a>.
          </>
        )}
      </p>
      {retry && <button onClick={retry}>Retry</button>}
    </div>
  );
}

export function Empty({
  children,
  action,
}: {
  children: ComponentChildren;
  action?: ComponentChildren;
}) {
  return (
    <div class="note empty" data-state="empty">
      <p>{children}</p>
      {action}
    </div>
  );
}

/** Loaded shows data in each of its states. */
export function Loaded<T>({
  data,
  children,
}: {
  data: Data<T>;
  children: (value: T) => ComponentChildren;
}) {
  if (data.value === undefined) {
    return data.error ? (
      <Failure error={data.error} retry={data.reload} />
    ) : (
      <div class="skeleton" role="status" data-state="loading">
        <span class="hidden">Loading</span>
      </div>
    );
  }
  return (
    <div data-state={data.error ? 'stale' : 'ready'}>
      {data.error && (
        <div class="note warn" role="status">
          No answer since {stamp(data.at).slice(11)}: showing what was known then ({age(data.at)}).{' '}
          {printable(data.error.message)} <button onClick={data.reload}>Retry</button>
        </div>
      )}
      {children(data.value)}
    </div>
  );
}

export type Tone = 'good' | 'warn' | 'bad' | 'soft' | 'info';
const marks: Record<Tone, string> = { good: '●', warn: '◐', bad: '✕', soft: '○', info: '◆' };
/** Mark is a state: a colour, a shape and a word. */
export function Mark({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={'mark ' + tone}>
      <span aria-hidden="true">{marks[tone]}</span> {children}
    </span>
  );
}

/** Words breaks a text at blanks only: options and names stay whole, unless they are longer than a line. */
export function Words({ children }: { children: string }) {
  return (
    <>
      {children.split(' ').map((w, i) => (
        <>
          {i > 0 && ' '}
          {/\W/.test(w) && w.length <= line_ ? <span class="word">{w}</span> : w}
        </>
      ))}
    </>
  );
}

/** Code is what is copied into a shell or a file. */
export function Code({ children }: { children: string }) {
  const act = useAct();
  return (
    <>
      <pre class="code" tabIndex={0}>
        {children}
      </pre>
      <p class="actions">
        <button
          type="button"
          class="plain"
          onClick={() =>
            act.run(async () => {
              await navigator.clipboard.writeText(children);
              return 'Copied.';
            })
          }
        >
          Copy
        </button>
      </p>
      <Outcome act={act} />
    </>
  );
}

export function Tabs({
  base,
  tabs,
  now,
}: {
  base: (id: string) => string;
  tabs: [id: string, label: string][];
  now: string;
}) {
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    box.current
      ?.querySelector('[aria-current]')
      ?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [now]); // in a narrow window they are one row that scrolls
  return (
    <nav ref={box} class="tabs" aria-label="Parts of this page">
      {tabs.map(([id, label]) => (
        <a key={id} href={base(id)} aria-current={id === now ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}

export interface Column<T> {
  name: string;
  text: (row: T) => string | number;
  cell?: (row: T) => ComponentChildren;
  right?: boolean;
}
/** Tables of more rows have those in the document that are seen, each one line. */
const many_ = 500,
  rowHeight = 33,
  window_ = 60;
/** So many rows are seen without a filter, and texts of so many characters are one line. */
const few_ = 5,
  line_ = 40;
/** sought is what a filter searches: a time as it is sent and as it is shown. */
const sought = (v: string | number): string =>
  (/^\d{4}-\d\d-\d\dT/.test(String(v)) ? `${v} ${stamp(String(v))}` : String(v)).toLowerCase();
/** edge lets the style mark that columns are cut off at the right. */
const edge = (e: HTMLElement) =>
  e.toggleAttribute('data-cut', e.scrollLeft + e.clientWidth + 1 < e.scrollWidth);

/** Table is a list that is filtered and sorted, with the rows that are visible in the document, and all of them as CSV. */
interface TableProps<T> {
  name: string;
  rows: T[];
  columns: Column<T>[];
  id: (row: T) => string;
  empty?: ComponentChildren;
  /** The newest is first. */
  newest?: boolean;
  /** What is done with the list as a whole, beside its filter. */
  tools?: ComponentChildren;
  selected?: Set<string>;
  onSelect?: (s: Set<string>) => void;
  selectable?: (row: T) => boolean;
}
export function Table<T>({
  name,
  rows,
  columns,
  id,
  empty,
  newest,
  tools,
  selected,
  onSelect,
  selectable = () => true,
}: TableProps<T>) {
  const want = route.value.query.get('q') ?? '',
    [sort, setSort] = useState<[number, boolean]>([0, !newest]),
    [top, setTop] = useState(0),
    box = useRef<HTMLDivElement>(null);
  const place = () => {
    // the lower edge is on the screen, except of a table that begins far down
    const e = box.current,
      above = e ? e.getBoundingClientRect().top + (e.closest('main')?.scrollTop ?? 0) : 0;
    if (!e) return;
    e.style.setProperty('--above', above < innerHeight / 2 ? above + 'px' : '');
    edge(e);
  };
  useLayoutEffect(place);
  useEffect(() => {
    addEventListener('resize', place);
    return () => removeEventListener('resize', place);
  }, []);
  const shown = useMemo(() => {
    const w = want.toLowerCase(),
      [at, up] = sort,
      c = columns[at] ?? columns[0]!;
    const list = w ? rows.filter(r => columns.some(x => sought(x.text(r)).includes(w))) : [...rows];
    return list.sort((a, b) => (up ? 1 : -1) * natural(String(c.text(a)), String(c.text(b))));
  }, [rows, want, sort]);
  const few = shown.length <= many_,
    first = few
      ? 0
      : Math.max(0, Math.min(shown.length - window_, Math.floor(top / rowHeight) - 15));
  const visible = few ? shown : shown.slice(first, first + window_),
    span = columns.length + (onSelect ? 1 : 0);
  const toggle = (key: string) => {
    const s = new Set(selected);
    if (!s.delete(key)) s.add(key);
    onSelect?.(s);
  };
  const low = /^[A-Z][a-z]/.test(name) ? name[0]!.toLowerCase() + name.slice(1) : name;
  const may = shown.filter(selectable),
    whole = may.length > 0 && may.every(r => selected?.has(id(r)));
  if (!rows.length && empty)
    return (
      <>
        {tools && <div class="bar">{tools}</div>}
        {empty}
      </>
    );
  return (
    <section class="tablebox" aria-label={name}>
      <div class="bar">
        {tools}
        {(rows.length > few_ || want) && (
          <Search label={`Filter ${low}`} value={want} onInput={q => setQuery({ q })} />
        )}
        <span class="soft" role="status">
          {shown.length === rows.length
            ? count(rows.length, 'row')
            : `${shown.length} of ${count(rows.length, 'row')}`}
        </span>
        <button
          class="plain"
          onClick={() =>
            download(
              name.toLowerCase().replace(/\W+/g, '-') + '.csv',
              'text/csv',
              csv([columns.map(c => c.name), ...shown.map(r => columns.map(c => c.text(r)))]),
            )
          }
        >
          CSV
        </button>
      </div>
      <div
        ref={box}
        class="scroll"
        tabIndex={0}
        role="group"
        aria-label={`Rows of ${low}`}
        onScroll={e => {
          edge(e.currentTarget);
          if (!few) setTop(e.currentTarget.scrollTop);
        }}
      >
        <table aria-rowcount={shown.length} class={few ? undefined : 'windowed'}>
          <thead>
            <tr>
              {onSelect && (
                <th scope="col" class="pick">
                  <input
                    type="checkbox"
                    aria-label="Select all"
                    disabled={!may.length}
                    checked={whole}
                    onChange={() => onSelect(new Set(whole ? [] : may.map(id)))}
                  />
                </th>
              )}
              {columns.map((c, i) => (
                <th
                  key={c.name}
                  scope="col"
                  class={c.right ? 'right' : ''}
                  aria-sort={sort[0] === i ? (sort[1] ? 'ascending' : 'descending') : undefined}
                >
                  <button
                    class="head"
                    onClick={() => setSort([i, sort[0] === i ? !sort[1] : true])}
                  >
                    {c.name}
                    <span aria-hidden="true">{sort[0] === i ? (sort[1] ? ' ▲' : ' ▼') : ''}</span>
                  </button>
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {first > 0 && (
              <tr aria-hidden="true">
                <td
                  colSpan={span}
                  ref={e => {
                    if (e) e.style.height = first * rowHeight + 'px';
                  }}
                />
              </tr>
            )}
            {visible.map(r => (
              <tr key={id(r)}>
                {onSelect && (
                  <td class="pick">
                    {selectable(r) && (
                      <input
                        type="checkbox"
                        aria-label={'Select ' + columns[0]!.text(r)}
                        checked={selected?.has(id(r))}
                        onChange={() => toggle(id(r))}
                      />
                    )}
                  </td>
                )}
                {columns.map(c => (
                  <td
                    key={c.name}
                    title={few ? undefined : String(c.text(r))}
                    class={c.right ? 'right' : String(c.text(r)).length > line_ ? 'long' : ''}
                  >
                    {c.cell ? (
                      c.cell(r)
                    ) : String(c.text(r)).length > line_ ? (
                      <Words>{printable(String(c.text(r)))}</Words>
                    ) : (
                      printable(String(c.text(r)))
                    )}
                  </td>
                ))}
              </tr>
            ))}
            {!few && (
              <tr aria-hidden="true">
                <td
                  colSpan={span}
                  ref={e => {
                    if (e)
                      e.style.height = (shown.length - first - visible.length) * rowHeight + 'px';
                  }}
                />
              </tr>
            )}
            {!shown.length && (
              <tr>
                <td colSpan={span} class="soft">
                  Nothing here matches “{want}”.
                </td>
              </tr>
            )}
          </tbody>
        </table>
      </div>
    </section>
  );
}

export function Search({
  label,
  value,
  onInput,
  onEnter,
}: {
  label: string;
  value: string;
  onInput: (v: string) => void;
  onEnter?: (v: string) => void;
}) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      onInput={e => onInput(e.currentTarget.value)}
      onKeyDown={e => {
        if (e.key === 'Enter') onEnter?.(e.currentTarget.value);
      }}
    />
  );
}

type InputProps = Omit<JSX.InputHTMLAttributes<HTMLInputElement>, 'label'>;
export function Field({
  label,
  hint,
  error,
  ...input
}: { label: string; hint?: string; error?: string } & InputProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        {label}
        {input.required && (
          <span class="soft" aria-hidden="true">
            {' '}
            *
          </span>
        )}
      </label>
      <input
        id={id}
        aria-describedby={hint || error ? id + 'h' : undefined}
        aria-invalid={error ? true : undefined}
        {...input}
      />
      {(hint || error) && (
        <small id={id + 'h'} class={error ? 'bad' : 'soft'}>
          {error || hint}
        </small>
      )}
    </div>
  );
}
export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: [string, string][];
  onChange: (v: string) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={e => onChange(e.currentTarget.value)}>
        {options.map(([v, t]) => (
          <option key={v} value={v}>
            {t}
          </option>
        ))}
      </select>
    </div>
  );
}

/** Dialog is over the page until it is closed; then what had the focus has it again. One without onClose stays. */
export function Dialog({
  title,
  children,
  onClose,
}: {
  title: string;
  children: ComponentChildren;
  onClose?: () => void;
}) {
  const ref = useRef<HTMLDialogElement>(null),
    id = useId();
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => {
      (before instanceof HTMLElement && before !== document.body && before.isConnected
        ? before
        : document.querySelector<HTMLElement>('main')
      )?.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={e => {
        if (!onClose) e.preventDefault();
      }}
    >
      <div class="title">
        <h2 id={id}>{title}</h2>
        {onClose && (
          <button class="plain" aria-label="Close" onClick={() => ref.current?.close()}>
            ✕
          </button>
        )}
      </div>
      {children}
    </dialog>
  );
}

/** Confirm asks before something is lost. */
export function Confirm({
  title,
  verb,
  children,
  onClose,
  onDo,
}: {
  title: string;
  verb: string;
  children: ComponentChildren;
  onClose: () => void;
  onDo: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <p class="actions">
        <button
          class="danger"
          onClick={() => {
            onClose();
            onDo();
          }}
        >
          {verb}
        </button>
      </p>
    </Dialog>
  );
}

/** useAct runs what a button does: busy meanwhile, and with its fault or result afterwards. All that pages do by themselves goes this way. */
export function useAct(): {
  busy: boolean;
  error: Fault | null;
  done: string;
  run: (f: () => Promise<string | void>) => void;
  clear: () => void;
} {
  const [s, set] = useState<{ busy: boolean; error: Fault | null; done: string }>({
    busy: false,
    error: null,
    done: '',
  });
  return {
    ...s,
    clear: () => set({ busy: false, error: null, done: '' }),
    run: f => {
      set({ busy: true, error: null, done: '' });
      (async () => f())().then(
        done => set({ busy: false, error: null, done: done || '' }),
        (e: unknown) => set({ busy: false, error: faultFrom(e), done: '' }),
      );
    },
  };
}
export function Outcome({ act }: { act: ReturnType<typeof useAct> }) {
  return (
    <>
      {act.error && <Failure error={act.error} />}
      {act.done && (
        <p class="note good" role="status" data-state="done">
          {act.done}
        </p>
      )}
    </>
  );
}

export interface Series {
  label: string;
  values: number[];
  bars?: boolean;
  tone?: Tone;
}
/** Chart shows series over time; its file is loaded when the first is shown. */
export function Chart({
  label,
  times,
  series,
}: {
  label: string;
  times: number[];
  series: Series[];
}) {
  const box = useRef<HTMLDivElement>(null),
    [error, fail] = useState<Fault | null>(null);
  useEffect(() => {
    let gone = () => undefined as void,
      here = true;
    import('./chart')
      .then(c => {
        if (here && box.current && times.length) gone = c.line(box.current, times, series, theme);
      })
      .catch((e: unknown) => {
        if (here) fail(faultFrom(e));
      });
    return () => {
      here = false;
      gone();
    };
  }, [times, series]);
  return (
    <>
      {error && <Failure error={error} />}
      <div ref={box} class="chart" role="img" aria-label={label} />
    </>
  );
}

/** Away is the strip that says that the controller does not answer. */
export function Away() {
  if (!away.value) return null;
  return (
    <div class="note bad away" role="alert" data-state="away">
      The controller has not answered since {stamp(away.value).slice(11)}. What is shown is from
      before; it is asked again every few seconds.
    </div>
  );
}
