// The controller itself: features, plugins, events, log, cluster, certificates, metrics.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { Fault, isAdmin, rpc, show, word } from '../core/api';
import { age, csv, download, printable, stamp, count, useData } from '../core/data';
import { recent } from '../core/events';
import { route, to } from '../core/route';
import {
  Chart,
  Choice,
  Code,
  Confirm,
  Dialog,
  Empty,
  Loaded,
  Mark,
  Outcome,
  Series,
  Table,
  Tabs,
  Title,
  Tone,
  useAct,
  Words,
} from '../core/ui';
import { Audit, Cluster, Snapshots, Tasks } from './system-parts';

export interface Plugin {
  name: string;
  version?: string;
  state: string;
  reason?: string;
  since?: string;
  serving: boolean;
  pid?: number;
  restarts: number;
  calls: string | number;
  errors: string | number;
  refused: string | number;
  'in-flight': string | number;
}
interface Feature {
  name: string;
  version: string;
  description?: string;
  state: string;
  required: boolean;
  available: boolean;
  note?: string;
  needs?: string[];
  'needed-by'?: string[];
  plugin?: string[];
}
export interface Status {
  version: string;
  started: string;
  node: string;
  plugin?: Plugin[];
  feature?: Feature[];
}
export const status = (background = false) =>
  rpc<Status>('ctl-system:get-status', {}, { background });

export function SystemPage() {
  const tab = route.value.path[1] ?? 'plugins',
    data = useData(() => status(true), [tab]);
  useEffect(() => {
    const t = setInterval(() => {
      if (!document.hidden) data.reload();
    }, 10_000);
    return () => clearInterval(t);
  }, []);
  return (
    <>
      <Title
        side={
          data.value && (
            <span class="soft small">
              version {data.value.version}, node {data.value.node}, up since{' '}
              {stamp(data.value.started)}
            </span>
          )
        }
      >
        System
      </Title>
      <Tabs
        base={t => to(['system', t])}
        now={tab}
        tabs={[
          ['plugins', 'Plugins'],
          ['features', 'Features'],
          ['tasks', 'In progress'],
          ['events', 'Events'],
          ['log', 'Log'],
          ['audit', 'Audit'],
          ['cluster', 'Cluster'],
          ['certificates', 'Certificates'],
          ['snapshots', 'Snapshots'],
          ['metrics', 'Metrics'],
        ]}
      />
      <Loaded data={data}>
        {s => (
          <>
            {tab === 'plugins' && <Plugins list={s.plugin ?? []} reload={data.reload} />}
            {tab === 'features' && <Features list={s.feature ?? []} reload={data.reload} />}
            {tab === 'tasks' && <Tasks plugins={s.plugin ?? []} />}
            {tab === 'events' && <Events />}
            {tab === 'log' && <Log />}
            {tab === 'audit' && <Audit />}
            {tab === 'cluster' && <Cluster />}
            {tab === 'certificates' && <Certificates />}
            {tab === 'snapshots' && <Snapshots />}
            {tab === 'metrics' && <Metrics list={s.plugin ?? []} />}
          </>
        )}
      </Loaded>
    </>
  );
}

export const toneOf = (p: Plugin): Tone =>
  p.serving ? (p.state === 'degraded' ? 'warn' : 'good') : p.state === 'stopped' ? 'soft' : 'bad';
/** need says in a button's title that a role is missing. */
const need = () => (isAdmin() ? {} : { disabled: true, title: 'This needs the role admin' });

function Plugins({ list, reload }: { list: Plugin[]; reload: () => void }) {
  const [shown, setShown] = useState(''),
    [ask, setAsk] = useState<{ what: 'stop' | 'restart'; name: string } | null>(null),
    act = useAct(),
    does = (what: 'restart' | 'start' | 'stop', name: string) =>
      act.run(async () => {
        await rpc(`ctl-system:${what}-plugin`, { name });
        reload();
        return `${name}: ${{ restart: 'restarted', start: 'started', stop: 'stopped' }[what]}.`;
      });
  return (
    <>
      <Outcome act={act} />
      <Table
        name="Plugins"
        rows={list}
        id={p => p.name}
        empty={
          <Empty
            action={
              <a class="button" href={to(['system', 'features'])}>
                Install a feature
              </a>
            }
          >
            No plugin runs.
          </Empty>
        }
        columns={[
          {
            name: 'Name',
            text: p => p.name,
            cell: p => (
              <button class="link" {...need()} onClick={() => setShown(p.name)}>
                {p.name}
              </button>
            ),
          },
          { name: 'State', text: p => p.state, cell: p => <Mark tone={toneOf(p)}>{p.state}</Mark> },
          {
            name: 'Changed',
            text: p => p.since ?? '',
            cell: p => <time title={stamp(p.since)}>{age(p.since)}</time>,
          },
          { name: 'Restarts', text: p => p.restarts, right: true },
          { name: 'Calls', text: p => Number(p.calls), right: true },
          {
            name: 'Errors',
            text: p => Number(p.errors),
            right: true,
            cell: p =>
              Number(p.errors) > 0 ? (
                <a
                  href={to(['system', 'log'], { q: 'plugin.' + p.name })}
                  aria-label={`${count(Number(p.errors), 'error')}: the log of ${p.name}`}
                >
                  <Mark tone="warn">{p.errors}</Mark>
                </a>
              ) : (
                0
              ),
          },
          { name: 'Refused', text: p => Number(p.refused), right: true },
          { name: 'PID', text: p => p.pid ?? '', right: true },
          ...(list.some(p => p.reason)
            ? [{ name: 'Reason', text: (p: Plugin) => p.reason ?? '' }]
            : []),
          {
            name: 'Do',
            text: () => '',
            cell: p => (
              <>
                <button
                  class="plain"
                  {...need()}
                  onClick={() =>
                    p.serving ? setAsk({ what: 'restart', name: p.name }) : does('restart', p.name)
                  }
                >
                  {p.serving ? 'Restart…' : 'Restart'}
                </button>{' '}
                {p.state === 'stopped' ? (
                  <button class="plain" {...need()} onClick={() => does('start', p.name)}>
                    Start
                  </button>
                ) : (
                  <button
                    class="plain"
                    {...need()}
                    onClick={() => setAsk({ what: 'stop', name: p.name })}
                  >
                    Stop…
                  </button>
                )}
              </>
            ),
          },
        ]}
      />
      {ask && (
        <Confirm
          title={`${ask.what === 'stop' ? 'Stop' : 'Restart'} ${ask.name}`}
          verb={ask.what === 'stop' ? 'Stop' : 'Restart'}
          onClose={() => setAsk(null)}
          onDo={() => does(ask.what, ask.name)}
        >
          {ask.what === 'stop'
            ? 'Its operations, data and pages answer 503 until it is started again; the features stay installed.'
            : 'Calls in progress get a short time to end and are then aborted. Until the plugin is ready again, calls wait or answer 503.'}
        </Confirm>
      )}
      {shown && <PluginDialog name={shown} onClose={() => setShown('')} />}
    </>
  );
}

function PluginDialog({ name, onClose }: { name: string; onClose: () => void }) {
  interface Details {
    path?: string;
    sha256?: string;
    'data-directory'?: string;
    started?: string;
    'last-error'?: string;
    'restart-at'?: string;
    health?: { name: string; value: string }[];
    warning?: string[];
    capability?: string[];
    uses?: string[];
    line?: string[];
  }
  interface Grant {
    grant: string;
    words: string;
    state: string;
    by?: string;
  }
  const data = useData(() => rpc<Details>('ctl-system:get-plugin', { name }), [name]),
    grants = useData(
      () =>
        show<{
          requests?: Grant[];
          denied?: number;
          isolatedBy?: string[];
          notAvailable?: string[];
        }>('plugin:info ' + word(name)).then(r => r.value),
      [name],
    );
  return (
    <Dialog title={`Plugin ${name}`} onClose={onClose}>
      <Loaded data={data}>
        {d => (
          <>
            <dl class="facts">
              {(
                [
                  ['Started', d.started && age(d.started)],
                  ['Last error', d['last-error']],
                  ['Started again', d['restart-at']],
                  ['Offers', d.capability?.join(', ')],
                  ['Uses', d.uses?.join(', ')],
                  ['Program', d.path],
                  ['SHA-256', d.sha256],
                  ['Data', d['data-directory']],
                  ...(d.health ?? []).map(h => [h.name, h.value]),
                ] as [string, string | undefined][]
              )
                .filter(([, v]) => v)
                .map(([k, v]) => (
                  <>
                    <dt>{k}</dt>
                    <dd class="wrap">{v}</dd>
                  </>
                ))}
            </dl>
            {(d.warning ?? []).map(w => (
              <p key={w} class="note warn">
                {w}
              </p>
            ))}
            <h3>What it may do besides serving</h3>
            <Loaded data={grants}>
              {i => (
                <>
                  {i.requests?.length ? (
                    <ul class="plainlist">
                      {i.requests.map(g => (
                        <li key={g.grant}>
                          <Mark
                            tone={
                              g.state === 'granted'
                                ? 'good'
                                : g.state === 'refused'
                                  ? 'bad'
                                  : 'warn'
                            }
                          >
                            {g.state}
                          </Mark>{' '}
                          <code class="wrap">{g.grant}</code>{' '}
                          <span class="soft">
                            {g.words}
                            {g.by && `, by ${g.by}`}
                          </span>
                        </li>
                      ))}
                    </ul>
                  ) : (
                    <p class="soft">It requests nothing.</p>
                  )}
                  {i.denied ? (
                    <p class="note warn">
                      It tried {count(i.denied, 'time')} what it was not granted:{' '}
                      <a href={to(['system', 'audit'])}>see the audit</a>.
                    </p>
                  ) : null}
                  <h3>How it is isolated</h3>
                  <ul class="plainlist">
                    {(i.isolatedBy ?? []).map(x => (
                      <li key={x}>
                        <Mark tone="good">{x}</Mark>
                      </li>
                    ))}
                    {(i.notAvailable ?? []).map(x => (
                      <li key={x}>
                        <Mark tone="soft">{x}</Mark>
                      </li>
                    ))}
                  </ul>
                </>
              )}
            </Loaded>
            <h3>Last lines</h3>
            <pre class="code" tabIndex={0}>
              {(d.line ?? []).join('\n') || 'It has not logged anything.'}
            </pre>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}

function Features({ list, reload }: { list: Feature[]; reload: () => void }) {
  const [plan, setPlan] = useState<{
      what: 'install' | 'uninstall';
      name: string;
      lines: string[];
      wants?: string;
    } | null>(null),
    act = useAct();
  const ask = (what: 'install' | 'uninstall', name: string) =>
    act.run(async () => {
      const r = await rpc<{ change?: string[] }>(`ctl-system:${what}-feature`, {
        name: [name],
        simulate: true,
      });
      setPlan({ what, name, lines: r.change ?? [] });
    });
  const carryOut = () => {
    const p = plan!;
    setPlan(null);
    act.run(async () => {
      const input = { name: [p.name], ...(p.wants ? { grant: true } : {}) },
        r = await rpc<{ change?: string[] }>(`ctl-system:${p.what}-feature`, input).catch(
          (e: Fault) => {
            if (e.status === 403 && !p.wants && p.what === 'install') {
              setPlan({ ...p, wants: e.message });
              return null;
            }
            throw e;
          },
        );
      if (!r) return;
      reload();
      return `${p.name}: ${(r.change ?? ['nothing to do']).join('; ')}`;
    });
  };
  const installed = (f: Feature) => f.state !== 'Uninstalled',
    stays = plan?.what === 'uninstall' && plan.lines.every(l => l.includes(' stays: '));
  return (
    <>
      {act.busy && (
        <p class="note" role="status">
          In progress: plugins are started and stopped…
        </p>
      )}
      <Outcome act={act} />
      <Table
        name="Features"
        rows={list}
        id={f => f.name + f.version}
        columns={[
          { name: 'Name', text: f => f.name },
          {
            name: 'State',
            text: f => f.state,
            cell: f => (
              <Mark
                tone={
                  f.state === 'Started'
                    ? 'good'
                    : f.state === 'Unresolved'
                      ? 'bad'
                      : f.state === 'Resolved'
                        ? 'warn'
                        : 'soft'
                }
              >
                {f.state}
              </Mark>
            ),
          },
          {
            name: 'Description',
            text: f => f.description ?? '',
            cell: f => (
              <>
                {f.description}
                {f.note && <small class="soft"> {f.note}</small>}
              </>
            ),
          },
          { name: 'Needed by', text: f => (f['needed-by'] ?? []).join(', ') },
          {
            name: 'Do',
            text: () => '',
            cell: f =>
              installed(f) ? (
                f.required ? (
                  <button
                    class="plain"
                    {...need()}
                    disabled={act.busy || !isAdmin()}
                    onClick={() => ask('uninstall', f.name)}
                  >
                    {f['needed-by']?.length ? 'No longer wanted…' : 'Uninstall…'}
                  </button>
                ) : (
                  <small class="soft">needed by others</small>
                )
              ) : f.available ? (
                <button
                  class="plain"
                  {...need()}
                  disabled={act.busy || !isAdmin()}
                  onClick={() => ask('install', f.name)}
                >
                  Install…
                </button>
              ) : (
                ''
              ),
          },
        ]}
      />
      {plan && (
        <Dialog
          title={`${plan.what === 'install' ? 'Install' : stays ? 'No longer wanted:' : 'Uninstall'} ${plan.name}`}
          onClose={() => setPlan(null)}
        >
          <ul>
            {plan.lines.map(l => (
              <li key={l}>
                {l}
                {l.includes('. ') && '.'}
              </li>
            ))}
            {!plan.lines.length && <li>nothing to do</li>}
          </ul>
          {plan.wants && (
            <p class="note warn" data-state="grants">
              {plan.wants}
            </p>
          )}
          <p class="actions">
            <button class={plan.what === 'install' || stays ? '' : 'danger'} onClick={carryOut}>
              {plan.wants
                ? 'Grant and install'
                : plan.what === 'install'
                  ? 'Install'
                  : stays
                    ? 'No longer wanted'
                    : 'Uninstall'}
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
}

function Events() {
  return recent.value.length ? (
    <Table
      name="Events"
      newest
      rows={recent.value.map((e, i) => ({ ...e, i }))}
      id={e => String(e.i)}
      columns={[
        { name: 'Time', text: e => e.time, cell: e => <time title={e.time}>{stamp(e.time)}</time> },
        { name: 'Stream', text: e => e.stream },
        { name: 'What', text: e => e.name },
        {
          name: 'Content',
          text: e => JSON.stringify(e.data),
          cell: e => <code class="wrap">{JSON.stringify(e.data)}</code>,
        },
      ]}
    />
  ) : (
    <Empty>
      No events since this page was opened. Events of all installed streams are shown here as they
      happen.
    </Empty>
  );
}

/** moreOf is what a record of the log says besides its message. */
function moreOf(record = '{}'): string {
  return Object.entries(JSON.parse(record) as Record<string, unknown>)
    .filter(([k]) => !['time', 'level', 'msg', 'logger'].includes(k))
    .map(([k, v]) => `${k}=${typeof v === 'string' ? printable(v) : JSON.stringify(v)}`)
    .join(' ');
}

function Log() {
  interface Entry {
    time: string;
    level: string;
    logger: string;
    message: string;
    record?: string;
  }
  const data = useData(
    () =>
      rpc<{ entry?: Entry[] }>('ctl-system:get-log', { limit: 500 }, { background: true }).then(r =>
        (r.entry ?? []).reverse().map((e, i) => ({ ...e, i })),
      ),
    [],
  );
  return (
    <Loaded data={data}>
      {v => (
        <Table
          name="Log"
          newest
          tools={
            <button class="plain" onClick={data.reload}>
              Read again
            </button>
          }
          rows={v}
          id={e => String(e.i)}
          columns={[
            {
              name: 'Time',
              text: e => new Date(e.time).toISOString(),
              cell: e => <time title={e.time}>{stamp(e.time)}</time>,
            },
            {
              name: 'Level',
              text: e => e.level,
              cell: e => (
                <Mark tone={/ERROR/.test(e.level) ? 'bad' : /WARN/.test(e.level) ? 'warn' : 'soft'}>
                  {e.level}
                </Mark>
              ),
            },
            { name: 'Logger', text: e => e.logger },
            { name: 'Message', text: e => e.message },
            {
              name: 'More',
              text: e => moreOf(e.record),
              cell: e => (
                <span class="soft wrap small">
                  <Words>{moreOf(e.record)}</Words>
                </span>
              ),
            },
          ]}
        />
      )}
    </Loaded>
  );
}

/** days until a certificate ends, read from its DER by the second UTCTime or GeneralizedTime in it. */
function ends(base64: string): Date | null {
  const der = atob(base64.replace(/-----[^-]+-----|\s/g, '')),
    times = [...der.matchAll(/\x17\x0d(\d{12})Z|\x18\x0f(\d{14})Z/g)].map(m =>
      m[1] ? (Number(m[1].slice(0, 2)) < 50 ? '20' : '19') + m[1] : m[2]!,
    );
  const t = times[1];
  return t
    ? new Date(
        `${t.slice(0, 4)}-${t.slice(4, 6)}-${t.slice(6, 8)}T${t.slice(8, 10)}:${t.slice(10, 12)}:${t.slice(12, 14)}Z`,
      )
    : null;
}
function Certificates() {
  const data = useData(
    () =>
      rpc<{ 'ctl-cert'?: string }>('aaa-cert-rpc:getCtlCertificate').then(r => r['ctl-cert'] ?? ''),
    [],
  );
  if (data.error?.status === 404)
    return (
      <Empty
        action={
          <a class="button" href={to(['system', 'features'], { q: 'aaa-cert' })}>
            Install ctl-aaa-cert
          </a>
        }
      >
        The feature that shows and replaces certificates is not installed.
      </Empty>
    );
  return (
    <Loaded data={data}>
      {v => {
        const end = v ? ends(v) : null,
          days = end ? Math.floor((end.getTime() - Date.now()) / 864e5) : 0;
        return v ? (
          <section class="card">
            <h2>The controller’s certificate</h2>
            {end && (
              <p>
                <Mark tone={days < 0 ? 'bad' : days < 30 ? 'warn' : 'good'}>
                  {days < 0 ? 'ended' : `${count(days, 'day')} left`}
                </Mark>
                , until {stamp(end)}
              </p>
            )}
            <details>
              <summary>The certificate as PEM</summary>
              <Code>{v}</Code>
            </details>
            <p class="actions">
              <a class="button plain" href={to(['api'], { q: 'aaa-cert-rpc' })}>
                Replace it by the API
              </a>
            </p>
          </section>
        ) : (
          <Empty>
            The controller has no certificate yet: it is created at the first start with HTTPS.
          </Empty>
        );
      }}
    </Loaded>
  );
}

/** Metrics are calls and errors of each plugin, read every ten seconds while the page is open. */
function Metrics({ list }: { list: Plugin[] }) {
  const [kept, setKept] = useState<{ t: number; of: Map<string, Plugin> }[]>([]),
    [which, setWhich] = useState(''),
    name = which || list[0]?.name || '';
  useEffect(() => {
    setKept(k => [
      ...k.slice(-359),
      { t: Date.now() / 1000, of: new Map(list.map(p => [p.name, p])) },
    ]);
  }, [list]);
  const [times, series] = useMemo(() => {
    const rate = (leaf: 'calls' | 'errors') =>
      kept
        .slice(1)
        .map((k, i) =>
          Math.max(
            0,
            (Number(k.of.get(name)?.[leaf] ?? 0) - Number(kept[i]!.of.get(name)?.[leaf] ?? 0)) /
              Math.max(0.001, k.t - kept[i]!.t),
          ),
        );
    return [
      kept.slice(1).map(k => k.t),
      [
        { label: 'calls a second', values: rate('calls') },
        { label: 'errors a second', values: rate('errors'), tone: 'bad' },
      ],
    ] as [number[], Series[]];
  }, [kept, name]);
  return (
    <>
      <p class="side">
        <Choice
          label="Plugin"
          value={name}
          options={list.map(p => [p.name, p.name])}
          onChange={setWhich}
        />
      </p>
      {kept.length < 3 ? (
        <Empty>
          A chart needs two more readings, one every ten seconds. The data is lost when this page is
          closed; for longer times use Prometheus with /metrics of the admin listener.
        </Empty>
      ) : (
        <section class="card">
          <div class="title">
            <h2>Calls and errors a second</h2>
            <button
              class="plain"
              onClick={() =>
                download(
                  `${name}-calls.csv`,
                  'text/csv',
                  csv([
                    ['time', ...series.map(s => s.label)],
                    ...times.map((t, i) => [
                      new Date(t * 1000).toISOString(),
                      ...series.map(s => s.values[i]!),
                    ]),
                  ]),
                )
              }
            >
              CSV
            </button>
          </div>
          <Chart label={`Calls and errors a second of ${name}`} times={times} series={series} />
        </section>
      )}
    </>
  );
}
