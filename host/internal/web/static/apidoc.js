'use strict';
// sample makes an example value of a schema, with $ref followed.
function sample(s, doc, depth = 0) {
  if (!s || depth > 8) return null;
  if (s.$ref) return sample(s.$ref.slice(2).split('/').reduce((o, k) => o[k.replace(/~1/g, '/').replace(/~0/g, '~')], doc), doc, depth + 1);
  if (s.example !== undefined) return s.example;
  if (s.default !== undefined) return s.default;
  if (s.enum) return s.enum[0];
  if (s.oneOf || s.anyOf) return sample((s.oneOf || s.anyOf)[0], doc, depth + 1);
  if (s.allOf) return Object.assign({}, ...s.allOf.map(x => sample(x, doc, depth + 1)));
  switch (Array.isArray(s.type) ? s.type[0] : s.type) {
    case 'object': return Object.fromEntries(Object.entries(s.properties || {}).filter(([k]) => depth < 2 || !s.required || s.required.includes(k)).map(([k, v]) => [k, sample(v, doc, depth + 1)]));
    case 'array': return [sample(s.items, doc, depth + 1)];
    case 'integer': case 'number': return s.minimum ?? 0;
    case 'boolean': return false;
    case 'null': return null;
  }
  return '';
}

// following is the event stream on the page, if any: another choice ends it.
let following = null;
const kept = 200; // events on the page

// follow shows the events of a stream, the newest first, until it ends.
async function follow(response, list) {
  const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
  let rest = '';
  for (;;) {
    const { done, value } = await reader.read();
    if (done) return;
    const parts = (rest + value).split('\n\n');
    rest = parts.pop();
    for (const part of parts) {
      const data = part.split('\n').filter(l => l.startsWith('data:')).map(l => l.slice(5).trim()).join('\n');
      if (!data) continue; // a comment that keeps the connection open
      let shown = data;
      try { shown = JSON.stringify(JSON.parse(data), null, 2); } catch (x) { /* not JSON: as it came */ }
      list.prepend(el('pre', { class: 'event' }, shown));
      while (list.childElementCount > kept) list.lastChild.remove();
    }
  }
}

// most is how much of an answer is put on the page at once: a browser takes seconds for
// some megabytes.
const most = 200000;

// hints say what to do about an answer that its own text does not explain to everyone.
const hints = {
  401: 'To log in again, reload the page.',
  503: 'What serves this is not ready, a plugin may be starting again: try once more in a moment.',
  504: 'A device or service did not answer in time.',
};

// words are what an answer says is wrong, in any of the forms that errors have here.
function words(raw) {
  try {
    const a = JSON.parse(raw), list = (a.errors || a['ietf-restconf:errors'] || {}).error;
    if (list) return list.slice(0, 3).map(e => [e['error-path'], e['error-message']].filter(Boolean).join(': ')).join('; ') + (list.length > 3 ? ` and ${list.length - 3} more` : '');
    return a.details || a.detail || a.error_description || '';
  } catch (x) { return raw.length < 300 ? raw.trim() : ''; }
}

function shell(text) { return `'${text.replace(/'/g, "'\\''")}'`; }

// answer shows the body of a response, a long one in part at first.
function answer(raw) {
  let text = raw;
  try { text = JSON.stringify(JSON.parse(raw), null, 2); } catch (x) { /* not JSON: as it came */ }
  const pre = el('pre', { id: 'answer', tabindex: '0', role: 'region', 'aria-label': 'Answer' }, text.slice(0, most) || '(no content)');
  if (text.length <= most) return [pre];
  const rest = el('p', { class: 'soft' }, `The first ${most} of ${text.length} characters. `, el('button', { onclick: () => { pre.textContent = text; rest.remove(); } }, 'Show all'));
  return [rest, pre];
}

function show(e, doc) {
  if (following) following.abort();
  const op = e.op, body = op.requestBody && op.requestBody.content && Object.values(op.requestBody.content)[0];
  const text = body ? el('textarea', { spellcheck: 'false', 'aria-label': 'Body' }) : null;
  if (text) {
    text.value = JSON.stringify(sample(body.schema, doc), null, 2);
    text.rows = Math.min(30, text.value.split('\n').length + 1);
  }
  const url = el('input', { type: 'text', spellcheck: 'false', value: e.path, 'aria-label': 'Address' }), curl = el('pre', { tabindex: '0' });
  const said = el('p', { role: 'status' }), out = el('div', {});
  const streams = Object.values(op.responses || {}).some(r => r.content && r.content['text/event-stream']);
  const say = (kind, words) => { said.className = kind; said.textContent = words; };
  const line = () => {
    const b = text ? ` -H 'Content-Type: application/json' -d ${shell(text.value.replace(/\s*\n\s*/g, ' '))}` : '';
    curl.textContent = `curl -u USER${streams ? ' -N' : ''} -X ${e.verb}${b} ${shell(location.origin + url.value)}`;
  };
  // A field for each {name} in the address: a value is encoded as the address needs it.
  const fields = [...e.path.matchAll(/\{([^}]+)\}/g)].map(([whole, name]) => ({ whole, name, input: el('input', { type: 'text', spellcheck: 'false' }) }));
  const fill = () => {
    url.value = fields.reduce((u, f) => f.input.value ? u.replace(f.whole, () => encodeURIComponent(f.input.value)) : u, e.path);
    line();
  };
  fields.forEach(f => f.input.addEventListener('input', fill));
  const send = async () => {
    if (following) following.abort();
    const mine = following = new AbortController(), began = performance.now();
    out.replaceChildren();
    const open = fields.find(f => url.value.includes(f.whole));
    if (open) { say('bad', `The address needs a value for ${open.name}.`); open.input.focus(); return; }
    if (!url.value.startsWith('/')) { say('bad', 'The address begins with a slash.'); url.focus(); return; }
    say('soft', 'sent …');
    try {
      const r = await fetch(location.origin + url.value, { method: e.verb, headers: text ? { 'Content-Type': 'application/json' } : {}, body: text ? text.value : undefined, signal: mine.signal });
      if (r.ok && (r.headers.get('Content-Type') || '').startsWith('text/event-stream')) {
        const list = el('div', { id: 'events' });
        say('good', 'following; events appear here');
        out.replaceChildren(el('button', { id: 'stop', onclick: () => mine.abort() }, 'Stop'), list);
        await follow(r, list);
        say('soft', 'ended by the controller');
        document.getElementById('stop')?.remove();
        return;
      }
      const raw = await r.text();
      say(r.ok ? 'good' : 'bad', [`${r.status} ${r.statusText} after ${Math.round(performance.now() - began)} ms`, !r.ok && words(raw), hints[r.status]].filter(Boolean).join('. '));
      out.replaceChildren(...answer(raw));
    } catch (x) {
      if (following !== mine) return; // another request has taken its place
      if (mine.signal.aborted) { say('soft', 'ended'); out.querySelector('#stop')?.remove(); return; }
      say('bad', `The controller does not answer, or the connection broke off (${x.message}). ` + (e.verb === 'GET' ? 'Try again.' : 'Whether the request was carried out is not known.'));
    }
  };
  const keys = ev => { if (ev.key === 'Enter' && (ev.ctrlKey || ev.metaKey || ev.target !== text)) { ev.preventDefault(); send(); } };
  [url, ...(text ? [text] : []), ...fields.map(f => f.input)].forEach(x => x.addEventListener('keydown', keys));
  if (text) text.addEventListener('input', line);
  url.addEventListener('input', line);
  line();
  detail.replaceChildren(el('h2', {}, `${e.verb} `, e.path), el('p', {}, op.description || op.summary || ''),
    ...fields.map(f => el('label', {}, f.name, f.input)), url, ...(text ? [text] : []),
    el('p', {}, el('button', { id: 'send', onclick: send }, 'Send'), el('span', { class: 'soft' }, text ? '  Ctrl+Enter' : '  Enter')), said, out, el('h2', {}, 'The same in a shell'), curl);
}

(async () => {
  try {
    const doc = await load('/apidoc/openapi.json'), groups = new Map();
    for (const [path, item] of Object.entries(doc.paths || {})) {
      for (const verb of ['get', 'post', 'put', 'patch', 'delete']) { // reading first, deleting last
        const op = item[verb];
        if (!op) continue;
        const g = (op.tags && op.tags[0]) || '';
        if (!groups.has(g)) groups.set(g, []);
        groups.get(g).push({ id: `${verb.toUpperCase()} ${path}`, verb: verb.toUpperCase(), path, op, label: path.replace(/^\/restconf\/(operations\/)?/, '') });
      }
    }
    chooser([...groups].sort((a, b) => a[0] < b[0] ? -1 : 1), e => show(e, doc));
  } catch (e) {
    detail.replaceChildren(el('p', { class: 'bad' }, 'The description of the API cannot be loaded: ' + e.message));
  }
})();
