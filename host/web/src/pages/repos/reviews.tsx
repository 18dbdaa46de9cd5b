// Reviews of changes.
import { call } from '../../core/api';
import { useData } from '../../core/data';
import { route, setQuery } from '../../core/route';
import { Choice, Empty, Loaded, Table } from '../../core/ui';

/** Reviews lists what the reviews of a project say. */
export function Reviews() {
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
