// The graph of a topology, and how a newer reading changes it: what is there stays where it is.
import { natural, printable } from '../core/data';

export type State = 'answering' | 'silent' | 'gone' | 'outside' | 'unknown';
export interface Port { id: string; name: string; state?: string; speed?: number }
export interface Node { id: string; name: string; state: State; kind: string; model: string; address: string; mac: string; ports: Port[]; since: number }
export interface Link { id: string; a: string; b: string; aPort: string; bPort: string; state: 'up' | 'oneway' | 'inferred' | 'gone'; source: string; speed: number; count: number; since: number }
export interface Graph { id: string; nodes: Map<string, Node>; links: Map<string, Link> }
export interface Point { x: number; y: number; pinned?: boolean }

type Raw = Record<string, any>;
const at = (o: Raw, leaf: string): any => o['ctl-topology:' + leaf];
const keep = 5 * 60_000;

function stateOf(n: Raw): State {
  if (String(n['node-id']).startsWith('PR') || at(n, 'type') === 'other') return 'outside';
  const answering = at(n, 'answering');
  return answering === false ? 'silent' : answering === true || at(n, 'type') === 'openflow' ? 'answering' : 'unknown';
}

/** portName is the part of a port's id that names it on its node. */
export const portName = (id: string): string => id.slice(id.lastIndexOf(':') + 1);

/** read makes the graph of a topology as network-topology has it: both directions of a link are one, and links of one pair a bundle. */
export function read(t: Raw): Graph {
  const g: Graph = { id: t['topology-id'], nodes: new Map(), links: new Map() }, now = Date.now();
  for (const n of t.node ?? []) {
    const ports = (n['termination-point'] ?? []).map((p: Raw) => ({ id: p['tp-id'], name: printable(at(p, 'name') ?? portName(p['tp-id'])), state: at(p, 'state'), speed: Number(at(p, 'speed-kbps') ?? 0) || undefined }));
    ports.sort((a: Port, b: Port) => natural(a.name, b.name));
    g.nodes.set(n['node-id'], { id: n['node-id'], name: printable(at(n, 'name') || at(n, 'address') || at(n, 'mac') || n['node-id']), state: stateOf(n), kind: at(n, 'type') ?? '', model: printable(at(n, 'model') ?? at(n, 'hardware') ?? ''), address: at(n, 'address') ?? '', mac: at(n, 'mac') ?? '', ports, since: now });
  }
  const directed = new Map<string, Raw>();
  for (const l of t.link ?? []) directed.set(`${l.source['source-node']}|${l.source['source-tp'] ?? ''}|${l.destination['dest-node']}|${l.destination['dest-tp'] ?? ''}`, l);
  for (const l of directed.values()) {
    const s = l.source['source-node'], d = l.destination['dest-node'], sp = l.source['source-tp'] ?? '', dp = l.destination['dest-tp'] ?? '';
    if (!g.nodes.has(s) || !g.nodes.has(d) || s === d) continue;
    const back = directed.has(`${d}|${dp}|${s}|${sp}`);
    if (back && natural(s + sp, d + dp) > 0) continue;
    const speed = Math.max(...[[s, sp], [d, dp]].map(([n, p]) => g.nodes.get(n!)!.ports.find(x => x.id === p)?.speed ?? 0));
    const key = [s, d].sort(natural).join('|'), have = g.links.get(key);
    const state = at(l, 'inferred') === true ? 'inferred' : back || at(l, 'confirmed') === true ? 'up' : 'oneway';
    if (have) { have.count++; if (state === 'up') have.state = 'up'; continue; }
    g.links.set(key, { id: key, a: s, b: d, aPort: portName(sp), bPort: portName(dp), state, source: at(l, 'known-from') ?? '', speed, count: 1, since: now });
  }
  return g;
}

/** ofBier is a topology of BIER as network-topology would have it. */
export function ofBier(t: Raw): Raw {
  return { 'topology-id': t['topology-id'], node: (t['bier-node'] ?? []).map((n: Raw) => ({ 'node-id': n['node-id'], 'ctl-topology:name': n.name, 'ctl-topology:type': 'bier',
    'termination-point': (n['bier-termination-point'] ?? []).map((p: Raw) => ({ 'tp-id': p['tp-id'], 'ctl-topology:name': p['if-name'] })) })),
    link: (t['bier-link'] ?? []).map((l: Raw) => ({ source: l['link-source'], destination: l['link-dest'] })) };
}

/** folded is the graph without nodes that hang on one neighbour, where that has two or more of them; hidden counts them. */
export function folded(g: Graph): { g: Graph; hidden: Map<string, number> } {
  const adj = neighbours(g), leaves = new Map<string, string[]>(), gone = new Set<string>(), hidden = new Map<string, number>();
  for (const [id, set] of adj) if (set.size === 1) { const p = [...set][0]!; if (adj.get(p)!.size > 1) leaves.set(p, [...leaves.get(p) ?? [], id]); }
  for (const [p, list] of leaves) if (list.length > 1) { hidden.set(p, list.length); list.forEach(n => gone.add(n)); }
  return { g: { id: g.id, nodes: new Map([...g.nodes].filter(([id]) => !gone.has(id))), links: new Map([...g.links].filter(([, l]) => !gone.has(l.a) && !gone.has(l.b))) }, hidden };
}

/** merge is the newer reading with what went: it stays for five minutes, shown as gone. */
export function merge(old: Graph | undefined, fresh: Graph): Graph {
  if (!old || old.id !== fresh.id) return fresh;
  const now = Date.now();
  for (const [id, n] of old.nodes) {
    if (!fresh.nodes.has(id) && (n.state !== 'gone' || now - n.since < keep)) fresh.nodes.set(id, n.state === 'gone' ? n : { ...n, state: 'gone', since: now });
    else if (fresh.nodes.get(id)?.state === n.state) fresh.nodes.get(id)!.since = n.since;
  }
  for (const [id, l] of old.links) {
    if (!fresh.links.has(id) && fresh.nodes.has(l.a) && fresh.nodes.has(l.b) && (l.state !== 'gone' || now - l.since < keep)) fresh.links.set(id, l.state === 'gone' ? l : { ...l, state: 'gone', since: now });
    else if (fresh.links.get(id)?.state === l.state) fresh.links.get(id)!.since = l.since;
  }
  return fresh;
}

export function speedText(kbps: number): string {
  if (!kbps) return '';
  return kbps >= 1e6 ? `${kbps / 1e6}G` : kbps >= 1e3 ? `${kbps / 1e3}M` : `${kbps}k`;
}
export function neighbours(g: Graph): Map<string, Set<string>> {
  const out = new Map<string, Set<string>>([...g.nodes.keys()].map(id => [id, new Set<string>()]));
  for (const l of g.links.values()) { out.get(l.a)?.add(l.b); out.get(l.b)?.add(l.a); }
  return out;
}
