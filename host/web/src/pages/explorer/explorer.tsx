// The API explorer: the list of operations, and one of them.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { call } from '../../core/api';
import { count, useData } from '../../core/data';
import { go, route, setQuery } from '../../core/route';
import { Document, entries } from './document';
import { Requests, past } from './requests';
import { Try } from './try';
import { Empty, Loaded, Search, Title } from '../../core/ui';

/** Named is what a field offers: an id, and the name that people know it by. */
export interface Named {
  id: string;
  name: string;
}

/** ExplorerPage reads the description of the API and offers its operations. */
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

/** Explorer is the list of operations that one searches, beside the one that is open. */
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
