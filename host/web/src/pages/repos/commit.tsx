// Commits in lists.
import { Entry, Failures } from '../../api/repoinfo';
import { Column, Words } from '../../core/ui';
import { day } from './ask';

/** Commit is the short name of a commit, a link where the settings have an address for it. */
export function Commit({ hash, url }: { hash: string; url?: string | undefined }) {
  const short = hash.slice(0, 12);
  if (!url) return <code>{short}</code>;
  return (
    <a class="mono" href={url} target="_blank" rel="noreferrer">
      {short}
    </a>
  );
}

export const by = (e: Entry): string => e.authors.map(a => a.name).join(', ');

/** entryColumns show commits; the subject is a link to the review. */
export const entryColumns = <T extends Entry>(): Column<T>[] => [
  { name: 'Date', text: e => day(e.committed_date) },
  { name: 'Project', text: e => e.project },
  { name: 'Commit', text: e => e.hash, cell: e => <Commit hash={e.hash} url={e.url} /> },
  {
    name: 'Subject',
    text: e => e.subject,
    cell: e => (
      <>
        <Words>{e.subject}</Words>{' '}
        {e.change_url && (
          <a href={e.change_url} target="_blank" rel="noreferrer">
            review
          </a>
        )}
      </>
    ),
  },
  { name: 'By', text: by },
];

/** Failed are the projects that an answer lacks. */
export function Failed({ list }: { list: Failures }) {
  return (
    <>
      {list.map(f => (
        <p key={f.project} class="note warn">
          {f.project}: {f.error}
        </p>
      ))}
    </>
  );
}

/** Numbers are the figures of an answer. */
export function Numbers({ list }: { list: [name: string, value: number][] }) {
  return (
    <ul class="numbers">
      {list.map(([k, v]) => (
        <li key={k}>
          <b>{v.toLocaleString('en')}</b>{' '}
          {v === 1 ? k.replace(/^((?:new |missed |first )?\w+)s\b/, '$1') : k}
        </li>
      ))}
    </ul>
  );
}
