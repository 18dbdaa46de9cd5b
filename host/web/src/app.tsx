// The start of the page.
import { render } from 'preact';
import { Fault, away, faultFrom, send } from './core/api';
import { LoginPage, alreadyIn } from './login';
import { watchSources } from './map/sources';
import { watchTroubles } from './core/troubles';
import { Shell } from './shell';
import { restart, start } from './start';

/** While the controller is away it is asked every few seconds; the page goes on when it answers. */
setInterval(() => {
  if (away.value && !document.hidden)
    send('/web/me', { background: true }).then(restart, () => undefined);
}, 4000);

function applyTheme() {
  const t = localStorage.getItem('ctl.theme');
  if (t) document.documentElement.dataset.theme = t;
  else delete document.documentElement.dataset.theme;
}

async function main() {
  applyTheme();
  const root = document.getElementById('app')!;
  if (location.pathname === '/login') {
    if (!(await alreadyIn())) render(<LoginPage />, root);
    return;
  }
  try {
    await start();
  } catch (e) {
    if (e instanceof Fault && e.status === 401) {
      location.replace('/login?next=/' + location.hash);
      return;
    }
  }
  watchSources();
  watchTroubles();
  render(<Shell />, root);
}

/**
 * A request that nothing waits for any more fails when the controller goes away: `away` says so
 * already.
 */
addEventListener('unhandledrejection', e => {
  if (e.reason instanceof Fault && !e.reason.status) e.preventDefault();
});

main().catch((e: unknown) => {
  document.body.textContent = `The page cannot start: ${faultFrom(e).message} Load it again.`;
});
