// Parts of the system page that are read from the console's tables: the audit, the cluster, and what is in progress.
import { isAdmin, rpc, show } from '../core/api';
import { age, printable, stamp, useData } from '../core/data';
import { route, setQuery, to } from '../core/route';
import { Choice, Code, Empty, Loaded, Mark, Outcome, Table, useAct, Words } from '../core/ui';
import { each } from '../map/layers';
import { Named, named } from './bier';
import { Plugin, toneOf } from './system';

interface AuditRecord {
  seq: number;
  time: string;
  who: string;
  what: string;
  object: string;
  outcome: string;
  address: string;
}
export function Audit() {
  const since = route.value.query.get('since') ?? '24h';
  const data = useData(
    () =>
      show<AuditRecord[] | null>('audit:show --since ' + since).then(r => ({
        records: r.value ?? [],
        findings: r.findings,
      })),
    [since],
  );
  const tools = (
    <span class="side">
      <button class="plain" onClick={data.reload}>
        Read again
      </button>
      <Choice
        label="Of the last"
        value={since}
        options={[
          ['1h', 'hour'],
          ['24h', 'day'],
          ['168h', 'week'],
          ['8760h', 'year'],
        ]}
        onChange={v => setQuery({ since: v })}
      />
    </span>
  );
  return (
    <Loaded data={data}>
      {v => (
        <>
          {v.findings && <p class="note bad">{v.findings}</p>}
          <Table
            name="Audit"
            newest
            tools={tools}
            rows={v.records}
            id={r => String(r.seq)}
            empty={<Empty>Nothing was changed or refused in this time.</Empty>}
            columns={[
              { name: 'Number', text: r => r.seq },
              {
                name: 'Time',
                text: r => r.time,
                cell: r => <time title={r.time}>{stamp(r.time)}</time>,
              },
              { name: 'Who', text: r => r.who || 'the controller' },
              { name: 'What', text: r => r.what },
              {
                name: 'Object',
                text: r => r.object,
                cell: r =>
                  r.what === 'command' ? (
                    <code>
                      <Words>{printable(r.object)}</Words>
                    </code>
                  ) : (
                    printable(r.object)
                  ),
              },
              {
                name: 'Outcome',
                text: r => r.outcome,
                cell: r => <Mark tone={r.outcome === 'ok' ? 'good' : 'bad'}>{r.outcome}</Mark>,
              },
              { name: 'From', text: r => r.address },
            ]}
          />
        </>
      )}
    </Loaded>
  );
}

interface Part {
  name: string;
  version: string;
  state: string;
  reason?: string;
}
interface Member {
  id: string;
  host: string;
  address?: string;
  version: string;
  started: string;
  self: boolean;
  roles: string[];
  why?: string;
  live?: { Revision?: number; revision?: number };
  running: { features?: Part[]; plugins?: Part[] };
}
interface Role {
  name: string;
  node: string;
  holder: string;
  epoch: number;
  since: string;
}
export function Cluster() {
  const data = useData(
    () => show<{ members?: Member[]; roles?: Role[] }>('cluster:status').then(r => r.value),
    [],
  );
  return (
    <Loaded data={data}>
      {v => (
        <>
          <h2>Nodes</h2>
          <Table
            name="Nodes of the cluster"
            rows={v.members ?? []}
            id={m => m.id}
            empty={<Empty>No node has a lease: the store does not answer.</Empty>}
            columns={[
              { name: 'Node', text: m => m.id + (m.self ? ' (this)' : '') },
              {
                name: 'State',
                text: m => m.why ?? 'alive',
                cell: m => (
                  <Mark tone={m.why ? 'bad' : 'good'}>
                    {m.why ? `does not answer: ${m.why}` : 'alive'}
                  </Mark>
                ),
              },
              { name: 'Host', text: m => m.host },
              { name: 'Address', text: m => m.address ?? 'none: accepts no calls from nodes' },
              { name: 'Version', text: m => m.version },
              { name: 'Started', text: m => m.started, cell: m => age(m.started) },
              { name: 'Roles', text: m => m.roles.length, right: true },
              {
                name: 'Problems',
                text: m =>
                  [...(m.running.features ?? []), ...(m.running.plugins ?? [])]
                    .filter(p => p.reason)
                    .map(p => `${p.name}: ${p.reason}`)
                    .join('; '),
              },
            ]}
          />
          <h2>Roles</h2>
          <Table
            name="Roles"
            rows={v.roles ?? []}
            id={r => r.name}
            empty={<Empty>No plugin with nodes: one is running.</Empty>}
            columns={[
              { name: 'Role', text: r => r.name },
              { name: 'Node', text: r => r.node },
              { name: 'Holder', text: r => r.holder },
              { name: 'Epoch', text: r => r.epoch, right: true },
              { name: 'Changed', text: r => r.since, cell: r => age(r.since) },
            ]}
          />
        </>
      )}
    </Loaded>
  );
}

interface Task {
  what: string;
  state: string;
  tone: 'good' | 'warn' | 'bad' | 'soft';
  detail: string;
  since: string;
  href: string;
}
interface Write {
  id?: string;
  switch?: string;
  what?: string;
  state?: string;
  by?: string;
  time?: string;
  error?: string;
}
/** unfinished asks those who do something for long: what they have not finished. One that is not installed has nothing. */
async function unfinished(): Promise<{ tasks: Task[]; failed: string[] }> {
  const { done, failed } = await each<() => Promise<Task[]>, Task[]>(
    [
      async () =>
        (
          (
            await rpc<{
              router?: { 'node-id': string; state: string; reason?: string; since?: string }[];
            }>('bier-service-api:reconcile', { wait: 0 }, { background: true })
          ).router ?? []
        )
          .filter(r => r.state !== 'applied' && r.state !== 'clean')
          .map(r => ({
            what: `BIER router ${r['node-id']}`,
            state: r.state,
            tone: r.state === 'failed' ? 'bad' : 'warn',
            detail: r.reason ?? '',
            since: r.since ?? '',
            href: to(['bier']),
          })),
      async () =>
        ((await show<Write[] | null>('switch:changes', { background: true })).value ?? [])
          .filter(w => w.state === 'queued' || w.state === 'sent')
          .map(w => ({
            what: `Write on ${w.switch ?? 'a switch'}: ${w.what ?? ''}`,
            state: w.state ?? '',
            tone: 'warn',
            detail: w.error ?? '',
            since: w.time ?? '',
            href: to(['devices']),
          })),
    ],
    f => f(),
  );
  return {
    tasks: done.flatMap(([, t]) => t),
    failed: failed
      .map(([, why]) => why)
      .filter(why => !/no command|not installed|no operation|unknown|there is no/i.test(why)),
  };
}

export function Tasks({ plugins }: { plugins: Plugin[] }) {
  const data = useData(unfinished, [plugins.length]);
  const own: Task[] = plugins.flatMap(p => [
    ...(p.serving && Number(p['in-flight']) > 0
      ? [
          {
            what: `Calls to ${p.name}`,
            state: `${p['in-flight']} in progress`,
            tone: 'good' as const,
            detail: '',
            since: '',
            href: to(['system', 'plugins']),
          },
        ]
      : []),
    ...(!p.serving && p.state !== 'stopped'
      ? [
          {
            what: `Plugin ${p.name}`,
            state: p.state,
            tone: toneOf(p) as 'bad',
            detail: p.reason ?? '',
            since: p.since ?? '',
            href: to(['system', 'plugins']),
          },
        ]
      : []),
  ]);
  return (
    <Loaded data={data}>
      {v => (
        <>
          {v.failed.map(f => (
            <p key={f} class="note warn">
              {f}
            </p>
          ))}
          <Table
            name="Tasks"
            tools={
              <button class="plain" onClick={data.reload}>
                Read again
              </button>
            }
            rows={[...own, ...v.tasks].map((t, i) => ({ ...t, i }))}
            id={t => String(t.i)}
            empty={
              <Empty>
                Nothing is in progress: no calls, no starting plugins, no waiting writes on
                switches, no changes of BIER routers.
              </Empty>
            }
            columns={[
              {
                name: 'What',
                text: t => t.what,
                cell: t => (
                  <a href={t.href}>
                    <Named text={t.what} />
                  </a>
                ),
              },
              {
                name: 'State',
                text: t => t.state,
                cell: t => <Mark tone={t.tone}>{t.state}</Mark>,
              },
              { name: 'Because', text: t => named(t.detail) },
              { name: 'Began', text: t => t.since, cell: t => age(t.since) },
            ]}
          />
        </>
      )}
    </Loaded>
  );
}

interface Snapshot {
  name: string;
  size: string | number;
  time?: string;
}
export function Snapshots() {
  const data = useData(
      s =>
        rpc<{ directory: string; snapshot?: Snapshot[] }>(
          'ctl-system:get-snapshots',
          {},
          { signal: s },
        ),
      [],
    ),
    act = useAct(),
    kib = (n: string | number) => `${Math.ceil(Number(n) / 1024).toLocaleString('en')} KiB`;
  const save = () =>
    act.run(async () => {
      const r = await rpc<Snapshot>('ctl-system:save-snapshot');
      data.reload();
      return `${r.name} is written (${kib(r.size)}).`;
    });
  return (
    <>
      <p class="actions">
        <button
          disabled={act.busy || !isAdmin()}
          title={isAdmin() ? undefined : 'This needs the role admin'}
          onClick={save}
        >
          {act.busy ? 'Saving…' : 'Save now'}
        </button>
      </p>
      <Outcome act={act} />
      <Loaded data={data}>
        {v => (
          <>
            <Table
              name="Snapshots"
              newest
              rows={v.snapshot ?? []}
              id={s => s.name}
              empty={
                <Empty>
                  There is no snapshot in {v.directory} yet. One holds all data, etc/ and the
                  keystores, as of now; the controller goes on meanwhile.
                </Empty>
              }
              columns={[
                { name: 'Name', text: s => s.name, cell: s => <code>{s.name}</code> },
                {
                  name: 'Written',
                  text: s => s.time ?? '',
                  cell: s => <time title={s.time}>{stamp(s.time)}</time>,
                },
                { name: 'Size', text: s => Number(s.size), cell: s => kib(s.size), right: true },
              ]}
            />
            <section class="card">
              <h2>What a restore takes</h2>
              <p>
                A snapshot opens all secrets, so it stays on the machine of the controller, and is
                restored there: stop the controller, restore, start it. What is in the home now is
                kept in before-restore-TIME; changes and sessions since the snapshot are lost.
              </p>
              <Code>{`ctl snapshot restore ${v.directory}/${[...(v.snapshot ?? [])].sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? 1 : -1))[0]?.name ?? 'NAME.tar'}`}</Code>
              <p class="soft">
                The newest ten snapshots that were saved here are kept;{' '}
                <code>ctl snapshot save FILE</code> writes one elsewhere.
              </p>
            </section>
          </>
        )}
      </Loaded>
    </>
  );
}
