// The first ten of a list, as bars.
import { Total } from '../../api/repoinfo';
import { csv, download } from '../../core/data';
import { day } from './ask';

/** Top is the first ten of a list, with their share. */
export function Top({ title, list }: { title: string; list: Total[] }) {
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
