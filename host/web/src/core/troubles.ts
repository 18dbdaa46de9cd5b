// What is wrong now, as the controller lists it: every page shows the number, the map what is lost.
import { signal } from '@preact/signals';
import { RowOf } from '../api/rows';
import { loggedOut, rpc } from './api';
import { onEvents } from './events';

/** Trouble is one thing that is wrong. */
export type Trouble = RowOf<'ctl-system:get-troubles', 'trouble'>;

/** TroubleSource is one of those that were asked. */
export type TroubleSource = RowOf<'ctl-system:get-troubles', 'source'>;

export interface Troubles {
  open: number;
  list: Trouble[];
  sources: TroubleSource[];
}

/** troubles is the newest list; null while it is not known. */
export const troubles = signal<Troubles | null>(null);

/** readTroubles reads the list again. */
export async function readTroubles(): Promise<Troubles> {
  const a = await rpc('ctl-system:get-troubles', {}, { background: true });
  const now = { open: a.open ?? 0, list: a.trouble ?? [], sources: a.source ?? [] };
  troubles.value = now;
  return now;
}

/** isOpen reports whether a trouble asks for somebody. */
export const isOpen = (t: Trouble): boolean => !t.acknowledged && !t.silenced;

const every = 30_000,
  icons = { calm: '/web/static/icon.svg', alarm: '/web/static/icon-alarm.svg' };

/** markWindow shows the number of open troubles in the title and the icon of the window. */
function markWindow(): void {
  const n = troubles.value?.open ?? 0,
    icon = document.querySelector<HTMLLinkElement>('link[rel=icon]'),
    href = n ? icons.alarm : icons.calm;
  document.title = (n ? `(${n}) ` : '') + document.title.replace(/^\(\d+\) /, '');
  if (icon && icon.getAttribute('href') !== href) icon.setAttribute('href', href);
}

/** watchTroubles keeps the list up to date. */
export function watchTroubles(): void {
  const read = () => {
    if (!document.hidden && !loggedOut.peek()) readTroubles().catch(() => undefined);
  };
  onEvents(events => {
    if (!events.length || events.some(e => e.stream === 'troubles')) read();
  });
  setInterval(read, every);
  troubles.subscribe(markWindow);
  read();
}
