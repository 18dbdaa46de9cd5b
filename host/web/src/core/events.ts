// The one stream of events, open while the page is visible. After a break it goes on where it was.
import { signal } from '@preact/signals';

export interface Event {
  stream: string;
  time: string;
  name: string;
  data: Record<string, unknown>;
}

export const recent = signal<Event[]>([]);

const kept = 300,
  merged = 250;

const listeners = new Set<(events: Event[]) => void>();

let source: EventSource | null = null,
  last = '',
  waiting: Event[] = [],
  timer = 0,
  streams: string[] = [];

/** onEvents calls f with what has happened, at most four times a second. */
export function onEvents(f: (events: Event[]) => void): () => void {
  listeners.add(f);
  return () => {
    listeners.delete(f);
  };
}

function flush() {
  timer = 0;
  const now = waiting;
  waiting = [];
  recent.value = [...now.reverse(), ...recent.value].slice(0, kept);
  listeners.forEach(f => f(now));
}

function take(m: MessageEvent<string>) {
  if (m.lastEventId === last) return;
  last = m.lastEventId;
  const n = (JSON.parse(m.data) as Record<string, Record<string, unknown>>)[
    'ietf-restconf:notification'
  ];
  if (!n) return;
  const name = Object.keys(n).find(k => k !== 'eventTime') ?? '';
  waiting.push({
    stream: m.type,
    time: String(n.eventTime),
    name,
    data: (n[name] ?? {}) as Record<string, unknown>,
  });
  timer ||= window.setTimeout(flush, merged);
}

function open() {
  if (document.hidden || source || !streams.length) return;
  source = new EventSource('/web/events');
  streams.forEach(s => source!.addEventListener(s, take as EventListener));
}

/** follow begins to read the streams of these names. */
export function follow(names: string[]): void {
  if (names.join() === streams.join()) return;
  streams = names;
  source?.close();
  source = null;
  open();
}

document.addEventListener('visibilitychange', () => {
  if (document.hidden) {
    source?.close();
    source = null;
  } else {
    open();
    listeners.forEach(f => f([]));
  }
});
