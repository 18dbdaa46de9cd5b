'use strict';
// el makes an element. Text goes in as text, never as markup: it may come from a device.
function el(tag, attrs, ...children) {
  const e = document.createElement(tag);
  for (const [k, v] of Object.entries(attrs || {})) {
    if (k.startsWith('on')) e.addEventListener(k.slice(2), v);
    else if (v !== false && v != null) e.setAttribute(k, v);
  }
  e.append(...children.filter(c => c != null));
  return e;
}

async function load(url) {
  // An absolute address: the page's own may carry credentials, which fetch refuses.
  const r = await fetch(location.origin + url, { headers: { Accept: 'application/json' } });
  if (!r.ok) throw new Error(r.status + ' ' + r.statusText);
  return r.json();
}

// chooser fills #list with entries under group headings and filters them by #filter.
function chooser(groups, choose) {
  const list = document.getElementById('list'), filter = document.getElementById('filter');
  const draw = () => {
    const want = filter.value.toLowerCase();
    list.replaceChildren();
    for (const [group, entries] of groups) {
      const match = entries.filter(e => (group + ' ' + e.label).toLowerCase().includes(want));
      if (!match.length) continue;
      if (group) list.append(el('li', { class: 'group' }, group));
      for (const e of match) {
        list.append(el('li', {}, el('button', { 'aria-pressed': 'false', onclick: ev => {
          list.querySelectorAll('[aria-pressed=true]').forEach(b => b.setAttribute('aria-pressed', 'false'));
          ev.currentTarget.setAttribute('aria-pressed', 'true');
          choose(e);
        } }, e.verb ? el('span', { class: 'verb' }, e.verb) : null, e.label)));
      }
    }
  };
  filter.addEventListener('input', draw);
  draw();
}
