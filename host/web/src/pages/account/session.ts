// The end of a session, in all tabs of the browser.
import { faultOf, send } from '../../core/api';

/** logOut ends the session, here and in the other tabs. */
export async function logOut(): Promise<void> {
  const r = await send('/web/logout', { method: 'POST' });
  if (!r.ok && r.status !== 401) throw await faultOf(r);
  new BroadcastChannel('ctl').postMessage('out');
  location.replace('/login');
}

new BroadcastChannel('ctl').onmessage = e => {
  if (e.data === 'out') location.replace('/login');
};
