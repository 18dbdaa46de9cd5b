// Pages of plugins that are made of their YANG modules alone: tables of their trees and answers,
// forms of their operations, read again when something happens.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Fault, call, loggedOut } from '../../core/api';
import { useData, useSeldom } from '../../core/data';
import { onEvents } from '../../core/events';
import { route, to } from '../../core/route';
import { printable } from '../../core/text';
import { Empty, Loaded, Table, Title } from '../../core/ui';
import { Answer, Form } from './form';
import {
  Column,
  Numbered,
  Operation,
  PluginPage,
  Row,
  TableOf,
  cellOf,
  format,
  nameOf,
  numbered,
  perform,
} from './schema';

/** PluginsPage lists the plugins that have a page, and shows one of them. */
export function PluginsPage() {
  const id = route.value.path[1] ?? '',
    all = useData(s => call<PluginPage[]>('/web/schema', { signal: s, background: true }), []);
  return (
    <>
      <Title>Plugins</Title>
      <Loaded data={all}>
        {list => {
          const now = list.find(p => p.plugin === id);
          return (
            <div class="two">
              <nav class="card list" aria-label="Pages of plugins">
                <ul class="plainlist">
                  {list.map(p => (
                    <li key={p.plugin}>
                      <a
                        href={to(['plugin', p.plugin])}
                        aria-current={p.plugin === id ? 'true' : undefined}
                      >
                        {p.plugin}
                      </a>
                    </li>
                  ))}
                </ul>
              </nav>
              <div class="detail">
                {now ? (
                  <Show key={id} page={now} />
                ) : id ? (
                  <Empty>The plugin “{id}” is not installed, or shows no page.</Empty>
                ) : (
                  <Empty>
                    Select a plugin. Its page has the tables and operations of its YANG modules.
                  </Empty>
                )}
              </div>
            </div>
          );
        }}
      </Loaded>
    </>
  );
}

/** What the trees of a page hold, and why the user may not read some of them. */
interface Trees {
  documents: Record<string, unknown>;
  refused: Record<string, string>;
}

/** mayNot reports whether a user who is logged in is refused what another one may get. */
const mayNot = (e: Fault): boolean => e.status === 403 || (e.status === 401 && !loggedOut.peek());

/** readTrees reads the trees that tables show; those without data, or refused, are empty. */
async function readTrees(page: PluginPage, signal: AbortSignal): Promise<Trees> {
  const got: Trees = { documents: {}, refused: {} },
    read = async (tree: string) => {
      try {
        got.documents[tree] = await call<unknown>(`/rests/data/${tree}`, {
          signal,
          background: true,
        });
      } catch (e) {
        if (!(e instanceof Fault)) throw e;
        if (mayNot(e)) got.refused[tree] = e.message;
        else if (e.status !== 404) throw e;
      }
    };
  await Promise.all([...new Set(page.tables.map(t => t.tree!))].map(read));
  return got;
}

/** A page of so few operations calls those that only show something by itself. */
const fewOperations = 8;

/** Events are followed at most once in so many seconds by operations, which may ask devices. */
const operationsEvery = 30;

/** Show is the page of a plugin. */
function Show({ page }: { page: PluginPage }) {
  const trees = useData(s => readTrees(page, s), [page.plugin]),
    [changes, count] = useState(0),
    [done, countDone] = useState(0),
    seldom = useSeldom(changes, operationsEvery),
    isShown = (o: Operation) =>
      page.operations.length <= fewOperations &&
      o.readOnly &&
      !o.confirm &&
      !o.fields.some(f => f.required);
  useEffect(
    () =>
      onEvents(list => {
        if (!list.some(e => page.streams.includes(e.stream))) return;
        trees.reload();
        count(n => n + 1);
      }),
    [page.plugin],
  );
  const onDone = () => {
    trees.reload();
    countDone(n => n + 1);
  };
  return (
    <>
      <h2>{page.plugin}</h2>
      {page.tables.length > 0 && (
        <Loaded data={trees}>
          {({ documents, refused }) =>
            page.tables.map(t => (
              <TreeTable
                key={t.tree + t.path.join('/')}
                t={t}
                document={documents[t.tree!]}
                refused={refused[t.tree!]}
              />
            ))
          }
        </Loaded>
      )}
      {page.operations.filter(isShown).map(o => (
        <Shown key={nameOf(o)} o={o} turn={`${seldom} ${done}`} />
      ))}
      {page.operations
        .filter(o => !isShown(o))
        .map(o => (
          <Form
            key={nameOf(o)}
            o={o}
            page={page}
            documents={trees.value?.documents ?? {}}
            onDone={o.readOnly ? () => undefined : onDone}
          />
        ))}
    </>
  );
}

/** Shown is what an operation without inputs shows; it is called again at each new turn. */
function Shown({ o, turn }: { o: Operation; turn: string }) {
  const output = useData(s => perform(o, {}, s), [nameOf(o)]),
    shown = useRef(turn);
  useEffect(() => {
    if (shown.current !== turn) output.reload();
    shown.current = turn;
  }, [turn]);
  return (
    <div class="card">
      <h3>{o.title}</h3>
      <Loaded data={output}>{v => <Answer o={o} output={v} />}</Loaded>
    </div>
  );
}

/** cell is a value, as a link to the row that it names if it is a leafref. */
function cell(c: Column, row: Row) {
  const text = format(c, cellOf(c, row));
  return c.ref && text ? <a href={to(['plugin', c.ref.plugin], { q: text })}>{text}</a> : text;
}

/** TreeTable is the table of a list of a tree. */
function TreeTable({
  t,
  document,
  refused,
}: {
  t: TableOf;
  document: unknown;
  refused: string | undefined;
}) {
  return (
    <div class="card">
      <h3>{t.title}</h3>
      {t.help && <p class="soft">{t.help.replace(/\s+/g, ' ')}</p>}
      <Table
        name={t.title}
        rows={numbered(document, t)}
        id={r => String(r.at)}
        empty={
          <Empty>
            {refused === undefined
              ? `There is no ${t.title} yet.`
              : `You may not read this: ${printable(refused)}`}
          </Empty>
        }
        columns={t.columns.map(c => ({
          name: c.title,
          text: (r: Numbered) => format(c, cellOf(c, r.row)),
          cell: (r: Numbered) => cell(c, r.row),
          right: c.right ?? false,
        }))}
      />
    </div>
  );
}
