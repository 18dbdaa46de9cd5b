// The login: a page of its own, and over a page whose session has ended.
import { useState } from 'preact/hooks';
import { askMe, faultOf, loggedOut, send } from './core/api';
import { Field } from './core/ui';

/**
 * next is where a login leads to: path and query of this origin, whole, since a path may begin with
 * two slashes.
 */
function next(): string {
  let to = '/';
  try {
    const u = new URL(new URLSearchParams(location.search).get('next') ?? '/', location.origin);
    if (u.protocol === location.protocol && u.host === location.host) to = u.pathname + u.search;
  } catch {
    /* no URL */
  }
  return location.origin + to + location.hash;
}

/** LoginForm takes user and password, and says why a login is refused. */
export function LoginForm({ done }: { done: () => void }) {
  const [busy, setBusy] = useState(false),
    [problem, setProblem] = useState('');
  const submit = async (e: SubmitEvent) => {
    e.preventDefault();
    const f = new FormData(e.currentTarget as HTMLFormElement);
    setBusy(true);
    setProblem('');
    try {
      const r = await send('/web/login', {
        body: { user: f.get('user'), password: f.get('password') },
      });
      if (!r.ok) {
        const x = await faultOf(r);
        loggedOut.value = loggedOut.peek() && location.pathname !== '/login';
        setProblem(x.message + (x.retryAfter ? ` (wait ${x.retryAfter} s)` : ''));
        return;
      }
      done();
    } catch (x) {
      setProblem((x as Error).message);
    } finally {
      setBusy(false);
    }
  };
  return (
    <form class="login" onSubmit={e => void submit(e)} aria-label="Log in">
      <Field
        label="User"
        name="user"
        autocomplete="username"
        autocapitalize="none"
        required
        autofocus
        hint="NAME or NAME@DOMAIN"
      />
      <Field
        label="Password"
        name="password"
        type="password"
        autocomplete="current-password"
        required
      />
      {problem && (
        <p class="note bad" role="alert">
          {problem}
        </p>
      )}
      <button disabled={busy}>{busy ? 'Verifying…' : 'Log in'}</button>
    </form>
  );
}

/** LoginPage is the login as a page of its own. */
export function LoginPage() {
  document.title = 'Log in – ctl';
  return (
    <main class="loginpage">
      <div class="card">
        <h1>
          <img src="/web/static/icon.svg" alt="" width="28" height="28" /> ctl
        </h1>
        <LoginForm done={() => location.replace(next())} />
      </div>
    </main>
  );
}

/** boot shows the login page; who has a session goes on at once. */
export async function alreadyIn(): Promise<boolean> {
  try {
    await askMe();
    location.replace(next());
    return true;
  } catch {
    loggedOut.value = false;
    return false;
  }
}
