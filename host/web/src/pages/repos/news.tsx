// What is new in a release, and what its branch lacks.
import { Backports, News } from '../../api/repoinfo';
import { Empty, Table } from '../../core/ui';
import { Commit, Failed, Numbers, entryColumns } from './commit';

type Picked = News['projects'][number]['left_out'][number];
type Missed = Backports['projects'][number]['missed'][number];

const idOf = (e: { project: string; hash: string }) => e.project + e.hash;

/** NewCommits are what a release has and the one before has not, be it under another hash. */
export function NewCommits({ news }: { news: News }) {
  const left = news.projects.flatMap(p => p.left_out);
  return (
    <>
      <Failed list={news.failed} />
      <Numbers
        list={[
          ['projects', news.projects.length],
          ['new commits', news.commits],
          ['left out', news.left_out],
        ]}
      />
      {news.uncompared_commits > 0 && (
        <p class="note warn">
          The changes of {news.uncompared_commits} commits could not be compared: objects are
          missing.
        </p>
      )}
      <h2>New commits</h2>
      <Table
        name="New commits"
        newest
        rows={news.projects.flatMap(p => p.commits)}
        id={idOf}
        empty={<Empty>{news.ref2} has every commit already.</Empty>}
        columns={entryColumns()}
      />
      {left.length > 0 && (
        <>
          <h2>Left out: {news.ref2} has the same changes</h2>
          <Table
            name="Left out"
            newest
            rows={left}
            id={idOf}
            columns={[
              ...entryColumns<Picked>(),
              {
                name: 'Same as',
                text: e => e.same_as,
                cell: e => <Commit hash={e.same_as} url={e.same_url} />,
              },
              { name: 'Because of', text: e => e.reason.replace(/_/g, ' ') },
            ]}
          />
        </>
      )}
    </>
  );
}

/** MissedBackports are commits that a branch lacks, each with its reasons. */
export function MissedBackports({ found }: { found: Backports }) {
  const notAsked = found.projects.filter(p => p.review !== 'asked');
  return (
    <>
      <Failed list={found.failed} />
      <Numbers
        list={[
          ['projects', found.projects.length],
          ['missed backports', found.missed],
        ]}
      />
      {notAsked.length > 0 && (
        <p class="note">
          Open changes are not known of {notAsked.map(p => p.project).join(', ')}: the review server
          was {notAsked[0]!.review}.
        </p>
      )}
      <Table
        name="Missed backports"
        newest
        rows={found.projects.flatMap(p => p.missed)}
        id={idOf}
        empty={<Empty>Nothing says that {found.branch} needs a commit that it lacks.</Empty>}
        columns={[
          ...entryColumns<Missed>(),
          {
            name: 'Reason',
            text: e => e.reasons.map(r => r.text).join('; '),
            cell: e => <Reasons of={e} />,
          },
        ]}
      />
    </>
  );
}

function Reasons({ of }: { of: Missed }) {
  return (
    <>
      {of.reasons.map(r => (
        <div key={r.text}>
          {r.url ? (
            <a href={r.url} target="_blank" rel="noreferrer">
              {r.text}
            </a>
          ) : (
            r.text
          )}
        </div>
      ))}
      {of.dropped_by && (
        <div class="soft">
          the branch had it as {of.dropped?.slice(0, 12)}; {of.dropped_by.slice(0, 12)} reverted it
        </div>
      )}
    </>
  );
}
