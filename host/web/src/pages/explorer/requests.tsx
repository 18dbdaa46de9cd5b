// Requests that were sent before: kept while the browser is open, without their secrets.
import { effect } from '@preact/signals';
import { loggedOut } from '../../core/api';
import { to } from '../../core/route';
import { Mark } from '../../core/ui';

/** Sent is a request that was sent, with masks in place of secrets. */
export interface Sent {
  at: string;
  id: string;
  verb: string;
  url: string;
  values: Record<string, string>;
  body: string;
  status: number;
}

const historyKey = 'ctl.requests',
  most = 30;

/** past are the requests that were sent before, the newest first. */
export function past(): Sent[] {
  try {
    return (JSON.parse(sessionStorage.getItem(historyKey) ?? '[]') as Sent[]).filter(s => s.id);
  } catch {
    return [];
  }
}

/** remember keeps a request. */
export function remember(s: Sent): void {
  sessionStorage.setItem(historyKey, JSON.stringify([s, ...past()].slice(0, most)));
}

// What one user has sent is not shown to the next.
effect(() => {
  if (loggedOut.value) sessionStorage.removeItem(historyKey);
});

/** Requests lists what was sent before; a press fills in the form with it. */
export function Requests() {
  const list = past();
  if (!list.length) return null;
  return (
    <>
      <h2>Sent before</h2>
      <ul class="plainlist">
        {list.map(s => (
          <li key={s.at}>
            <Mark tone={s.status < 400 ? 'good' : 'bad'}>{s.status}</Mark>{' '}
            <a href={to(['api', s.id], { again: s.at })} title="Fill in the form with these values">
              <code class="wrap">
                {s.verb} {s.url} {s.body.slice(0, 120)}
              </code>
            </a>
          </li>
        ))}
      </ul>
    </>
  );
}
