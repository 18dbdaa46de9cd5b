'use strict';
const detail = document.getElementById('detail');

function describe(n) {
  const more = [n.kind, n.type, n.range && `(${n.range})`, n.keys && `[${n.keys.join(' ')}]`, n.mandatory && 'mandatory',
    n.default && `default ${n.default}`, n.readOnly && n.kind !== 'rpc' && 'state'].filter(Boolean).join(' ');
  return [el('b', {}, n.name), ' ', el('span', { class: 'kind' }, more)];
}

function draw(n, open) {
  if (!n.children) return el('div', { class: 'leaf', title: [n.description, n.values && n.values.join(', ')].filter(Boolean).join('\n') || null }, ...describe(n));
  return el('details', { open: open ? '' : false, title: n.description || null }, el('summary', {}, ...describe(n)), ...n.children.map(c => draw(c, n.kind === 'rpc' || open > 1)));
}

function show(m) {
  const part = (title, nodes, open) => nodes && nodes.length ? [el('h2', {}, title), ...nodes.map(n => draw(n, open))] : [];
  detail.replaceChildren(el('h2', {}, m.name, ' ', el('small', {}, `${m.revision} – ${m.namespace} – from ${m.source}`)), el('p', {}, m.description || ''),
    ...part('Operations', m.rpcs, 0), ...part('Data', m.data, 2), ...part('Notifications', m.notifications, 0),
    el('details', {}, el('summary', {}, 'The module’s text'), el('pre', {}, m.text)));
}

(async () => {
  try {
    const all = await load('/yangui/schema.json');
    chooser([['', all.map(m => ({ label: m.name, m }))]], e => show(e.m));
  } catch (e) {
    detail.replaceChildren(el('p', { class: 'bad' }, 'The schema cannot be loaded: ' + e.message));
  }
})();
