'use strict';
const detail = document.getElementById('detail');

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
  let r;
  try {
    r = await fetch(location.origin + url, { headers: { Accept: 'application/json' } });
  } catch (x) {
    throw new Error('the controller does not answer');
  }
  if (!r.ok) throw Object.assign(new Error(r.status + ' ' + r.statusText), { status: r.status });
  return r.json();
}

// chooser fills #list with entries under group headings and filters them by #filter. What
// is chosen stands in the address, so that it can be linked to, reloaded and gone back to.
// In the list the arrow keys move; Tab leaves it.
function chooser(groups, choose) {
  const list = document.getElementById('list'), filter = document.getElementById('filter');
  const title = document.title, blank = [...detail.childNodes], all = groups.flatMap(([, entries]) => entries);
  let current = null;
  const buttons = () => [...list.querySelectorAll('button')];
  const stop = () => { // one button of the list is in the order of Tab
    const b = buttons(), at = b.find(x => x.entry === current) || b[0];
    b.forEach(x => { x.tabIndex = x === at ? 0 : -1; x.setAttribute('aria-pressed', String(x.entry === current)); });
    return at;
  };
  const draw = () => {
    const want = filter.value.trim().toLowerCase();
    list.replaceChildren();
    for (const [group, entries] of groups) {
      const match = entries.filter(e => (group + ' ' + (e.verb || '') + ' ' + e.label).toLowerCase().includes(want));
      if (!match.length) continue;
      if (group) list.append(el('li', { class: 'group' }, group));
      for (const e of match) {
        const b = el('button', { onclick: () => open(e) }, e.verb ? el('span', { class: 'verb' }, e.verb) : null, el('span', { class: 'label' }, e.label));
        b.entry = e;
        list.append(el('li', {}, b));
      }
    }
    if (!list.firstChild) list.append(el('li', { class: 'soft', role: 'status' }, `Nothing here matches “${filter.value}”.`));
    stop();
  };
  const open = e => {
    if (location.hash === '#' + encodeURIComponent(e.id)) follow();
    else location.hash = encodeURIComponent(e.id);
  };
  // follow shows what the address names.
  const follow = () => {
    let id = location.hash.slice(1);
    try { id = decodeURIComponent(id); } catch (x) { /* as it stands */ }
    current = all.find(e => e.id === id) || null;
    document.title = current ? `${current.id} – ${title}` : title;
    stop();
    if (current) choose(current);
    else detail.replaceChildren(...(id ? [el('p', { class: 'bad' }, `There is no “${id}” here (any more).`)] : blank));
    if (current && detail.getBoundingClientRect().top > innerHeight / 2) detail.scrollIntoView(); // below the list
  };
  filter.addEventListener('input', draw);
  filter.addEventListener('keydown', ev => {
    const first = buttons()[0];
    if (ev.key === 'ArrowDown' && first) { ev.preventDefault(); first.focus(); }
    if (ev.key === 'Enter' && first) open(first.entry);
  });
  list.addEventListener('keydown', ev => {
    const b = buttons(), at = b.indexOf(document.activeElement);
    const to = { ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: b.length - 1 }[ev.key];
    if (to === undefined) return;
    ev.preventDefault();
    (b[to] || (to < 0 ? filter : b[b.length - 1])).focus();
  });
  addEventListener('hashchange', follow);
  draw();
  follow();
  const shown = stop();
  if (shown && current) shown.scrollIntoView({ block: 'nearest' });
}
