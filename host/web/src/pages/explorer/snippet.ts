// A request in a shell, in Python and in Go.

/** Request is what is written. */
export interface Request {
  verb: string;
  url: string;
  body: string;
  type: string;
  /** Whether the answer is a stream of events. */
  stream: boolean;
}

/** shell writes a text as one word of a shell. */
export const shell = (s: string) => "'" + s.replace(/'/g, "'\\''") + "'";

/** goString writes a text as Go does, raw where it can be. */
const goString = (s: string) => (s.includes('`') ? JSON.stringify(s) : '`' + s + '`');

/** inPython writes a request with the library requests. */
function inPython(r: Request): string {
  const body = r.body
    ? `,\n    headers={"Content-Type": "${r.type}"}, data=${JSON.stringify(r.body)}`
    : '';
  const target = `${JSON.stringify(r.verb)}, ${JSON.stringify(r.url)}`;
  return [
    'import requests',
    `r = requests.request(${target}, auth=("USER", "PASSWORD")${body})`,
    'print(r.status_code, r.text)',
  ].join('\n');
}

/** inGo writes a request with net/http. */
function inGo(r: Request): string {
  const body = r.body ? `strings.NewReader(${goString(r.body)})` : 'nil';
  const target = `${JSON.stringify(r.verb)}, ${JSON.stringify(r.url)}`;
  return [
    `req, err := http.NewRequestWithContext(ctx, ${target}, ${body})`,
    'if err != nil {',
    '\treturn err',
    '}',
    'req.SetBasicAuth(user, password)',
    ...(r.body ? [`req.Header.Set("Content-Type", "${r.type}")`] : []),
    'res, err := http.DefaultClient.Do(req)',
  ].join('\n');
}

/** inShell writes a request for curl. */
function inShell(r: Request): string {
  const implied = r.verb === 'GET' || (r.verb === 'POST' && r.body);
  return [
    'curl -u USER',
    ...(r.stream ? ["-N -H 'Accept: text/event-stream'"] : []),
    ...(implied ? [] : [`-X ${r.verb}`]),
    ...(r.body ? [`-H 'Content-Type: ${r.type}' -d ${shell(r.body)}`] : []),
    shell(r.url),
  ].join(' ');
}

/** snippet writes a request in the language that is chosen. */
export function snippet(language: string, r: Request): string {
  if (language === 'python') return inPython(r);
  if (language === 'go') return inGo(r);
  return inShell(r);
}
