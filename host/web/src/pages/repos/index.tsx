// Repositories: what is asked, and the tabs.
import { call } from '../../core/api';
import { useData } from '../../core/data';
import { route, setQuery, to } from '../../core/route';
import { Report } from './report';
import { Reviews } from './reviews';
import { Shown } from './shown';
import { Choice, Empty, Field, Loaded, Tabs, Title } from '../../core/ui';

/** ReposPage takes projects and a span of time, and shows the report of them. */
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
