// Who may what: users, roles, domains, grants, the policies in their order, and why somebody may or may not.
import { useState } from 'preact/hooks';
import { call, Fault, isAdmin, me, show } from '../core/api';
import { age, stamp, useData } from '../core/data';
import { route, to } from '../core/route';
import { each } from '../map/layers';
import {
  Choice,
  Confirm,
  Dialog,
  Empty,
  Field,
  Loaded,
  Mark,
  Outcome,
  Table,
  Tabs,
  Title,
  useAct,
} from '../core/ui';

interface User {
  userid: string;
  name: string;
  description?: string;
  email?: string;
  enabled: boolean;
  domainid: string;
}
interface Role {
  roleid: string;
  name: string;
  description?: string;
}
interface Domain {
  domainid: string;
  name: string;
  description?: string;
  enabled: boolean;
}

export function AccessPage() {
  const tab = route.value.path[1] ?? 'users';
  return (
    <>
      <Title>Access</Title>
      {!isAdmin() && (
        <p class="note warn">
          Users, roles and policies are for the role admin; you have{' '}
          {me.value?.roles.join(', ') || 'no role'}. What an answer refuses is said below.
        </p>
      )}
      <Tabs
        base={t => to(['access', t])}
        now={tab}
        tabs={[
          ['users', 'Users'],
          ['roles', 'Roles'],
          ['domains', 'Domains'],
          ['grants', 'Grants'],
          ['tokens', 'Tokens and sessions'],
          ['rules', 'URL rules'],
          ['policies', 'Policies'],
          ['why', 'Explain access'],
        ]}
      />
      {tab === 'users' && <Users />}
      {tab === 'roles' && <Things<Role> kind="role" list="roles" id={r => r.roleid} />}
      {tab === 'domains' && <Things<Domain> kind="domain" list="domains" id={d => d.domainid} />}
      {tab === 'grants' && <Grants />}
      {tab === 'tokens' && <Tokens />}
      {tab === 'rules' && <Rules />}
      {tab === 'policies' && <Policies />}
      {tab === 'why' && <Why />}
    </>
  );
}

const all = <T,>(list: string, s?: AbortSignal) =>
  call<Record<string, T[]>>('/auth/v1/' + list, s ? { signal: s } : {}).then(r => r[list] ?? []);

function Users() {
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

function UserDialog({ user, onClose }: { user: User | null; onClose: () => void }) {
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
          await call(
            `/auth/v1/domains/${encodeURIComponent(domain)}/users/${encodeURIComponent(made.userid)}/roles`,
            { body: { roleid: r } },
          );
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

function Things<T extends { name: string; description?: string }>({
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

interface GrantRow {
  user: string;
  domain: string;
  role: string;
}
function Grants() {
  const data = useData(async s => {
      const [users, domains] = await Promise.all([
          all<User>('users', s),
          all<Domain>('domains', s),
        ]),
        pairs = users.flatMap(u => domains.map(d => [u, d] as const));
      const r = await each(pairs, ([u, d]) =>
        call<{ roles?: Role[] }>(
          `/auth/v1/domains/${encodeURIComponent(d.domainid)}/users/${encodeURIComponent(u.userid)}/roles`,
          { signal: s },
        ),
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
                `/auth/v1/domains/${encodeURIComponent(gone.domain)}/users/${encodeURIComponent(gone.user)}/roles/${encodeURIComponent(gone.roleid)}`,
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

interface Token {
  id: string;
  user: string;
  kind: string;
  from: string;
  began: string;
  expires: string;
}
function Tokens() {
  const data = useData(() => show<Token[] | null>('access:tokens').then(r => r.value ?? []), []),
    act = useAct(),
    own = me.value?.session?.id;
  const end = (t: Token) =>
    act.run(async () => {
      await call('/web/sessions/' + encodeURIComponent(t.id), { method: 'DELETE' });
      data.reload();
      return `The ${t.kind} of ${t.user} has ended.`;
    });
  return (
    <>
      <p class="soft">
        Valid tokens of /oauth2/token and sessions of browsers; nothing in this list can be used to
        log in. Ending a refresh token ends all tokens of its login; a new password, or disabling
        the user, ends all tokens of the user.
      </p>
      <Outcome act={act} />
      <Loaded data={data}>
        {v => (
          <Table
            name="Tokens"
            rows={v}
            id={t => t.id}
            empty={<Empty>There is no token.</Empty>}
            columns={[
              { name: 'User', text: t => t.user },
              { name: 'Kind', text: t => t.kind },
              { name: 'From', text: t => t.from },
              { name: 'Began', text: t => t.began, cell: t => age(t.began) },
              {
                name: 'Ends',
                text: t => t.expires,
                cell: t => <time title={t.expires}>{stamp(t.expires)}</time>,
              },
              {
                name: 'Do',
                text: () => '',
                cell: t =>
                  t.id === own ? (
                    'this session'
                  ) : (
                    <button
                      class="plain"
                      disabled={act.busy}
                      aria-label={`End the ${t.kind} of ${t.user}, ${t.id}`}
                      onClick={() => end(t)}
                    >
                      End
                    </button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}

interface Rule {
  line: number;
  pattern: string;
  filters: string[];
}
function Rules() {
  const data = useData(() => show<Rule[] | null>('access:rules').then(r => r.value ?? []), []);
  return (
    <>
      <p class="soft">
        The lines of [urls] in etc/sec.ini, in their order: the first whose pattern matches decides.
        They are changed in the file.
      </p>
      <Loaded data={data}>
        {v => (
          <Table
            name="URL rules"
            rows={v}
            id={r => String(r.line)}
            empty={<Empty>etc/sec.ini has no rule.</Empty>}
            columns={[
              { name: 'Line', text: r => r.line },
              { name: 'Pattern', text: r => r.pattern, cell: r => <code>{r.pattern}</code> },
              { name: 'Filters', text: r => r.filters.join(', ') },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}

interface Permission {
  role: string;
  actions?: string[];
}
interface Policy {
  resource: string;
  index?: number;
  description?: string;
  permissions?: Permission[];
}
const policyPath = '/rests/data/aaa:http-authorization/policies',
  methods = ['get', 'put', 'patch', 'post', 'delete'];

function Policies() {
  const data = useData(
    s =>
      call<Record<string, { policies?: Policy[] }>>(policyPath, { signal: s }).then(
        r => (Object.values(r)[0]?.policies ?? []).sort((a, b) => (a.index ?? 0) - (b.index ?? 0)),
        (e: Fault) => {
          if (e.status === 404) return [] as Policy[];
          throw e;
        },
      ),
    [],
  );
  const act = useAct(),
    [edit, setEdit] = useState<{ at: number; p: Policy } | null>(null),
    [gone, setGone] = useState<Policy | null>(null);
  const save = (list: Policy[], text: string) =>
    act.run(async () => {
      await call(policyPath, {
        method: 'PUT',
        body: { 'aaa:policies': { policies: list.map((p, i) => ({ ...p, index: i + 1 })) } },
      });
      data.reload();
      return text;
    });
  return (
    <>
      <p class="soft">
        The first policy whose resource matches decides; a request that matches no policy is
        allowed. Policies apply where a line of etc/sec.ini has dynamicAuthorization.
      </p>
      <Outcome act={act} />
      <Loaded data={data}>
        {v => (
          <>
            <p class="actions">
              <button
                onClick={() =>
                  setEdit({
                    at: v.length,
                    p: {
                      resource: '/restconf/**',
                      description: '',
                      permissions: [{ role: 'admin', actions: [...methods] }],
                    },
                  })
                }
              >
                New policy…
              </button>
            </p>
            {!v.length && (
              <Empty>
                There is no policy: all users who are logged in may do what etc/sec.ini leaves to
                the policies.
              </Empty>
            )}
            <ol class="policies">
              {v.map((p, i) => (
                <li key={p.resource} class="card">
                  <b class="mono">{p.resource}</b> <span class="soft">{p.description}</span>
                  <ul>
                    {(p.permissions ?? []).map((x, k) => (
                      <li key={k}>
                        {x.role}: {(x.actions ?? []).join(', ')}
                      </li>
                    ))}
                    {!p.permissions?.length && <li>denied to all</li>}
                  </ul>
                  <p class="actions">
                    <button
                      class="plain"
                      disabled={i === 0}
                      aria-label={`Move ${p.resource} up`}
                      onClick={() => {
                        const l = [...v];
                        [l[i - 1], l[i]] = [l[i]!, l[i - 1]!];
                        save(l, 'Moved up.');
                      }}
                    >
                      ↑
                    </button>
                    <button
                      class="plain"
                      disabled={i === v.length - 1}
                      aria-label={`Move ${p.resource} down`}
                      onClick={() => {
                        const l = [...v];
                        [l[i + 1], l[i]] = [l[i]!, l[i + 1]!];
                        save(l, 'Moved down.');
                      }}
                    >
                      ↓
                    </button>
                    <button class="plain" onClick={() => setEdit({ at: i, p })}>
                      Change…
                    </button>
                    <button class="plain" onClick={() => setGone(p)}>
                      Delete…
                    </button>
                  </p>
                </li>
              ))}
            </ol>
            {gone && (
              <Confirm
                title={`Delete the policy of ${gone.resource}`}
                verb="Delete"
                onClose={() => setGone(null)}
                onDo={() =>
                  save(
                    v.filter(x => x !== gone),
                    `${gone.resource} is deleted.`,
                  )
                }
              >
                Requests that match no other policy are then allowed for all users who are logged
                in.
              </Confirm>
            )}
            {edit && (
              <PolicyDialog
                p={edit.p}
                onClose={() => setEdit(null)}
                onSave={p => {
                  const l = [...v];
                  l[edit.at] = p;
                  setEdit(null);
                  save(l, `${p.resource} is saved.`);
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}

function PolicyDialog({
  p,
  onSave,
  onClose,
}: {
  p: Policy;
  onSave: (p: Policy) => void;
  onClose: () => void;
}) {
  const [now, set] = useState(p),
    list = now.permissions ?? [],
    put = (i: number, x: Permission) =>
      set({ ...now, permissions: list.map((o, k) => (k === i ? x : o)) });
  return (
    <Dialog title={p.index ? 'Change the policy' : 'New policy'} onClose={onClose}>
      <Field
        label="Resource"
        value={now.resource}
        onInput={e => set({ ...now, resource: e.currentTarget.value })}
        hint="a path; * within a segment, ** any number of segments"
      />
      <Field
        label="Description"
        value={now.description ?? ''}
        onInput={e => set({ ...now, description: e.currentTarget.value })}
      />
      {list.map((x, i) => (
        <fieldset key={i}>
          <legend>Allowed to</legend>
          <Field
            label="Role"
            value={x.role}
            onInput={e => put(i, { ...x, role: e.currentTarget.value })}
          />
          {methods.map(m => (
            <label key={m} class="check">
              <input
                type="checkbox"
                checked={x.actions?.includes(m) ?? false}
                onChange={() =>
                  put(i, {
                    ...x,
                    actions: methods.filter(o => (o === m) !== (x.actions?.includes(o) ?? false)),
                  })
                }
              />{' '}
              {m}
            </label>
          ))}
          <button
            class="plain"
            onClick={() => set({ ...now, permissions: list.filter((_, k) => k !== i) })}
          >
            Remove
          </button>
        </fieldset>
      ))}
      <p class="actions">
        <button
          class="plain"
          onClick={() =>
            set({ ...now, permissions: [...list, { role: 'user', actions: ['get'] }] })
          }
        >
          Another role
        </button>
        <button disabled={!now.resource || list.some(x => !x.role)} onClick={() => onSave(now)}>
          Save
        </button>
      </p>
    </Dialog>
  );
}

interface Explanation {
  allowed: boolean;
  verdict: string;
  reason: string;
  user: string;
  realm: string;
  roles: string[];
  login?: string;
  addresses: {
    address: string;
    line: number;
    rule?: string;
    policy?: string;
    verdict: string;
    decisive: boolean;
  }[];
}
function Why() {
  const [f, setF] = useState({
      user: me.value?.user ?? '',
      method: 'GET',
      path: '/restconf/operational/network-topology:network-topology',
    }),
    [x, setX] = useState<Explanation | null>(null),
    act = useAct();
  return (
    <>
      <p class="soft">
        Whether a request would be allowed, and which rule or policy decides. Nothing is sent.
      </p>
      <form
        class="row"
        onSubmit={e => {
          e.preventDefault();
          act.run(async () => {
            setX(
              await call<Explanation>(
                '/auth/v1/access/explain?' + new URLSearchParams(f).toString(),
              ),
            );
          });
        }}
      >
        <Field
          label="User"
          value={f.user}
          onInput={e => setF({ ...f, user: e.currentTarget.value })}
          hint="NAME, NAME@DOMAIN or REALM/NAME"
        />
        <Choice
          label="Method"
          value={f.method}
          options={['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(m => [m, m])}
          onChange={method => setF({ ...f, method })}
        />
        <div class="wide">
          <Field
            label="Path"
            value={f.path}
            onInput={e => setF({ ...f, path: e.currentTarget.value })}
          />
        </div>
        <button disabled={act.busy}>Explain</button>
      </form>
      <Outcome act={act} />
      {x && (
        <section class="card" data-state="explained">
          <p>
            <Mark tone={x.allowed ? 'good' : 'bad'}>{x.allowed ? 'allowed' : x.verdict}</Mark>{' '}
            {x.reason}
          </p>
          <p class="soft">
            {x.user} of realm {x.realm}, roles {x.roles.join(', ') || 'none'}
            {x.login && `; cannot log in: ${x.login}`}
          </p>
          <Table
            name="Addresses"
            rows={x.addresses}
            id={a => a.address}
            columns={[
              { name: 'Address', text: a => a.address },
              { name: 'Line', text: a => a.line || '' },
              { name: 'Rule', text: a => a.rule ?? '' },
              { name: 'Policy', text: a => a.policy ?? '' },
              { name: 'Verdict', text: a => a.verdict },
            ]}
          />
        </section>
      )}
    </>
  );
}
