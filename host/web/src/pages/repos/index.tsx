// Repositories: what is asked, and the tabs.
import { Backports, Comparison, News, Notes, Report } from '../../api/repoinfo';
import { call } from '../../core/api';
import { useData } from '../../core/data';
import { route, setQuery, to } from '../../core/route';
import { Choice, Empty, Field, Loaded, Tabs, Title } from '../../core/ui';
import { Query, address, fieldsOf, isReady, keyOf, parts } from './ask';
import { Compared } from './compare';
import { MissedBackports, NewCommits } from './news';
import { NotesShown } from './notes';
import { Reviews } from './reviews';
import { Shown } from './shown';

/** ReposPage takes projects and a span of time or releases, and shows what is known of them. */
export function ReposPage() {
  const tab = keyOf(parts, route.value.path[1], 'overview'),
    kept = [...route.value.query].filter(([k]) => k !== 'q');
  return (
    <>
      <Title>Repos</Title>
      <Tabs
        base={t => to(['repos', t], Object.fromEntries(kept))}
        now={tab}
        tabs={Object.entries(parts).map(([id, p]) => [id, p.label])}
      />
      {tab === 'reviews' ? <Reviews /> : <Part key={tab} tab={tab} />}
    </>
  );
}

const labels: Record<string, [label: string, hint?: string]> = {
  project: ['Projects', 'comma-separated; empty: all'],
  branch: ['Branch', 'empty: the default one'],
  from: ['Commits of', 'empty: the default branch'],
  ref1: ['Release', 'a tag or branch'],
  ref2: ['Compared with', 'a tag or branch'],
  ref3: ['And that with', 'empty: from the beginning'],
  since: ['Since', 'such as 2026-01-31'],
  until: ['Until', 'empty: now'],
  path: ['Path', 'a file or folder'],
  group: ['Grouped by', 'empty: project; or a trailer'],
  title: ['Title'],
  template: ['Template', 'a file of the setting templates'],
};

/** The hints of fields that mean something else in one part. */
const hints: Record<string, string> = {
  'backports branch': 'that may lack commits',
  'new ref1': 'empty: the default branch',
};

const intervals = ['', 'day', 'week', 'month', 'quarter', 'year', 'release'];

function Fields({ tab, q }: { tab: string; q: Query }) {
  const part = parts[tab]!;
  return (
    <div class="row">
      {fieldsOf(part, q).map(f => {
        const value = q.get(f) ?? '';
        if (f === 'interval')
          return (
            <Choice
              key={f}
              label="Interval"
              value={value}
              options={intervals.map(i => [i, i || 'month (default)'])}
              onChange={v => setQuery({ [f]: v })}
            />
          );
        const required = part.required.includes(f),
          [label, hint = ''] = labels[f]!;
        return (
          <Field
            key={f}
            label={label}
            hint={hints[`${tab} ${f}`] ?? hint}
            required={required}
            value={value}
            onChange={e => setQuery({ [f]: e.currentTarget.value })}
          />
        );
      })}
    </div>
  );
}

const missing: Record<string, string> = {
  new: 'Enter the release to compare with. Listed is what the other has and it has not.',
  backports: 'Enter a branch. Listed is what it lacks although something says that it needs it.',
  notes: 'Enter two releases: tags or branches. The notes are of the first, since the second.',
  compare: 'Enter two releases: tags or branches, the later one first.',
};

function Part({ tab }: { tab: string }) {
  const q = route.value.query,
    part = parts[tab]!,
    ready = isReady(part, q),
    // A template says how notes are written, not what they are.
    facts = new URLSearchParams([...q].filter(([k]) => k !== 'template')),
    at = address(part, facts),
    data = useData(
      s => (ready ? call<unknown>(at, { signal: s }) : Promise.resolve(null)),
      [at, ready],
    );
  return (
    <>
      <Fields tab={tab} q={q} />
      {data.error?.status === 404 && at === '/repoinfo/git/' + part.path ? (
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
        <Empty>{missing[tab] ?? 'Enter both releases, or none.'}</Empty>
      ) : (
        <Loaded data={data}>{v => v !== null && <Answer tab={tab} value={v} />}</Loaded>
      )}
    </>
  );
}

/** Answer shows what a part was answered. */
function Answer({ tab, value }: { tab: string; value: unknown }) {
  switch (tab) {
    case 'new':
      return <NewCommits news={value as News} />;
    case 'backports':
      return <MissedBackports found={value as Backports} />;
    case 'notes':
      return <NotesShown notes={value as Notes} />;
    case 'compare':
      return <Compared c={value as Comparison} />;
  }
  return <Shown r={value as Report} tab={tab} />;
}
