// Repository information: the sums of the plugin repoinfo, with the numbers of each chart as CSV.
import { useMemo } from 'preact/hooks';
import { call } from '../core/api';
import { count, csv, download, useData } from '../core/data';
import { route, setQuery, to } from '../core/route';
import { Chart, Choice, Empty, Field, Loaded, Table, Tabs, Title } from '../core/ui';

interface Total {
  name: string;
  email?: string;
  organization?: string;
  commits: number;
  insertions: number;
  deletions: number;
  lines: number;
  first_commit: number;
  last_commit: number;
  projects?: number;
  authors?: number;
}
interface Point {
  start: string;
  commits: number;
  insertions: number;
  deletions: number;
  authors: number;
  new_authors: number;
}
interface Report {
  commits: number;
  machine_commits: number;
  merges: number;
  insertions: number;
  deletions: number;
  lines: number;
  people: number;
  organization_count: number;
  projects?: Total[];
  authors?: Total[];
  organizations?: Total[];
  contributors?: { new: Total[]; lost: Total[] };
  timeline?: { interval: string; points: Point[] };
  compared: number;
  failed: { project: string; error: string }[];
}
const day = (t: number) => (t ? new Date(t * 1000).toISOString().slice(0, 10) : '');

export function ReposPage() {
  const q = route.value.query,
    get = (k: string) => q.get(k) ?? '',
    tab = route.value.path[1] ?? 'overview',
    keys = ['project', 'branch', 'ref1', 'ref2', 'since', 'until', 'interval'],
    params = new URLSearchParams(
      keys
        .filter(
          k =>
            get(k) &&
            (tab === 'compare' || !k.startsWith('ref')) &&
            !(tab === 'compare' && k === 'branch'),
        )
        .map(k => [k, get(k)]),
    );
  const ready = tab !== 'compare' || (get('ref1') && get('ref2')),
    data = useData(
      s =>
        ready && tab !== 'reviews'
          ? call<Report>('/repoinfo/git/report?' + params.toString(), { signal: s })
          : Promise.resolve(null),
      [params.toString(), tab],
    );
  const field = (k: string, label: string, hint = '', required = false) => (
    <Field
      label={label}
      hint={hint}
      required={required}
      value={get(k)}
      onChange={e => setQuery({ [k]: e.currentTarget.value })}
    />
  );
  return (
    <>
      <Title>Repos</Title>
      <Tabs
        base={t => to(['repos', t], Object.fromEntries([...q].filter(([k]) => k !== 'q')))}
        now={tab}
        tabs={[
          ['overview', 'Overview'],
          ['projects', 'Projects'],
          ['authors', 'Authors'],
          ['organizations', 'Organizations'],
          ['compare', 'Releases compared'],
          ['reviews', 'Reviews'],
        ]}
      />
      {tab !== 'reviews' && (
        <div class="row">
          {field('project', 'Projects', 'comma-separated; empty: all')}
          {tab === 'compare' ? (
            <>
              {field('ref1', 'Release', 'a tag or branch', true)}
              {field('ref2', 'Compared with', 'a tag or branch', true)}
            </>
          ) : (
            field('branch', 'Branch', 'empty: the default one')
          )}
          {field('since', 'Since', 'such as 2026-01-31')}
          {field('until', 'Until', 'empty: now')}
          {(tab === 'overview' || tab === 'compare') && (
            <Choice
              label="Interval"
              value={get('interval')}
              options={[
                ['', 'as it fits'],
                ['day', 'day'],
                ['week', 'week'],
                ['month', 'month'],
                ['quarter', 'quarter'],
                ['year', 'year'],
              ]}
              onChange={v => setQuery({ interval: v })}
            />
          )}
        </div>
      )}
      {tab === 'reviews' ? (
        <Reviews />
      ) : data.error?.status === 404 && !params.size ? (
        <Empty
          action={
            <a class="button" href={to(['system', 'features'], { q: 'repoinfo' })}>
              Install ctl-repoinfo
            </a>
          }
        >
          Repository information is not installed, or has no clones yet: repoinfo:sync at the
          console clones the projects of its settings.
        </Empty>
      ) : !ready ? (
        <Empty>
          Enter two releases: tags or branches. Their difference is what the first has since the
          common ancestor.
        </Empty>
      ) : (
        <Loaded data={data}>{r => r && <Shown r={r} tab={tab} />}</Loaded>
      )}
    </>
  );
}

function Shown({ r, tab }: { r: Report; tab: string }) {
  const most = (r.authors ?? [])[0];
  return (
    <>
      {r.failed.map(f => (
        <p key={f.project} class="note warn">
          {f.project}: {f.error}
        </p>
      ))}
      {(tab === 'overview' || tab === 'compare') && (
        <>
          <ul class="numbers">
            {(
              [
                ['projects', r.compared],
                ['commits', r.commits],
                ...(r.machine_commits ? [['of them by machines', r.machine_commits] as const] : []),
                ['authors', r.people],
                ['organizations', r.organization_count],
                ['lines changed', r.lines],
              ] as const
            ).map(([k, v]) => (
              <li key={k}>
                <b>{v.toLocaleString('en')}</b> {v === 1 ? k.replace(/^(\w+)s/, '$1') : k}
              </li>
            ))}
          </ul>
          {most && (
            <p>
              {most.name} is the most active author by commits ({most.commits.toLocaleString('en')})
              {r.authors![1] &&
                `, followed by ${r.authors![1].name} (${r.authors![1].commits.toLocaleString('en')})`}
              .
              {r.contributors &&
                ` ${count(r.contributors.new.length, 'new contributor')}, ${r.contributors.lost.length} not seen any more.`}
            </p>
          )}
          {r.timeline && <Timeline points={r.timeline.points} interval={r.timeline.interval} />}
          <div class="cards">
            <Top title="Organizations" list={r.organizations ?? []} />
            <Top title="Authors" list={r.authors ?? []} />
            <Top title="Projects" list={r.projects ?? []} />
          </div>
        </>
      )}
      {tab === 'projects' && <List name="Projects" list={r.projects ?? []} />}
      {tab === 'authors' && <List name="Authors" list={r.authors ?? []} />}
      {tab === 'organizations' && <List name="Organizations" list={r.organizations ?? []} />}
    </>
  );
}

function Timeline({ points, interval }: { points: Point[]; interval: string }) {
  const times = useMemo(() => points.map(p => Date.parse(p.start) / 1000), [points]),
    series = useMemo(
      () => [{ label: `commits a ${interval}`, values: points.map(p => p.commits), bars: true }],
      [points],
    );
  return (
    <section class="card">
      <div class="title">
        <h2>Commits by {interval}</h2>
        <button
          class="plain"
          onClick={() =>
            download(
              'timeline.csv',
              'text/csv',
              csv([
                ['start', 'commits', 'insertions', 'deletions', 'authors', 'new authors'],
                ...points.map(p => [
                  p.start,
                  p.commits,
                  p.insertions,
                  p.deletions,
                  p.authors,
                  p.new_authors,
                ]),
              ]),
            )
          }
        >
          CSV
        </button>
      </div>
      <Chart
        times={times}
        series={series}
        label={`Commits by ${interval}: ${points.length} points, at most ${Math.max(0, ...points.map(p => p.commits))}`}
      />
    </section>
  );
}

function Top({ title, list }: { title: string; list: Total[] }) {
  const top = list.slice(0, 10),
    most = Math.max(1, ...top.map(t => t.commits)),
    sum = list.reduce((s, t) => s + t.commits, 0) || 1;
  return (
    <section class="card">
      <div class="title">
        <h2>{title}, by commits</h2>
        <button
          class="plain"
          onClick={() => download(title.toLowerCase() + '.csv', 'text/csv', csv(rows(list)))}
        >
          CSV
        </button>
      </div>
      <ol class="bars">
        {top.map(t => (
          <li key={t.name + t.email}>
            <span>{t.name}</span>
            <meter
              min={0}
              max={most}
              value={t.commits}
              aria-label={`${t.name}: ${t.commits} commits`}
            />
            <span class="right">
              {t.commits.toLocaleString('en')}{' '}
              <small class="soft">{Math.round((100 * t.commits) / sum)} %</small>
            </span>
          </li>
        ))}
        {!top.length && <li>none</li>}
      </ol>
    </section>
  );
}
const rows = (list: Total[]) => [
  ['name', 'e-mail', 'commits', 'insertions', 'deletions', 'first', 'last'],
  ...list.map(t => [
    t.name,
    t.email ?? '',
    t.commits,
    t.insertions,
    t.deletions,
    day(t.first_commit),
    day(t.last_commit),
  ]),
];

function List({ name, list }: { name: string; list: Total[] }) {
  type Sum = 'commits' | 'insertions' | 'deletions';
  const text = (name: string, leaf: 'email' | 'organization') =>
      list.some(t => t[leaf]) ? [{ name, text: (t: Total) => t[leaf] ?? '' }] : [],
    sum = (name: string, leaf: Sum) => ({
      name,
      text: (t: Total) => t[leaf],
      cell: (t: Total) => t[leaf].toLocaleString('en'),
      right: true,
    });
  return (
    <Table
      name={name}
      rows={list}
      id={t => t.name + (t.email ?? '')}
      empty={<Empty>No entries in this period.</Empty>}
      columns={[
        { name: 'Name', text: t => t.name },
        ...text('E-mail', 'email'),
        ...text('Organization', 'organization'),
        sum('Commits', 'commits'),
        sum('Insertions', 'insertions'),
        sum('Deletions', 'deletions'),
        { name: 'First', text: t => day(t.first_commit) },
        { name: 'Last', text: t => day(t.last_commit) },
      ]}
    />
  );
}

function Reviews() {
  const projects = useData(
      s =>
        call<{ projects: string[] }>('/repoinfo/review/projects', { signal: s }).then(
          r => r.projects,
        ),
      [],
    ),
    project = route.value.query.get('project') ?? '';
  interface Change {
    id?: string;
    _number?: number;
    subject?: string;
    branch?: string;
    updated?: string;
    owner?: { name?: string };
  }
  const changes = useData(
    s =>
      project
        ? call<{ changes: Change[] }>(
            '/repoinfo/review/changes?project=' + encodeURIComponent(project),
            { signal: s },
          ).then(r => r.changes)
        : Promise.resolve([] as Change[]),
    [project],
  );
  if (projects.error?.status === 503 && /review_url/.test(projects.error.message))
    return <Empty>No review server is configured: set review_url in etc/repoinfo.yaml.</Empty>;
  return (
    <Loaded data={projects}>
      {list => (
        <>
          <Choice
            label="Project"
            value={project}
            options={[['', 'choose…'], ...list.map(p => [p, p] as [string, string])]}
            onChange={p => setQuery({ project: p })}
          />
          {project && (
            <Loaded data={changes}>
              {v => (
                <Table
                  name="Merged changes"
                  rows={v}
                  id={c => String(c._number ?? c.id)}
                  empty={<Empty>The project has no merged change.</Empty>}
                  columns={[
                    { name: 'Number', text: c => c._number ?? '', right: true },
                    { name: 'Subject', text: c => c.subject ?? '' },
                    { name: 'Branch', text: c => c.branch ?? '' },
                    { name: 'Owner', text: c => c.owner?.name ?? '' },
                    { name: 'Updated', text: c => c.updated ?? '' },
                  ]}
                />
              )}
            </Loaded>
          )}
        </>
      )}
    </Loaded>
  );
}
