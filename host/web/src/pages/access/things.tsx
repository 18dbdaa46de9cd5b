// Roles and domains.
import { useState } from 'preact/hooks';
import { call } from '../../core/api';
import { useData } from '../../core/data';
import { all } from './lists';
import { Confirm, Dialog, Empty, Field, Loaded, Outcome, Table, useAct } from '../../core/ui';

/** Things lists roles or domains; one adds, changes and deletes them here. */
export function Things<T extends { name: string; description?: string }>({
  kind,
  list,
  id,
}: {
  kind: string;
  list: string;
  id: (t: T) => string;
}) {
  const kept = (t: T) =>
    id(t) === (kind === 'role' ? 'admin@sdn' : 'sdn')
      ? { disabled: true, title: `The controller needs this ${kind}` }
      : {};
  const data = useData(s => all<T>(list, s), [list]),
    act = useAct(),
    [adding, setAdding] = useState(false),
    [gone, setGone] = useState<T | null>(null);
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    const f = new FormData(e.currentTarget as HTMLFormElement);
    act.run(async () => {
      await call('/auth/v1/' + list, {
        body: {
          name: f.get('name'),
          description: f.get('description'),
          ...(kind === 'role' ? { domainid: 'sdn' } : { enabled: true }),
        },
      });
      setAdding(false);
      data.reload();
      return `${String(f.get('name'))} is saved.`;
    });
  };
  return (
    <>
      <Outcome act={act} />
      <Loaded data={data}>
        {v => (
          <Table
            name={list}
            tools={<button onClick={() => setAdding(true)}>New {kind}…</button>}
            rows={v}
            id={id}
            empty={<Empty>There is no {kind}.</Empty>}
            columns={[
              { name: 'Id', text: id },
              { name: 'Name', text: t => t.name },
              { name: 'Description', text: t => t.description ?? '' },
              {
                name: 'Do',
                text: () => '',
                cell: t => (
                  <button class="plain" {...kept(t)} onClick={() => setGone(t)}>
                    Delete…
                  </button>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      {gone && (
        <Confirm
          title={`Delete the ${kind} ${gone.name}`}
          verb="Delete"
          onClose={() => setGone(null)}
          onDo={() =>
            act.run(async () => {
              await call(`/auth/v1/${list}/${encodeURIComponent(id(gone))}`, { method: 'DELETE' });
              data.reload();
              return `${gone.name} is deleted.`;
            })
          }
        >
          {kind === 'role'
            ? 'All users lose it at once.'
            : 'Its users, roles and grants are deleted with it.'}
        </Confirm>
      )}
      {adding && (
        <Dialog title={`New ${kind}`} onClose={() => setAdding(false)}>
          <form onSubmit={submit}>
            <Field label="Name" name="name" required />
            <Field label="Description" name="description" />
            <Outcome act={act} />
            <p class="actions">
              <button disabled={act.busy}>Save</button>
            </p>
          </form>
        </Dialog>
      )}
    </>
  );
}
