// Release notes: as they are read, and as they are published.
import { Entry, Notes } from '../../api/repoinfo';
import { text } from '../../core/api';
import { download, useData } from '../../core/data';
import { route, setQuery } from '../../core/route';
import { Choice, Code, Loaded } from '../../core/ui';
import { address, parts } from './ask';
import { Commit, Failed, Numbers, by } from './commit';

/** NotesShown shows the notes of a release, rendered or as the text to publish. */
export function NotesShown({ notes }: { notes: Notes }) {
  const q = route.value.query,
    own = q.get('template') ?? '',
    view = own ? 'source' : (q.get('view') ?? '');
  return (
    <>
      <Failed list={notes.failed} />
      {!own && (
        <Choice
          label="Shown as"
          value={view}
          options={[
            ['', 'page'],
            ['source', 'Markdown'],
          ]}
          onChange={v => setQuery({ view: v })}
        />
      )}
      {view === 'source' ? <Source name={notes.title} template={own} /> : <Page notes={notes} />}
    </>
  );
}

/** Source is the text of the notes, by the given template or in Markdown. */
function Source({ name, template }: { name: string; template: string }) {
  const at = address(parts.notes!, route.value.query, template ? {} : { format: 'markdown' }),
    data = useData(s => text(at, { signal: s, accept: '*/*' }), [at]),
    file = name.replace(/\W+/g, '-') + (template ? '.txt' : '.md');
  return (
    <Loaded data={data}>
      {t => (
        <>
          <Code>{t}</Code>
          <p class="actions">
            <button class="plain" onClick={() => download(file, 'text/plain', t)}>
              Save as {file}
            </button>
          </p>
        </>
      )}
    </Loaded>
  );
}

function Page({ notes }: { notes: Notes }) {
  const several = notes.projects.length > 1;
  return (
    <>
      <h2>{notes.title}</h2>
      <Numbers
        list={[
          ['projects', notes.projects.length],
          ['commits', notes.commits],
          ['people', notes.people.length],
          ['organizations', notes.organizations.length],
          ['first contributions', notes.first_contributions.length],
        ]}
      />
      {notes.left_out > 0 && (
        <p>
          {notes.left_out} commits are left out: {notes.ref2} has the same changes.
        </p>
      )}
      {notes.reverted > 0 && (
        <p>{notes.reverted} commits are left out: they were reverted, or they revert.</p>
      )}
      {notes.groups.map(g => (
        <Group
          key={g.name}
          name={g.name}
          list={g.entries}
          withProject={several && notes.grouped_by !== 'project'}
        />
      ))}
      {notes.machines.length > 0 && (
        <Group name="By programs" list={notes.machines} withProject={several} />
      )}
      {notes.first_contributions.length > 0 && (
        <>
          <h3>First contributions</h3>
          <ul>
            {notes.first_contributions.map(f => (
              <li key={f.name + f.commit.hash}>
                {f.name}: {f.commit.subject} <Commit hash={f.commit.hash} url={f.commit.url} />
              </li>
            ))}
          </ul>
        </>
      )}
      {notes.people.length > 0 && (
        <>
          <h3>Thanks to</h3>
          <p>{notes.people.map(p => p.name).join(', ')}</p>
        </>
      )}
    </>
  );
}

function Group({ name, list, withProject }: { name: string; list: Entry[]; withProject: boolean }) {
  return (
    <>
      <h3>{name}</h3>
      <ul>
        {list.map(e => (
          <li key={e.project + e.hash}>
            {withProject && e.project + ': '}
            {e.subject} <Commit hash={e.hash} url={e.url} />
            {e.change_url && (
              <>
                {' '}
                <a href={e.change_url} target="_blank" rel="noreferrer">
                  review
                </a>
              </>
            )}{' '}
            by {by(e)}
          </li>
        ))}
      </ul>
    </>
  );
}
