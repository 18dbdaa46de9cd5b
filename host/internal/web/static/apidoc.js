'use strict';
const detail = document.getElementById('detail');

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

function show(e, doc) {
  if (following) following.abort();
  const op = e.op, body = op.requestBody && op.requestBody.content && Object.values(op.requestBody.content)[0];
  const text = body ? el('textarea', { spellcheck: 'false', 'aria-label': 'Body' }) : null;
  if (text) text.value = JSON.stringify(sample(body.schema, doc), null, 2);
  const url = el('input', { type: 'search', value: e.path, 'aria-label': 'Address' }), curl = el('pre', {}), out = el('div', {});
  const streams = Object.values(op.responses || {}).some(r => r.content && r.content['text/event-stream']);
  const line = () => {
    const b = text ? ` -H 'Content-Type: application/json' -d '${text.value.replace(/\s*\n\s*/g, ' ').replace(/'/g, "'\\''")}'` : '';
    curl.textContent = `curl -u USER${streams ? ' -N' : ''} -X ${e.verb}${b} '${location.origin}${url.value}'`;
  };
  const send = async () => {
    out.replaceChildren(el('p', { class: 'soft' }, 'sent …'));
    if (following) following.abort();
    const mine = following = new AbortController(), began = performance.now();
    try {
      const r = await fetch(location.origin + url.value, { method: e.verb, headers: text ? { 'Content-Type': 'application/json' } : {}, body: text ? text.value : undefined, signal: mine.signal });
      if (r.ok && (r.headers.get('Content-Type') || '').startsWith('text/event-stream')) {
        const list = el('div', { id: 'events' });
        out.replaceChildren(el('p', { class: 'good' }, 'following; events appear here ', el('button', { id: 'stop', onclick: () => mine.abort() }, 'Stop')), list);
        await follow(r, list);
        return;
      }
      const raw = await r.text();
      let shown = raw;
      try { shown = JSON.stringify(JSON.parse(raw), null, 2); } catch (x) { /* not JSON: as it came */ }
      out.replaceChildren(el('p', { class: r.ok ? 'good' : 'bad' }, `${r.status} ${r.statusText} after ${Math.round(performance.now() - began)} ms`), el('pre', { id: 'answer' }, shown || '(no content)'));
    } catch (x) {
      if (mine.signal.aborted) { out.prepend(el('p', { class: 'soft' }, 'ended')); return; }
      out.replaceChildren(el('p', { class: 'bad' }, String(x)));
    }
  };
  (text || url).addEventListener('input', line);
  url.addEventListener('input', line);
  line();
  detail.replaceChildren(el('h2', {}, `${e.verb} `, e.path), el('p', {}, op.description || op.summary || ''), url, ...(text ? [text] : []),
    el('p', {}, el('button', { id: 'send', onclick: send }, 'Send')), out, el('h2', {}, 'The same in a shell'), curl);
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
        groups.get(g).push({ verb: verb.toUpperCase(), path, op, label: path.replace(/^\/restconf\/(operations\/)?/, '') });
      }
    }
    chooser([...groups].sort((a, b) => a[0] < b[0] ? -1 : 1), e => show(e, doc));
  } catch (e) {
    detail.replaceChildren(el('p', { class: 'bad' }, 'The description of the API cannot be loaded: ' + e.message));
  }
})();
