// What is wrong now, as the controller lists it: every page shows the number, the map what is lost.
import { effect, signal } from '@preact/signals';
import { RowOf } from '../api/rows';
import { Fault, faultFrom, loggedOut, rpc } from './api';
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

/** failure is why the list is not known after it was asked for. */
export const failure = signal<Fault | null>(null);

/** asked counts the reads; decided is the newest one whose answer is known, or does not matter. */
let asked = 0,
  decided = 0;

/** decide keeps the result of a read, unless that of a newer one is known. */
function decide(read: number, list: Troubles | null, why: Fault | null): void {
  if (read <= decided) return;
  decided = read;
  troubles.value = list;
  failure.value = why;
}

/** readTroubles reads the list again. When that fails, the list is not known any more. */
export async function readTroubles(): Promise<Troubles> {
  const read = ++asked;
  try {
    const a = await rpc('ctl-system:get-troubles', {}, { background: true });
    const now = { open: a.open ?? 0, list: a.trouble ?? [], sources: a.source ?? [] };
    decide(read, now, null);
    return now;
  } catch (e) {
    decide(read, null, faultFrom(e));
    throw e;
  }
}

/**
 * openTroubles is the number of open troubles as people see it: empty for none, and for who may not
 * know it; ? while it is not known.
 */
export function openTroubles(): string {
  const status = failure.value?.status;
  if (status === undefined || status === 401 || status === 403)
    return String(troubles.value?.open || '');
  return '?';
}

/** inTitle is the number of open troubles at the begin of a title. */
export const inTitle = /^\((\d+|\?)\) /;

/** isOpen reports whether a trouble asks for somebody. */
export const isOpen = (t: Trouble): boolean => !t.acknowledged && !t.silenced;

const every = 30_000,
  icons = { calm: '/web/static/icon.svg', alarm: '/web/static/icon-alarm.svg' };

/** markWindow shows the number of open troubles in the title and the icon of the window. */
function markWindow(): void {
  const n = openTroubles(),
    icon = document.querySelector<HTMLLinkElement>('link[rel=icon]'),
    href = n ? icons.alarm : icons.calm;
  document.title = (n ? `(${n}) ` : '') + document.title.replace(inTitle, '');
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
  effect(markWindow);
  loggedOut.subscribe(out => {
    if (out)
      decide(++asked, null, null); // another user may log in
    else read();
  });
}
