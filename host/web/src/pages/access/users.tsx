// The users.
import { useState } from 'preact/hooks';
import { call, me } from '../../core/api';
import { useData } from '../../core/data';
import { User, all } from './lists';
import { UserDialog } from './user';
import { Confirm, Empty, Loaded, Mark, Outcome, Table, useAct } from '../../core/ui';

/** Users lists the users; one adds, changes, blocks and deletes them here. */
export function Users() {
  const users = useData(s => all<User>('users', s), []),
    act = useAct(),
    [edit, setEdit] = useState<User | 'new' | null>(null),
    [gone, setGone] = useState<User | null>(null);
  return (
    <>
      <Outcome act={act} />
      <Loaded data={users}>
        {v => (
          <Table
            name="Users"
            tools={<button onClick={() => setEdit('new')}>New user…</button>}
            rows={v}
            id={u => u.userid}
            empty={<Empty>There is no user.</Empty>}
            columns={[
              { name: 'Name', text: u => u.userid },
              {
                name: 'State',
                text: u => (u.enabled ? 'enabled' : 'disabled'),
                cell: u => (
                  <Mark tone={u.enabled ? 'good' : 'soft'}>
                    {u.enabled ? 'enabled' : 'disabled'}
                  </Mark>
                ),
              },
              { name: 'E-mail', text: u => u.email ?? '' },
              { name: 'Description', text: u => u.description ?? '' },
              {
                name: 'Do',
                text: () => '',
                cell: u => (
                  <>
                    <button class="plain" onClick={() => setEdit(u)}>
                      Change…
                    </button>{' '}
                    <button class="plain" onClick={() => setGone(u)}>
                      Delete…
                    </button>
                  </>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      {edit && (
        <UserDialog
          user={edit === 'new' ? null : edit}
          onClose={() => {
            setEdit(null);
            users.reload();
          }}
        />
      )}
      {gone && (
        <Confirm
          title={`Delete ${gone.userid}`}
          verb="Delete"
          onClose={() => setGone(null)}
          onDo={() =>
            act.run(async () => {
              await call('/auth/v1/users/' + encodeURIComponent(gone.userid), { method: 'DELETE' });
              users.reload();
              return `${gone.userid} is deleted.`;
            })
          }
        >
          {gone.userid === `${me.value?.user}@${me.value?.domain}` && (
            <b>This is you: you are logged out. </b>
          )}
          Its grants, tokens and sessions end at once, and its places on the maps are forgotten.
        </Confirm>
      )}
    </>
  );
}
