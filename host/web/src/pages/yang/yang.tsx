// The YANG browser: the modules that are installed, their data, operations and notifications, and
// their text.
import { useState } from 'preact/hooks';
import { call } from '../../core/api';
import { count, useData } from '../../core/data';
import { go, route, setQuery, to } from '../../core/route';
import { Empty, Loaded, Search, Title } from '../../core/ui';

interface Node {
  name: string;
  kind: string;
  type?: string;
  range?: string;
  values?: string[];
  keys?: string[];
  default?: string;
  mandatory?: boolean;
  readOnly?: boolean;
  description?: string;
  children?: Node[];
}

interface Module {
  name: string;
  revision: string;
  namespace: string;
  description?: string;
  source: string;
  data?: Node[];
  rpcs?: Node[];
  notifications?: Node[];
  text: string;
}

/** YangPage lists the modules and shows one of them. */
export function YangPage() {
  const all = useData(
      s => call<Module[]>('/yangui/schema.json', { signal: s, background: true }),
      [],
    ),
    id = route.value.path[1] ?? '',
    want = route.value.query.get('q') ?? '';
  return (
    <>
      <Title>YANG</Title>
      <Loaded data={all}>
        {list => {
          const has = (n: Node): boolean => n.name.includes(want) || (n.children ?? []).some(has),
            shown = list.filter(
              m =>
                m.name.includes(want) ||
                [...(m.data ?? []), ...(m.rpcs ?? []), ...(m.notifications ?? [])].some(has),
            ),
            now = list.find(m => m.name === id);
          return (
            <div class="two">
              <section class="card list" aria-label="Modules">
                <Search
                  label="Find a module or node"
                  value={want}
                  onInput={q => setQuery({ q })}
                  onEnter={() => shown[0] && go(['yang', shown[0].name], { q: want })}
                />
                <p class="soft" role="status">
                  {shown.length === list.length
                    ? count(list.length, 'module')
                    : `${shown.length} of ${count(list.length, 'module')}`}
                </p>
                <ul class="plainlist">
                  {shown.map(m => (
                    <li key={m.name}>
                      <a
                        href={to(['yang', m.name], { q: want })}
                        aria-current={m.name === id ? 'true' : undefined}
                      >
                        {m.name}
                      </a>{' '}
                      <small class="soft">{m.revision}</small>
                    </li>
                  ))}
                </ul>
              </section>
              <section class="card detail" aria-label="Module">
                {now ? (
                  <Show key={now.name} m={now} want={want} />
                ) : id ? (
                  <Empty>There is no “{id}” here (any more).</Empty>
                ) : (
                  <Empty>
                    Select a module. The list has the modules of the controller and of each plugin
                    whose feature NAME-ui is installed, such as ctl-bier-channel-ui.
                  </Empty>
                )}
              </section>
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

/** Show is a module: its operations, data, notifications and text. */
function Show({ m, want }: { m: Module; want: string }) {
  const [text, setText] = useState(false);
  return (
    <>
      <h2>
        {m.name} <small class="soft">{m.revision}</small>
      </h2>
      <p>{m.description}</p>
      <p class="soft small wrap">
        {m.namespace}, from {m.source}
      </p>
      {(
        [
          ['Operations', m.rpcs],
          ['Data', m.data],
          ['Notifications', m.notifications],
        ] as const
      ).map(
        ([title, nodes]) =>
          nodes &&
          nodes.length > 0 && (
            <div key={title}>
              <h3>{title}</h3>
              {nodes.map(n => (
                <div key={n.name} class="op">
                  <Branch n={n} open={title === 'Data' || (want !== '' && n.name.includes(want))} />
                  {n.kind === 'rpc' && (
                    <a
                      class="try"
                      href={to(['api', `POST /restconf/operations/${m.name}:${n.name}`])}
                    >
                      try {n.name}
                    </a>
                  )}
                </div>
              ))}
            </div>
          ),
      )}
      <details onToggle={e => setText(e.currentTarget.open)}>
        <summary>The module’s text</summary>
        {text && (
          <pre class="code" tabIndex={0}>
            {m.text}
          </pre>
        )}
      </details>
    </>
  );
}

/** Branch is a node of a schema that can be opened. */
function Branch({ n, open }: { n: Node; open: boolean }) {
  const more = [
    n.kind !== n.name && n.kind,
    n.type,
    n.range && `(${n.range})`,
    n.keys && `[${n.keys.join(' ')}]`,
    n.mandatory && 'mandatory',
    n.default && `default ${n.default}`,
    n.readOnly && 'state',
  ]
    .filter(Boolean)
    .join(' ');
  const [shown, setShown] = useState(open),
    head = (
      <>
        <b>{n.name}</b> <small class="soft">{more}</small>
      </>
    ),
    note = [n.description, n.values && 'One of ' + n.values.join(', ') + '.']
      .filter(Boolean)
      .join(' ');
  if (!n.children)
    return (
      <div class="leaf">
        {head}
        {note && <div class="soft small">{note}</div>}
      </div>
    );
  return (
    <details open={shown} onToggle={e => setShown(e.currentTarget.open)}>
      <summary>{head}</summary>
      {note && <div class="soft small">{note}</div>}
      {shown && n.children.map(c => <Branch key={c.name} n={c} open={n.kind === 'rpc'} />)}
    </details>
  );
}
