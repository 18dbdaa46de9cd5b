// The request of an operation, and its answer.
import { Fault, send } from '../../core/api';
import { readText } from './answer';
import { Entry } from './document';
import { Schema } from './schema';

/** Operation is what is known of an operation before it is filled in. */
export interface Operation {
  entry: Entry;
  /** The type of the body, and its schema. */
  type: string;
  isForm: boolean;
  schema: Schema | undefined;
  /** Whether it answers with events, until it is stopped. */
  stream: boolean;
}

/** operationOf is the operation of an entry of the description. */
export function operationOf(entry: Entry): Operation {
  const media = Object.entries(entry.op.requestBody?.content ?? {}),
    chosen = media.find(([m]) => m.includes('json')) ?? media[0],
    type = chosen?.[0] ?? 'application/json',
    answer = entry.op.responses?.['200']?.content ?? {};
  return {
    entry,
    type,
    isForm: type.includes('x-www-form'),
    schema: chosen?.[1].schema,
    stream: /\/streams\/(json|xml|stream)\//.test(entry.path) || 'text/event-stream' in answer,
  };
}

/** urlOf is the address of an operation with the values of its parameters. */
export function urlOf(entry: Entry, values: Record<string, string>): string {
  const path = entry.path.replace(
    /\{([^}]+)\}/g,
    (_, n: string) => encodeURIComponent(values[n] ?? '').replace(/%3A/g, ':') || `{${n}}`,
  );
  const query = new URLSearchParams(
    entry.parameters
      .filter(p => p.in === 'query' && values[p.name])
      .map(p => [p.name, values[p.name]!]),
  ).toString();
  return query ? `${path}?${query}` : path;
}

/** missingOf is the first parameter without which an operation cannot be sent. */
export const missingOf = (entry: Entry, values: Record<string, string>): string | undefined =>
  entry.parameters.find(
    p => (p.in === 'path' || p.required) && p.in !== 'header' && !values[p.name],
  )?.name;

/** Answer is an answer as it is shown. */
export interface Answer {
  status: number;
  took: number;
  text: string;
  whole: boolean;
  headers: string;
  fault?: Fault;
}

/** faultIn reads a refusal in the text of an answer. */
function faultIn(status: number, text: string): Fault | undefined {
  try {
    const o = JSON.parse(text),
      x = (o.errors ?? o['ietf-restconf:errors'])?.error?.[0],
      message = x?.['error-message'] ?? o.details ?? o.detail ?? o.error_description ?? '';
    return new Fault(status, message, '', x?.['error-path'] ?? '');
  } catch {
    return undefined; // it is no JSON
  }
}

/** indented is JSON with a line for each member; other text stays. */
function indented(text: string): string {
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

/** follow reads the events of an answer, and shows the newest of them, until it ends. */
async function follow(r: Response, answer: Answer, show: (a: Answer) => void): Promise<void> {
  let text = '';
  const reader = r.body!.pipeThrough(new TextDecoderStream()).getReader();
  show(answer);
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    text = (text + value).slice(-200_000);
    show({ ...answer, text });
  }
}

/** sendRequest sends an operation, and shows its answer as it comes. */
export async function sendRequest(
  o: Operation,
  url: string,
  text: string,
  signal: AbortSignal,
  show: (a: Answer) => void,
  onStatus: (status: number) => void,
): Promise<void> {
  const began = performance.now(),
    withBody = text !== '' && o.entry.verb !== 'GET';
  const r = await send(url, {
    method: o.entry.verb,
    ...(withBody ? { text, type: o.type } : {}),
    signal,
    accept: o.stream ? 'text/event-stream' : '*/*',
  });
  const headers = [...r.headers].map(([k, v]) => `${k}: ${v}`).join('\n'),
    took = Math.round(performance.now() - began),
    answer: Answer = { status: r.status, took, headers, text: '', whole: true };
  onStatus(r.status);
  if (o.stream && r.ok && r.body) return follow(r, answer, show);
  const { text: content, whole } = await readText(r),
    fault = r.ok ? undefined : faultIn(r.status, content);
  show({
    ...answer,
    text: whole ? indented(content) : content,
    whole,
    ...(fault ? { fault } : {}),
  });
}
