'use strict';
const SVG = 'http://www.w3.org/2000/svg';

function row(...cells) {
  return el('tr', {}, ...cells.map(c => c instanceof Node ? c : el('td', {}, String(c ?? ''))));
}
const number = n => el('td', { class: 'n' }, n ? String(n) : '');

// changed reports whether a part of the page shows something else than it did: what stays
// is left alone, with what the reader has marked in it.
const shown = new Map();
function changed(part, value) {
  const key = JSON.stringify(value);
  if (shown.get(part) === key) return false;
  shown.set(part, key);
  return true;
}

async function state() {
  const s = await load('/web/status.json');
  document.getElementById('about').textContent = `version ${s.version}, up since ${new Date(s.started).toLocaleString()}`;
  if (changed('plugins', s.plugins)) {
    document.querySelector('#plugins tbody').replaceChildren(...s.plugins.map(p => row(p.name, p.version,
      el('td', { class: p.serving ? (p.state === 'degraded' ? 'warn' : 'good') : 'bad' }, p.state), number(p.pid), number(p.restarts), number(p.calls), p.reason)));
  }
  if (changed('features', s.features)) document.querySelector('#features tbody').replaceChildren(...s.features.map(f => row(f.name, f.version, f.description, f.required ? 'yes' : '')));
}

// parts are those of a topology that the map needs: of thousands of switches the ports
// are most of it.
const parts = 'topology(topology-id;node/node-id;link(source;destination))';

async function topology() {
  let tops = [];
  try {
    tops = (await load('/restconf/operational/network-topology:network-topology?fields=' + parts))['network-topology'].topology || [];
  } catch (e) {
    if (e.status !== 404) throw e; // else nothing is discovered yet
  }
  const nodes = new Map(), links = [];
  for (const t of tops) {
    const id = n => t['topology-id'] + ' ' + n, have = new Set();
    for (const n of t.node || []) nodes.set(id(n['node-id']), { id: n['node-id'], outside: n['node-id'].startsWith('PR') });
    for (const { source: s, destination: d } of t.link || []) {
      const from = id(s['source-node']), to = id(d['dest-node']);
      if (have.has(JSON.stringify([to, d['dest-tp'], from, s['source-tp']]))) continue; // the other direction
      have.add(JSON.stringify([from, s['source-tp'], to, d['dest-tp']]));
      links.push({ from, to, cells: [s['source-node'], s['source-tp'], d['dest-node'], d['dest-tp']] });
    }
  }
  const counts = nodes.size ? `${nodes.size} nodes, ${links.length} links` : 'nothing discovered yet';
  document.getElementById('counts').textContent = counts;
  if (!changed('map', [[...nodes.keys()], links])) return;
  const svg = document.getElementById('map');
  svg.setAttribute('aria-label', `Map of the discovered network: ${counts}`);
  draw(svg, nodes, links.map(l => [l.from, l.to]));
  table = links;
  tabulate();
}

// tabulate writes the links into the table, when it is open.
const longest = 2000;
let table = [];
function tabulate() {
  if (!document.getElementById('table').open) return;
  document.querySelector('#links tbody').replaceChildren(...table.slice(0, longest).map(l => row(...l.cells)),
    ...(table.length > longest ? [el('tr', {}, el('td', { colspan: '4', class: 'soft' }, `and ${table.length - longest} more`))] : []));
}
document.getElementById('table').addEventListener('toggle', tabulate);

// name shortens a node id: a MAC address as a number becomes its last three octets.
function name(id) {
  if (/^\d{6,}$/.test(id)) return BigInt(id).toString(16).padStart(12, '0').slice(6).replace(/(..)(?=.)/g, '$1:');
  return id;
}

// draw places the nodes by springs and repulsion, from a circle, always the same way.
function draw(svg, nodes, links) {
  svg.replaceChildren();
  const w = svg.clientWidth || 900, h = 540, ids = [...nodes.keys()];
  if (!ids.length) return;
  const p = ids.map((_, i) => ({ x: w / 2 + w * .35 * Math.cos(2 * Math.PI * i / ids.length), y: h / 2 + h * .38 * Math.sin(2 * Math.PI * i / ids.length) }));
  const at = new Map(ids.map((id, i) => [id, i]));
  const pairs = links.map(([a, b]) => [at.get(a), at.get(b)]).filter(([a, b]) => a !== undefined && b !== undefined);
  const k = Math.sqrt(w * h / ids.length) * .55, rounds = ids.length > 400 ? 0 : 240;
  for (let r = 0; r < rounds; r++) {
    const f = p.map(() => ({ x: 0, y: 0 }));
    for (let i = 0; i < p.length; i++) for (let j = i + 1; j < p.length; j++) {
      const dx = p[i].x - p[j].x, dy = p[i].y - p[j].y, d = Math.max(Math.hypot(dx, dy), 1), s = k * k / d / d;
      f[i].x += dx * s; f[i].y += dy * s; f[j].x -= dx * s; f[j].y -= dy * s;
    }
    for (const [a, b] of pairs) {
      const dx = p[a].x - p[b].x, dy = p[a].y - p[b].y, s = Math.hypot(dx, dy) / k;
      f[a].x -= dx * s; f[a].y -= dy * s; f[b].x += dx * s; f[b].y += dy * s;
    }
    // A pull to the middle keeps islands from drifting to the edges.
    p.forEach((q, i) => { f[i].x += (w / 2 - q.x) * .25 * h / w; f[i].y += (h / 2 - q.y) * .25; });
    const heat = 12 * (1 - r / rounds);
    p.forEach((q, i) => {
      const d = Math.max(Math.hypot(f[i].x, f[i].y), 1e-6), s = Math.min(d, heat) / d;
      q.x = Math.min(w - 40, Math.max(40, q.x + f[i].x * s)); q.y = Math.min(h - 24, Math.max(16, q.y + f[i].y * s));
    });
  }
  const make = (tag, attrs) => { const e = document.createElementNS(SVG, tag); for (const [a, v] of Object.entries(attrs)) e.setAttribute(a, v); return e; };
  for (const [a, b] of pairs) svg.append(make('line', { x1: p[a].x, y1: p[a].y, x2: p[b].x, y2: p[b].y }));
  ids.forEach((id, i) => {
    const n = nodes.get(id), g = make('g', n.outside ? { class: 'outside' } : {}), label = make('text', { x: p[i].x, y: p[i].y + 20 }), tip = make('title', {});
    tip.textContent = n.id;
    label.textContent = ids.length > 150 ? '' : name(n.id);
    g.append(tip, make('circle', { cx: p[i].x, cy: p[i].y, r: ids.length > 150 ? 4 : 8 }), label);
    svg.append(g);
  });
}

// refresh keeps the page up to date while somebody can see it. Of a controller that does
// not answer the last state stays, and that it is old is told.
let last = null, wide = 0;
async function refresh() {
  const trouble = document.getElementById('trouble');
  let words = '';
  if (!document.hidden) {
    if (document.getElementById('map').clientWidth !== wide) { wide = document.getElementById('map').clientWidth; shown.delete('map'); }
    try {
      await state();
      await topology();
      last = new Date();
    } catch (e) {
      words = `This cannot be brought up to date: ${e.message}.` + (last ? ` What is shown is of ${last.toLocaleTimeString()}.` : '') + (e.status === 401 ? ' Reload the page to log in again.' : '');
    }
    if (trouble.textContent !== words) { trouble.textContent = words; trouble.hidden = !words; }
  }
  setTimeout(refresh, 4000);
}
refresh();
