// The tabs of a report.
import { useMemo } from 'preact/hooks';
import { Point, Report, Total } from '../../api/repoinfo';
import { count } from '../../core/data';
import { route, setQuery } from '../../core/route';
import { Choice } from '../../core/ui';
import { keyOf } from './ask';
import { Chart } from './chart';
import { Failed, Numbers } from './commit';
import { List } from './list';
import { Top } from './top';

/** Shown is the report by the tab that is open. */
export function Shown({ r, tab }: { r: Report; tab: string }) {
  return (
    <>
      <Failed list={r.failed} />
      {tab === 'overview' && <Overview r={r} />}
      {tab === 'projects' && <List name="Projects" list={r.projects ?? []} />}
      {tab === 'authors' && <Authors r={r} />}
      {tab === 'organizations' && <List name="Organizations" list={r.organizations ?? []} />}
      {tab === 'files' && <Files r={r} />}
    </>
  );
}

function Overview({ r }: { r: Report }) {
  const [first, second] = r.authors ?? [];
  return (
    <>
      <Numbers
        list={[
          ['projects', r.compared],
          ['commits', r.commits],
          ...(r.machine_commits
            ? [['of them by machines', r.machine_commits] as [string, number]]
            : []),
          ['authors', r.people],
          ['organizations', r.organization_count],
          ['lines changed', r.lines],
        ]}
      />
      {first && (
        <p>
          {first.name} is the most active author by commits ({first.commits.toLocaleString('en')})
          {second && `, followed by ${second.name} (${second.commits.toLocaleString('en')})`}.
          {r.contributors &&
            ` ${count(r.contributors.new.length, 'new contributor')},` +
              ` ${r.contributors.lost.length} not seen any more.`}
        </p>
      )}
      {r.timeline && (
        <Timeline
          points={r.timeline.points}
          interval={r.timeline.interval}
          unreadable={r.timeline.unreadable?.commits ?? 0}
        />
      )}
      <div class="cards">
        <Top title="Organizations" list={r.organizations ?? []} />
        <Top title="Authors" list={r.authors ?? []} />
        <Top title="Projects" list={r.projects ?? []} />
        {r.machines && r.machines.length > 0 && <Top title="Machines" list={r.machines} />}
      </div>
    </>
  );
}

function Timeline(t: { points: Point[]; interval: string; unreadable: number }) {
  const bars = useMemo(
    () => ({
      title: `Commits by ${t.interval}`,
      names: t.points.map(p =>
        /^(month|quarter)$/.test(t.interval) ? p.start.slice(0, 7) : p.start,
      ),
      series: [{ label: 'commits', values: t.points.map(p => p.commits) }],
    }),
    [t.points],
  );
  return (
    <>
      <Chart bars={bars} file="timeline" />
      {t.unreadable > 0 && (
        <p class="note">{count(t.unreadable, 'commit')} without a readable date are not drawn.</p>
      )}
    </>
  );
}

function Authors({ r }: { r: Report }) {
  const lists: Record<string, [string, Total[]]> = {
    '': ['Authors', r.authors ?? []],
    new: ['New contributors', r.contributors?.new ?? []],
    lost: ['Not seen any more', r.contributors?.lost ?? []],
    co_authors: ['Co-authors', r.co_authors ?? []],
    machines: ['Machines', r.machines ?? []],
  };
  const asked = keyOf(lists, route.value.query.get('people'), ''),
    [name, list] = lists[asked]!;
  return (
    <>
      <Choice
        label="List"
        value={asked}
        options={Object.entries(lists).map(([id, [n, l]]) => [id, `${n} (${l.length})`])}
        onChange={people => setQuery({ people })}
      />
      <List name={name} list={list} />
    </>
  );
}

function Files({ r }: { r: Report }) {
  const cut = (name: string, shown: number) => {
    const all = r.list_sizes[name] ?? shown;
    return all > shown ? ` (${shown} of ${all.toLocaleString('en')})` : '';
  };
  return (
    <>
      <h2>Directories{cut('directories', r.directories?.length ?? 0)}</h2>
      <List name="Directories" list={r.directories ?? []} />
      <h2>Files{cut('files', r.files?.length ?? 0)}</h2>
      <List name="Files" list={r.files ?? []} />
    </>
  );
}
