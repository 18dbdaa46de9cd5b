// Pages of plugins that are made of their YANG modules alone: tables of their trees and answers,
// forms of their operations, read again when something happens.
import { useEffect } from 'preact/hooks';
import { Fault, call } from '../../core/api';
import { useData } from '../../core/data';
import { onEvents } from '../../core/events';
import { route, to } from '../../core/route';
import { Empty, Loaded, Table, Title } from '../../core/ui';
import { Answer, Form } from './form';
import {
  Column,
  Document,
  Numbered,
  Operation,
  PluginPage,
  Row,
  TableOf,
  cellOf,
  format,
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

/** readTrees reads the trees that tables show; one that has nothing yet is empty. */
async function readTrees(page: PluginPage, signal: AbortSignal) {
  const trees = [...new Set(page.tables.map(t => t.tree!))],
    read = (tree: string) =>
      call<Document>(`/rests/data/${tree}`, { signal, background: true }).catch((e: unknown) => {
        if (e instanceof Fault && e.status === 404) return {};
        throw e;
      });
  const documents = await Promise.all(trees.map(read));
  return Object.fromEntries(trees.map((t, i) => [t, documents[i] as unknown]));
}

/** A page of so few operations reads those that only show something by itself. */
const fewOperations = 8;

/** Show is the page of a plugin. */
function Show({ page }: { page: PluginPage }) {
  const trees = useData(s => readTrees(page, s), [page.plugin]),
    isShown = (o: Operation) =>
      page.operations.length <= fewOperations &&
      o.readOnly &&
      !o.confirm &&
      !o.fields.some(f => f.required);
  useEffect(
    () => onEvents(list => list.some(e => page.streams.includes(e.stream)) && trees.reload()),
    [page.plugin],
  );
  return (
    <>
      <h2>{page.plugin}</h2>
      {page.tables.length > 0 && (
        <Loaded data={trees}>
          {documents =>
            page.tables.map(t => (
              <TreeTable key={t.tree + t.path.join('/')} t={t} document={documents[t.tree!]} />
            ))
          }
        </Loaded>
      )}
      {page.operations.filter(isShown).map(o => (
        <Shown key={o.name} o={o} at={trees.at} />
      ))}
      {page.operations
        .filter(o => !isShown(o))
        .map(o => (
          <Form
            key={o.module + o.name}
            o={o}
            page={page}
            documents={trees.value ?? {}}
            onDone={o.readOnly ? () => undefined : trees.reload}
          />
        ))}
    </>
  );
}

/** Shown is what an operation without inputs shows. */
function Shown({ o, at }: { o: Operation; at: Date | undefined }) {
  const output = useData(s => perform(o, {}, s), [o.module, o.name, at?.getTime() ?? 0]);
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
function TreeTable({ t, document }: { t: TableOf; document: unknown }) {
  return (
    <div class="card">
      <h3>{t.title}</h3>
      {t.help && <p class="soft">{t.help.replace(/\s+/g, ' ')}</p>}
      <Table
        name={t.title}
        rows={numbered(document, t)}
        id={r => String(r.at)}
        empty={<Empty>There is no {t.title} yet.</Empty>}
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
