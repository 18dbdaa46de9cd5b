// What is in progress.
import { Named, named } from '../../bier/names';
import { rpc, show } from '../../core/api';
import { age, useData } from '../../core/data';
import { each } from '../../core/each';
import { to } from '../../core/route';
import { Plugin, pluginTone } from './status';
import { Empty, Loaded, Mark, Table } from '../../core/ui';

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

/**
 * unfinished asks those who do something for long: what they have not finished. One that is not
 * installed has nothing.
 */
async function unfinished(): Promise<{ tasks: Task[]; failed: string[] }> {
  const { done, failed } = await each<() => Promise<Task[]>, Task[]>(
    [
      async () =>
        ((await rpc('bier-service-api:reconcile', { wait: 0 }, { background: true })).router ?? [])
          .filter(r => r.state !== 'applied')
          .map(r => ({
            what: `BIER router ${r['node-id']}`,
            state: r.state ?? '',
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

/**
 * Tasks lists what is not finished: calls, starts of plugins, writes on switches, changes of
 * routers.
 */
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
            state: p.state ?? '',
            tone: pluginTone(p) as 'bad',
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
