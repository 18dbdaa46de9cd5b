// What all pages need before they are shown.
import { askMe, call } from './core/api';
import { follow } from './core/events';
import { refresh } from './map/store';

/** start reads what all pages need. */
export async function start() {
  await askMe();
  void refresh();
  const list = await call<{ streams?: { stream?: { name: string }[] } }>('/restconf/streams', {
    background: true,
  }).catch(() => ({ streams: { stream: [] } }));
  follow((list.streams?.stream ?? []).map(s => s.name));
}

/**
 * restart reads it again; that the controller is away, or the session has ended, is shown by the
 * signals of core/api.
 */
export const restart = (): void => {
  start().catch(() => undefined);
};
