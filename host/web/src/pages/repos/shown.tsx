// The tabs of a report.
import { count } from '../../core/data';
import { List } from './list';
import { Report } from './report';
import { Timeline } from './timeline';
import { Top } from './top';

/** Shown is the report by the tab that is open. */
export function Shown({ r, tab }: { r: Report; tab: string }) {
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
                `, followed by ${r.authors![1].name}` +
                  ` (${r.authors![1].commits.toLocaleString('en')})`}
              .
              {r.contributors &&
                ` ${count(r.contributors.new.length, 'new contributor')},` +
                  ` ${r.contributors.lost.length} not seen any more.`}
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
