// Who has which role in which domain.
import { useState } from 'preact/hooks';
import { call } from '../../core/api';
import { useData } from '../../core/data';
import { each } from '../../core/each';
import { to } from '../../core/route';
import { rolesPath } from './paths';
import { Domain, Role, User, all } from './lists';
import { Confirm, Empty, Loaded, Outcome, Table, useAct } from '../../core/ui';

interface GrantRow {
  user: string;
  domain: string;
  role: string;
}

/** Grants lists roles of users in domains; one grants and revokes them here. */
export function Grants() {
  const data = useData(async s => {
      const [users, domains] = await Promise.all([
          all<User>('users', s),
          all<Domain>('domains', s),
        ]),
        pairs = users.flatMap(u => domains.map(d => [u, d] as const));
      const r = await each(pairs, ([u, d]) =>
        call<{ roles?: Role[] }>(rolesPath(d.domainid, u.userid), { signal: s }),
      );
      return {
        rows: r.done.flatMap(([[u, d], x]) =>
          (x.roles ?? []).map(role => ({
            user: u.userid,
            domain: d.domainid,
            role: role.name,
            roleid: role.roleid,
          })),
        ),
        failed: r.failed.map(([[u, d], why]) => `${u.userid} in ${d.domainid}: ${why}`),
      };
    }, []),
    act = useAct(),
    [gone, setGone] = useState<(GrantRow & { roleid: string }) | null>(null);
  return (
    <>
      <p class="soft">
        A grant gives a user a role in a domain; new ones are made in the dialog of the{' '}
        <a href={to(['access', 'users'])}>user</a>.
      </p>
      <Outcome act={act} />
      <Loaded data={data}>
        {v => (
          <>
            {v.failed.map(f => (
              <p key={f} class="note warn">
                {f}
              </p>
            ))}
            <Table<GrantRow & { roleid: string }>
              name="Grants"
              rows={v.rows}
              id={g => `${g.user}|${g.domain}|${g.role}`}
              empty={
                <Empty
                  action={
                    <a class="button" href={to(['access', 'users'])}>
                      Users
                    </a>
                  }
                >
                  No user has a role.
                </Empty>
              }
              columns={[
                { name: 'User', text: g => g.user },
                { name: 'Role', text: g => g.role },
                { name: 'Domain', text: g => g.domain },
                {
                  name: 'Do',
                  text: () => '',
                  cell: g => (
                    <button class="plain" onClick={() => setGone(g)}>
                      Revoke…
                    </button>
                  ),
                },
              ]}
            />
          </>
        )}
      </Loaded>
      {gone && (
        <Confirm
          title={`Revoke ${gone.role} of ${gone.user}`}
          verb="Revoke"
          onClose={() => setGone(null)}
          onDo={() =>
            act.run(async () => {
              await call(
                `${rolesPath(gone.domain, gone.user)}/${encodeURIComponent(gone.roleid)}`,
                { method: 'DELETE' },
              );
              data.reload();
              return `${gone.user} no longer has the role ${gone.role}.`;
            })
          }
        >
          From the next request on, everything that only this role allows is refused.
        </Confirm>
      )}
    </>
  );
}
