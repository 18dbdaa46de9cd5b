// The account of who is logged in: own sessions, own password, how the page looks.
import { useState } from 'preact/hooks';
import { call, me } from '../../core/api';
import { age, useData } from '../../core/data';
import { logOut } from './session';
import { Choice, Field, Loaded, Outcome, Table, Title, useAct } from '../../core/ui';

interface Session {
  id: string;
  address: string;
  agent: string;
  began: string;
  seen: string;
  expires: string;
  current: boolean;
}

/** browserOf is the name and version in what a browser says it is. */
const browserOf = (agent: string): string =>
  [
    /(Firefox|Edg|OPR|HeadlessChrome|Chrome|Safari|curl)\/\d+/.exec(agent)?.[0].replace('/', ' '),
    /Windows|Android|iPhone|iPad|Mac OS|Linux/.exec(agent)?.[0],
  ]
    .filter(Boolean)
    .join(', ') || agent.slice(0, 80);

/** AccountPage ends sessions, changes the password, and chooses the theme. */
export function AccountPage() {
  const list = useData(s => call<{ sessions: Session[] }>('/web/sessions', { signal: s }), []),
    act = useAct(),
    own = useAct(),
    [theme, setTheme] = useState(localStorage.getItem('ctl.theme') ?? '');
  const change = (e: SubmitEvent) => {
    e.preventDefault();
    const form = e.currentTarget as HTMLFormElement,
      f = new FormData(form);
    own.run(async () => {
      if (f.get('password') !== f.get('again'))
        throw new Error('The new password was not typed the same twice.');
      await call('/auth/password', {
        body: { current: f.get('current'), password: f.get('password') },
      });
      location.replace('/login');
      return 'Changed: log in with the new password.';
    });
  };
  return (
    <>
      <Title side={<button onClick={() => act.run(logOut)}>Log out</button>}>
        {me.value ? `${me.value.user}@${me.value.domain}` : 'Account'}
      </Title>
      <Outcome act={act} />
      <p>Roles: {me.value?.roles.join(', ') || 'none'}</p>
      <section class="card">
        <h2>Sessions</h2>
        <Loaded data={list}>
          {v => (
            <Table
              name="Sessions"
              rows={v.sessions}
              id={s => s.id}
              columns={[
                {
                  name: 'Browser',
                  text: s => browserOf(s.agent),
                  cell: s => <span title={s.agent}>{browserOf(s.agent)}</span>,
                },
                { name: 'From', text: s => s.address },
                { name: 'Began', text: s => s.began, cell: s => age(s.began) },
                { name: 'Last used', text: s => s.seen, cell: s => age(s.seen) },
                {
                  name: 'Do',
                  text: () => '',
                  cell: s =>
                    s.current ? (
                      'this session'
                    ) : (
                      <button
                        class="plain"
                        onClick={() =>
                          act.run(async () => {
                            await call('/web/sessions/' + s.id, { method: 'DELETE' });
                            list.reload();
                            return 'Ended.';
                          })
                        }
                      >
                        End
                      </button>
                    ),
                },
              ]}
            />
          )}
        </Loaded>
      </section>
      <section class="card">
        <h2>Password</h2>
        {me.value?.local ? (
          <form onSubmit={change}>
            <Field
              label="Present password"
              name="current"
              type="password"
              autocomplete="current-password"
              required
            />
            <Field
              label="New password"
              name="password"
              type="password"
              autocomplete="new-password"
              required
            />
            <Field
              label="New password again"
              name="again"
              type="password"
              autocomplete="new-password"
              required
            />
            <Outcome act={own} />
            <p class="soft">All of your sessions and tokens end, this one, too.</p>
            <p class="actions">
              <button disabled={own.busy}>Change password</button>
            </p>
          </form>
        ) : (
          <p>An external realm stores the password: change it there.</p>
        )}
      </section>
      <section class="card">
        <h2>Look</h2>
        <Choice
          label="Theme"
          value={theme}
          options={[
            ['', 'As the system'],
            ['light', 'Light'],
            ['dark', 'Dark'],
          ]}
          onChange={t => {
            setTheme(t);
            if (t) {
              localStorage.setItem('ctl.theme', t);
              document.documentElement.dataset.theme = t;
            } else {
              localStorage.removeItem('ctl.theme');
              delete document.documentElement.dataset.theme;
            }
          }}
        />
      </section>
    </>
  );
}
