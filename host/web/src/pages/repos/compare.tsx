// Two releases side by side.
import { useMemo } from 'preact/hooks';
import { Comparison, Shares, Side } from '../../api/repoinfo';
import { route, setQuery } from '../../core/route';
import { Choice, Empty, Table } from '../../core/ui';
import { day } from './ask';
import { Chart } from './chart';
import { Failed } from './commit';

const figures: [string, (s: Side) => number | string][] = [
  ['Projects', s => s.projects],
  ['Commits', s => s.commits],
  ['of them by programs', s => s.machine_commits],
  ['Left out: the release before has them', s => s.picked_commits],
  ['People', s => s.people],
  ['Organizations', s => s.organizations],
  ['Newcomers', s => s.newcomers],
  ['Bus factor', s => s.bus_factor],
  ['Elephant factor', s => s.elephant_factor],
  ['Commits by people without organization', s => s.unaffiliated_commits],
  ['First commit', s => day(s.first_commit)],
  ['Last commit', s => day(s.last_commit)],
];

const lists: [string, string, (c: Comparison) => Shares][] = [
  ['people', 'People', c => c.people],
  ['organizations', 'Organizations', c => c.organizations],
  ['newcomers', 'Newcomers', c => c.newcomers],
  ['lost', 'Lost', c => c.lost],
  ['new_organizations', 'New organizations', c => c.new_organizations],
  ['lost_organizations', 'Lost organizations', c => c.lost_organizations],
];

/** Compared shows the figures of two releases, a chart, and one of the lists. */
export function Compared({ c }: { c: Comparison }) {
  const releases = c.releases.map(r => r.ref),
    most = useMemo(() => barsOf(c), [c]);
  return (
    <>
      <Failed list={c.failed} />
      <Figures c={c} />
      <Chart bars={most} file={`organizations-${releases.join('-')}`.replace(/[^\w.-]+/g, '-')} />
      <List c={c} />
      <section class="card">
        <h2>Definitions</h2>
        <dl class="facts">
          {Object.entries(c.definitions).map(([k, v]) => (
            <>
              <dt key={k}>{k.replace(/_/g, ' ')}</dt>
              <dd>{v}</dd>
            </>
          ))}
        </dl>
      </section>
    </>
  );
}

/** barsOf are the ten organizations with most commits, in both releases. */
function barsOf(c: Comparison) {
  const top = c.organizations.slice(0, 10);
  return {
    title: 'Commits by organization',
    names: top.map(o => o.name),
    series: c.releases.map((r, i) => ({
      label: `commits, ${r.ref}`,
      values: top.map(o => o.commits[i] ?? 0),
    })),
  };
}

function Figures({ c }: { c: Comparison }) {
  return (
    <div class="scroll" tabIndex={0} role="group" aria-label="Figures of both releases">
      <table>
        <thead>
          <tr>
            <th scope="col">Figure</th>
            {c.releases.map((r, i) => (
              <th key={i} scope="col" class="right">
                {r.ref}
                <br />
                <small class="soft">{r.before ? `since ${r.before}` : 'from the beginning'}</small>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {figures.map(([name, of]) => (
            <tr key={name}>
              <th scope="row">{name}</th>
              {c.releases.map((r, i) => (
                <td key={i} class="right">
                  {of(r).toLocaleString('en')}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function List({ c }: { c: Comparison }) {
  const asked = route.value.query.get('list') ?? '',
    [id, name, of] = lists.find(([l]) => l === asked) ?? lists[0]!,
    rows = of(c),
    all = c.list_sizes[id] ?? rows.length;
  return (
    <>
      <Choice
        label="List"
        value={id}
        options={lists.map(([l, n]) => [l, `${n} (${c.list_sizes[l] ?? 0})`])}
        onChange={list => setQuery({ list })}
      />
      {all > rows.length && (
        <p class="note">
          {rows.length} of {all} are listed.
        </p>
      )}
      <Table
        name={name}
        rows={rows}
        id={s => s.name + (s.email ?? '')}
        empty={<Empty>None.</Empty>}
        columns={[
          { name: 'Name', text: s => s.name },
          { name: 'E-mail', text: s => s.email },
          { name: 'Organization', text: s => s.organization },
          ...c.releases.map((r, i) => ({
            name: c.releases[0]!.ref === c.releases[1]!.ref ? `${r.ref} (${i + 1})` : r.ref,
            text: (s: Shares[number]) => s.commits[i],
            right: true,
          })),
        ]}
      />
    </>
  );
}
