'use strict';
function describe(n) {
  const more = [n.kind !== n.name && n.kind, n.type, n.range && `(${n.range})`, n.keys && `[${n.keys.join(' ')}]`, n.mandatory && 'mandatory',
    n.default && `default ${n.default}`, n.readOnly && 'state'].filter(Boolean).join(' ');
  return [el('b', {}, n.name), ' ', el('span', { class: 'kind' }, more)];
}

function note(n) {
  const text = [n.description, n.values && 'One of ' + n.values.join(', ') + '.'].filter(Boolean).join(' ');
  return text ? el('div', { class: 'note' }, text) : null;
}

function draw(n, open) {
  if (!n.children) return el('div', { class: 'leaf' }, ...describe(n), note(n));
  return el('details', { open: open ? '' : false }, el('summary', {}, ...describe(n)), note(n), ...n.children.map(c => draw(c, n.kind === 'rpc' || open > 1)));
}

function show(m) {
  const part = (title, nodes, open) => nodes && nodes.length ? [el('h2', {}, title), ...nodes.map(n => draw(n, open))] : [];
  detail.replaceChildren(el('h2', {}, m.name, ' ', el('small', {}, `${m.revision} – ${m.namespace} – from ${m.source}`)), el('p', {}, m.description || ''),
    ...part('Operations', m.rpcs, 0), ...part('Data', m.data, 2), ...part('Notifications', m.notifications, 0),
    el('details', {}, el('summary', {}, 'The module’s text'), el('pre', { tabindex: '0' }, m.text)));
}

(async () => {
  try {
    const all = await load('/yangui/schema.json');
    chooser([['', all.map(m => ({ id: m.name, label: m.name, m }))]], e => show(e.m));
  } catch (e) {
    detail.replaceChildren(el('p', { class: 'bad' }, 'The schema cannot be loaded: ' + e.message));
  }
})();
