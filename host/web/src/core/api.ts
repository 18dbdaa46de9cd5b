// Calls to the controller: one way to send, one way to say what went wrong.
import { signal } from '@preact/signals';
import { Operations } from '../api/types';

/** What the controller answered instead of what was asked for. */
export class Fault extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly reason = '',
    readonly path = '',
    readonly retryAfter = 0,
  ) {
    super(message);
  }
}

/** Set while the controller does not answer: since when. */
export const away = signal<Date | null>(null);

/** Set when the session has ended: the page shows the login over what it shows. */
export const loggedOut = signal(false);

export interface Options {
  method?: string;
  body?: unknown;
  text?: string;
  type?: string;
  background?: boolean;
  signal?: AbortSignal;
  accept?: string;
}

function explain(text: string, status: number): { message: string; reason: string; path: string } {
  try {
    const o = JSON.parse(text);
    const e = (o.errors ?? o['ietf-restconf:errors'])?.error?.[0];
    if (e)
      return {
        message: e['error-message'] ?? e['error-tag'],
        reason: '',
        path: e['error-path'] ?? '',
      };
    return {
      message: o.details ?? o.detail ?? o.error_description ?? o.message ?? text,
      reason: o.reason ?? '',
      path: '',
    };
  } catch {
    return { message: text.slice(0, 300) || `the answer was ${status}`, reason: '', path: '' };
  }
}

/**
 * send makes a request and returns the response, whatever its status; it fails only when the
 * controller is away.
 */
export async function send(path: string, o: Options = {}): Promise<Response> {
  const headers: Record<string, string> = {
    Accept: o.accept ?? 'application/json',
    'X-Requested-With': 'ctl',
  };
  if (o.background) headers['Ctl-Background'] = '1';
  let body: string | undefined;
  if (o.text !== undefined) body = o.text;
  else if (o.body !== undefined) body = JSON.stringify(o.body);
  if (body !== undefined) headers['Content-Type'] = o.type ?? 'application/json';
  try {
    const r = await fetch(path, {
      method: o.method ?? (body === undefined ? 'GET' : 'POST'),
      headers,
      body,
      signal: o.signal ?? null,
    });
    away.value = null;
    return r;
  } catch (e) {
    if (o.signal?.aborted) throw e;
    away.value ??= new Date();
    const unsure = (o.method ?? 'GET') !== 'GET' || body !== undefined;
    throw new Fault(
      0,
      'The controller does not answer.' +
        (unsure ? ' Whether the request was carried out is not known.' : ''),
    );
  }
}

/** hasEnded reports whether a request was refused because there is no session any more. */
const hasEnded = (f: Fault): boolean =>
  f.status === 401 && (f.reason === 'session' || f.reason === 'login');

/** faultOf reads the refusal in a response. */
export async function faultOf(r: Response): Promise<Fault> {
  const { message, reason, path } = explain(await r.text(), r.status);
  const retryAfter = Number(r.headers.get('Retry-After') ?? 0),
    fault = new Fault(r.status, message, reason, path, retryAfter);
  if (hasEnded(fault)) loggedOut.value = true;
  return fault;
}

/** waiting are those who wait for the login over the page, each with what goes on after it. */
const waiting = new Set<(same: boolean) => void>();

/**
 * nextLogin waits for the login over the page after a session has ended. It returns whether the
 * request is to be sent again: only for the same user, and not for what the page asked by itself.
 */
function nextLogin(o: Options): Promise<boolean> {
  if (o.background || !me.peek()) return Promise.resolve(false);
  return new Promise(resolve => {
    const go = (same: boolean) => {
      waiting.delete(go);
      resolve(same && !o.signal?.aborted);
    };
    waiting.add(go);
    o.signal?.addEventListener('abort', () => go(false));
  });
}

/** resume goes on after a login over the page: requests of the same user are sent again. */
export async function resume(): Promise<void> {
  const before = me.peek()?.user;
  loggedOut.value = false;
  const now = await askMe();
  for (const go of [...waiting]) go(now.user === before);
}

/** text sends a request and returns the text of its answer; anything but success is a Fault. */
export async function text(path: string, o: Options = {}): Promise<string> {
  let r = await send(path, o);
  if (!r.ok) {
    const fault = await faultOf(r);
    if (!hasEnded(fault) || !(await nextLogin(o))) throw fault;
    r = await send(path, o); // it was refused before, so it is not carried out twice
    if (!r.ok) throw await faultOf(r);
  }
  return r.text();
}

/** call sends a request and returns the JSON of its answer. */
export async function call<T>(path: string, o: Options = {}): Promise<T> {
  const answer = await text(path, o);
  return (answer ? JSON.parse(answer) : undefined) as T;
}

type Output<N extends keyof Operations> = Operations[N]['output'];

/** rpc calls an operation and returns its output, or what is in its output by another name. */
export async function rpc<N extends keyof Operations>(
  name: N,
  input?: Operations[N]['input'],
  o: Options = {},
): Promise<Output<N>> {
  const answer = await call<{ output?: Output<N> } | undefined>('/restconf/operations/' + name, {
    ...o,
    method: 'POST',
    body: { input: input ?? {} },
  });
  return (answer?.output ?? answer ?? {}) as Output<N>;
}

/**
 * show runs a command of the console that changes nothing and returns what it shows; findings are
 * why it failed although it showed something.
 */
export async function show<T>(
  command: string,
  o: Options = {},
): Promise<{ value: T; findings: string }> {
  const r = await rpc('ctl-system:show', { command }, o);
  return { value: JSON.parse(r.content || 'null') as T, findings: r.error ?? '' };
}

/** word writes an argument of a command so that it is one word. */
export const word = (s: string): string => "'" + s.replace(/'/g, "'\\''") + "'";

export interface Me {
  user: string;
  domain: string;
  roles: string[];
  local: boolean;
  session: { id: string; expires: string; ends: string } | null;
  may: Record<string, boolean>;
}

export const me = signal<Me | null>(null);

/** askMe reads who is logged in, and whether the given requests would be allowed. */
export async function askMe(may: string[] = []): Promise<Me> {
  const q = may.map(m => 'may=' + encodeURIComponent(m)).join('&');
  const got = await call<Me>('/web/me' + (q ? '?' + q : ''), { background: true });
  me.value = { ...got, may: { ...me.value?.may, ...got.may } };
  return me.value;
}

/** faultFrom is what was thrown, as something that can be shown. */
export const faultFrom = (e: unknown): Fault =>
  e instanceof Fault ? e : new Fault(0, e instanceof Error ? e.message : String(e));

export const isAdmin = () => me.value?.roles.includes('admin') ?? false;
