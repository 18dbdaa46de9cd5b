// The dialog that adds or changes a user.
import { useState } from 'preact/hooks';
import { call } from '../../core/api';
import { useData } from '../../core/data';
import { Role, User, all } from './lists';
import { rolesPath } from './paths';
import { Dialog, Field, Loaded, Outcome, useAct } from '../../core/ui';

/** UserDialog takes what is known of a user. */
export function UserDialog({ user, onClose }: { user: User | null; onClose: () => void }) {
  const act = useAct(),
    roles = useData(s => all<Role>('roles', s), []),
    [domain, setDomain] = useState(user?.domainid ?? 'sdn'),
    id = user ? encodeURIComponent(user.userid) : '',
    base = `/auth/v1/domains/${encodeURIComponent(domain)}/users/${id}/roles`;
  const grants = useData(
    s =>
      user
        ? call<{ roles?: Role[] }>(base, { signal: s }).then(r => r.roles ?? [])
        : Promise.resolve([] as Role[]),
    [id, domain],
  );
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    const f = new FormData(e.currentTarget as HTMLFormElement),
      body: Record<string, unknown> = { description: f.get('description'), email: f.get('email') };
    if (f.get('password')) body.password = f.get('password');
    act.run(async () => {
      if (user)
        await call('/auth/v1/users/' + id, {
          method: 'PUT',
          body: { ...body, enabled: f.get('enabled') === 'on' },
        });
      else {
        const made = await call<User>('/auth/v1/users', {
          body: { ...body, name: f.get('name'), domainid: domain },
        });
        for (const r of f.getAll('role'))
          await call(rolesPath(domain, made.userid), { body: { roleid: r } });
      }
      return 'Saved.';
    });
  };
  const toggle = (r: Role, has: boolean) =>
    act.run(async () => {
      await (has
        ? call(base + '/' + encodeURIComponent(r.roleid), { method: 'DELETE' })
        : call(base, { body: { roleid: r.roleid } }));
      grants.reload();
      return has ? `${r.name} is revoked.` : `${r.name} is granted.`;
    });
  return (
    <Dialog title={user ? user.userid : 'New user'} onClose={onClose}>
      <form onSubmit={submit}>
        {!user && (
          <>
            <Field label="Name" name="name" required autocomplete="off" />
            <Field
              label="Domain"
              value={domain}
              onInput={e => setDomain(e.currentTarget.value)}
              hint="only sdn gives rights"
            />
          </>
        )}
        <Field
          label={user ? 'New password' : 'Password'}
          name="password"
          type="password"
          required={!user}
          autocomplete="new-password"
          hint={user ? 'empty: unchanged; a new one ends all logins of the user' : ''}
        />
        <Field label="E-mail" name="email" defaultValue={user?.email ?? ''} />
        <Field label="Description" name="description" defaultValue={user?.description ?? ''} />
        {user && (
          <label class="check">
            <input type="checkbox" name="enabled" defaultChecked={user.enabled} /> enabled
          </label>
        )}
        <fieldset>
          <legend>Roles{user && ` in ${domain}`}</legend>
          <Loaded data={roles}>
            {v =>
              v.map(r => {
                const has = grants.value?.some(g => g.roleid === r.roleid) ?? false;
                return (
                  <label key={r.roleid} class="check">
                    {user ? (
                      <input type="checkbox" checked={has} onChange={() => toggle(r, has)} />
                    ) : (
                      <input type="checkbox" name="role" value={r.roleid} />
                    )}{' '}
                    {r.name}
                  </label>
                );
              })
            }
          </Loaded>
        </fieldset>
        <Outcome act={act} />
        <p class="actions">
          <button disabled={act.busy}>Save</button>
        </p>
      </form>
    </Dialog>
  );
}
