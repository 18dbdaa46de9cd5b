// The graph of a topology, and how a newer reading changes it: what is there stays where it is.
import { natural, printable } from '../core/text';

export const isSwitch = (g: Graph, id: string) => g.id.startsWith('switch') && /^\d+$/.test(id);

export type State = 'answering' | 'silent' | 'gone' | 'outside' | 'unknown';

export interface Port {
  id: string;
  name: string;
  state?: string;
  speed?: number;
}

export interface Node {
  id: string;
  name: string;
  state: State;
  kind: string;
  model: string;
  address: string;
  mac: string;
  ports: Port[];
  since: number;
  /** When its source heard from it last, where it does not do so now. */
  seen?: string;
  /** Since when the controller knows that it was lost. */
  lost?: string;
}

export interface Link {
  id: string;
  a: string;
  b: string;
  aPort: string;
  bPort: string;
  state: 'up' | 'oneway' | 'inferred' | 'gone';
  source: string;
  speed: number;
  count: number;
  since: number;
  /** Since when the controller knows that it, or one of its bundle, was lost. */
  lost?: string;
}

/** Lost is a node or a link that the controller knows to be lost. */
export interface Lost {
  topology: string;
  ends: { node: string; port: string }[];
  since: string;
  name: string;
}

export interface Graph {
  id: string;
  nodes: Map<string, Node>;
  links: Map<string, Link>;
  /** Where the topology is from; absent where nothing observes it. */
  source?: Source;
}

/** Source is the plugin that observes a topology. */
export interface Source {
  plugin: string;
  state: 'observing' | 'silent' | 'stopped';
  observed: string;
}

export interface Point {
  x: number;
  y: number;
  pinned?: boolean;
}

/** Raw is a piece of JSON of which only some members are known. */
// eslint-disable-next-line @typescript-eslint/no-explicit-any -- other sources add members
type Raw = Record<string, any>;

/** at is an attribute that the source of a topology reports besides what network-topology has. */
const at = (o: Raw, leaf: string) => o['ctl-topology:' + leaf];

const keep = 5 * 60_000;

function stateOf(n: Raw): State {
  if (String(n['node-id']).startsWith('PR') || at(n, 'type') === 'other') return 'outside';
  const answering = at(n, 'answering');
  return answering === false
    ? 'silent'
    : answering === true || at(n, 'type') === 'openflow'
      ? 'answering'
      : 'unknown';
}

/** portName is the part of a port's id that names it on its node. */
export const portName = (id: string): string => id.slice(id.lastIndexOf(':') + 1);

/** pairOf is the id of the link between two nodes, or of the bundle of their links. */
export const pairOf = (a: string, b: string): string => [a, b].sort(natural).join('|');

/** sourceOf is the source of a topology, as the controller has it. */
export function sourceOf(t: Raw): Source | undefined {
  const state = at(t, 'source-state');
  return state
    ? { plugin: at(t, 'source') ?? '', state, observed: at(t, 'observed') ?? '' }
    : undefined;
}

/** isStale reports whether a topology is not observed now: what is shown is from before. */
export const isStale = (g: Graph): boolean =>
  g.source !== undefined && g.source.state !== 'observing';

/** nodeOf makes a node of one of network-topology; of a stale topology no node answers. */
function nodeOf(n: Raw, source: Source | undefined, now: number): Node {
  const state = stateOf(n),
    stale = source !== undefined && source.state !== 'observing',
    seen = at(n, 'observed') ?? (stale ? source.observed : '');
  const ports: Port[] = (n['termination-point'] ?? []).map((p: Raw) => ({
    id: p['tp-id'],
    name: printable(at(p, 'name') ?? portName(p['tp-id'])),
    state: at(p, 'state'),
    speed: Number(at(p, 'speed-kbps') ?? 0) || undefined,
  }));
  ports.sort((a, b) => natural(a.name, b.name));
  return {
    id: n['node-id'],
    name: printable(at(n, 'name') || at(n, 'address') || at(n, 'mac') || n['node-id']),
    state: stale && state === 'answering' ? 'unknown' : state,
    ...(seen && state !== 'outside' ? { seen } : {}),
    kind: at(n, 'type') ?? '',
    model: printable(at(n, 'model') ?? at(n, 'hardware') ?? ''),
    address: at(n, 'address') ?? '',
    mac: at(n, 'mac') ?? '',
    ports,
    since: now,
  };
}

/** linkState says how sure a link is: both ends report it, one does, or it follows from others. */
function linkState(l: Raw, both: boolean): Link['state'] {
  if (at(l, 'inferred') === true) return 'inferred';
  return both || at(l, 'confirmed') === true ? 'up' : 'oneway';
}

/** endsOf are the nodes and ports of a link of network-topology. */
const endsOf = (l: Raw) => ({
  a: l.source['source-node'] as string,
  aPort: (l.source['source-tp'] ?? '') as string,
  b: l.destination['dest-node'] as string,
  bPort: (l.destination['dest-tp'] ?? '') as string,
});

/** addLink adds a link to a graph; further links of a pair become a bundle. */
function addLink(g: Graph, l: Raw, both: boolean, now: number): void {
  const { a, aPort, b, bPort } = endsOf(l),
    key = pairOf(a, b),
    have = g.links.get(key),
    state = linkState(l, both);
  if (have) {
    have.count++;
    if (state === 'up') have.state = 'up';
    return;
  }
  const speedAt = (n: string, p: string) => g.nodes.get(n)!.ports.find(x => x.id === p)?.speed ?? 0;
  g.links.set(key, {
    id: key,
    a,
    b,
    aPort: portName(aPort),
    bPort: portName(bPort),
    state,
    source: at(l, 'known-from') ?? '',
    speed: Math.max(speedAt(a, aPort), speedAt(b, bPort)),
    count: 1,
    since: now,
  });
}

/**
 * read makes the graph of a topology as network-topology has it: both directions of a link are one,
 * and links of one pair a bundle.
 */
export function read(t: Raw): Graph {
  const source = sourceOf(t),
    g: Graph = {
      id: t['topology-id'],
      nodes: new Map(),
      links: new Map(),
      ...(source ? { source } : {}),
    },
    now = Date.now();
  for (const n of t.node ?? []) g.nodes.set(n['node-id'], nodeOf(n, source, now));
  const directed = new Map<string, Raw>(),
    keyOf = (...parts: string[]) => parts.join('|');
  for (const l of t.link ?? []) {
    const { a, aPort, b, bPort } = endsOf(l);
    directed.set(keyOf(a, aPort, b, bPort), l);
  }
  for (const l of directed.values()) {
    const { a, aPort, b, bPort } = endsOf(l);
    if (!g.nodes.has(a) || !g.nodes.has(b) || a === b) continue;
    const both = directed.has(keyOf(b, bPort, a, aPort));
    if (!both || natural(a + aPort, b + bPort) <= 0) addLink(g, l, both, now);
  }
  return g;
}

/** ofBier is a topology of BIER as network-topology would have it. */
export function ofBier(t: Raw): Raw {
  return {
    'topology-id': t['topology-id'],
    node: (t['bier-node'] ?? []).map((n: Raw) => ({
      'node-id': n['node-id'],
      'ctl-topology:name': n.name,
      'ctl-topology:type': 'bier',
      'termination-point': (n['bier-termination-point'] ?? []).map((p: Raw) => ({
        'tp-id': p['tp-id'],
        'ctl-topology:name': p['if-name'],
      })),
    })),
    link: (t['bier-link'] ?? []).map((l: Raw) => ({
      source: l['link-source'],
      destination: l['link-dest'],
    })),
  };
}

/** foldsAbove is how many nodes a map has before its leaves are folded. */
export const foldsAbove = 300;

/**
 * folded is the graph without leaves, and what each node that is left stands for: the nodes that
 * hang on it alone; or, of at least three that have the same neighbours, and fewer of these, the
 * first stands for the others. While more than 300 nodes are left, what is a leaf then is folded,
 * too. Nodes of shown are not folded, nor is anything into a node of open.
 */
export function folded(
  g: Graph,
  open: Set<string>,
  shown: Set<string>,
): { g: Graph; hidden: Map<string, Node[]> } {
  const hidden = new Map<string, Node[]>(),
    kept = (id: string) => !shown.has(id) && !hidden.get(id)?.some(n => shown.has(n.id));
  for (;;) {
    const adj = neighbours(g),
      alike = new Map<string, string[]>(),
      gone = new Set<string>();
    for (const [id, set] of adj)
      if (set.size) {
        const key = [...set].sort().join('|');
        alike.set(key, [...(alike.get(key) ?? []), id]);
      }
    for (const list of alike.values()) {
      const around = [...adj.get(list[0]!)!],
        alone = around.length === 1;
      if (
        list.length < 2 ||
        (alone ? adj.get(around[0]!)!.size < 2 : list.length < 3 || list.length <= around.length)
      )
        continue;
      list.sort((a, b) => natural(g.nodes.get(a)!.name, g.nodes.get(b)!.name));
      const into = alone ? around[0]! : list.shift()!;
      if (open.has(into)) continue;
      for (const id of list.filter(kept)) {
        hidden.set(into, [
          ...(hidden.get(into) ?? []),
          g.nodes.get(id)!,
          ...(hidden.get(id) ?? []),
        ]);
        hidden.delete(id);
        gone.add(id);
      }
    }
    if (!gone.size) return { g, hidden };
    g = {
      id: g.id,
      nodes: new Map([...g.nodes].filter(([id]) => !gone.has(id))),
      links: new Map([...g.links].filter(([, l]) => !gone.has(l.a) && !gone.has(l.b))),
    };
    if (g.nodes.size <= foldsAbove) return { g, hidden };
  }
}

/** away says how many of the nodes that are folded into one do not answer. */
export function away(nodes: Node[]): string {
  const count = (s: State) => nodes.filter(n => n.state === s).length;
  return (['silent', 'gone'] as const)
    .filter(count)
    .map(s => `${count(s)} ${s}`)
    .join(', ');
}

/** centred are the places where one that stands for others is in the middle of them. */
export function centred(
  g: Graph,
  hidden: Map<string, Node[]>,
  at: Map<string, Point>,
): Map<string, Point> {
  const out = new Map(at);
  for (const [id, list] of hidden) {
    const all = [id, ...list.map(n => n.id)].map(n => at.get(n)!);
    if (!all[0]!.pinned && !neighbours(g).get(id)!.has(list[0]!.id))
      out.set(id, {
        x: all.reduce((s, p) => s + p.x, 0) / all.length,
        y: all.reduce((s, p) => s + p.y, 0) / all.length,
      });
  }
  return out;
}

/** merge is the newer reading with what went: it stays for five minutes, shown as gone. */
export function merge(old: Graph | undefined, fresh: Graph): Graph {
  if (!old || old.id !== fresh.id) return fresh;
  const now = Date.now();
  for (const [id, n] of old.nodes) {
    if (!fresh.nodes.has(id) && (n.state !== 'gone' || now - n.since < keep))
      fresh.nodes.set(id, n.state === 'gone' ? n : { ...n, state: 'gone', since: now });
    else if (fresh.nodes.get(id)?.state === n.state) fresh.nodes.get(id)!.since = n.since;
  }
  for (const [id, l] of old.links) {
    if (
      !fresh.links.has(id) &&
      fresh.nodes.has(l.a) &&
      fresh.nodes.has(l.b) &&
      (l.state !== 'gone' || now - l.since < keep)
    )
      fresh.links.set(id, l.state === 'gone' ? l : { ...l, state: 'gone', since: now });
    else if (fresh.links.get(id)?.state === l.state) fresh.links.get(id)!.since = l.since;
  }
  return fresh;
}

/** bridge is how long what went is shown before the controller lists it, or not. */
const bridge = 30_000;

/** withLost is a graph that has a source with what the controller knows to be lost of it. */
export function withLost(g: Graph, all: Lost[]): Graph {
  if (!g.source) return g;
  const old = (x: { state: string; since: number }) =>
    x.state === 'gone' && Date.now() - x.since > bridge;
  for (const [id, l] of g.links) if (old(l)) g.links.delete(id);
  for (const [id, n] of g.nodes) if (old(n)) g.nodes.delete(id);
  const lost = all.filter(t => t.topology === g.id);
  for (const t of lost) if (t.ends.length === 1) addLostNode(g, t);
  for (const t of lost) if (t.ends.length === 2) addLostLink(g, t);
  for (const [id, l] of g.links) if (!g.nodes.has(l.a) || !g.nodes.has(l.b)) g.links.delete(id);
  return g;
}

function addLostNode(g: Graph, t: Lost): void {
  const id = t.ends[0]!.node,
    have = g.nodes.get(id);
  if (have && have.state !== 'gone') return; // it is back already
  g.nodes.set(id, {
    id,
    name: printable(t.name),
    kind: '',
    model: '',
    address: '',
    mac: '',
    ports: [],
    ...have,
    state: 'gone',
    since: Date.parse(t.since),
    seen: t.since,
    lost: t.since,
  });
}

function addLostLink(g: Graph, t: Lost): void {
  const [a, b] = t.ends as [Lost['ends'][0], Lost['ends'][0]],
    id = pairOf(a.node, b.node),
    have = g.links.get(id);
  if (!g.nodes.has(a.node) || !g.nodes.has(b.node)) return;
  if (have && have.state !== 'gone') have.lost = t.since;
  else
    g.links.set(id, {
      id,
      a: a.node,
      b: b.node,
      aPort: portName(a.port),
      bPort: portName(b.port),
      source: '',
      speed: 0,
      count: 1,
      ...have,
      state: 'gone',
      since: Date.parse(t.since),
      lost: t.since,
    });
}

export function speedText(kbps: number): string {
  if (!kbps) return '';
  return kbps >= 1e6 ? `${kbps / 1e6}G` : kbps >= 1e3 ? `${kbps / 1e3}M` : `${kbps}k`;
}

/** Net is what a layout needs of a graph. */
export interface Net {
  nodes: Map<string, { name: string }>;
  links: Map<string, { a: string; b: string }>;
}

const known = new WeakMap<Net, Map<string, Set<string>>>();

/** neighbours are those of each node; a graph does not change once it is made. */
export function neighbours(g: Net): Map<string, Set<string>> {
  const have = known.get(g);
  if (have) return have;
  const out = new Map<string, Set<string>>([...g.nodes.keys()].map(id => [id, new Set<string>()]));
  for (const l of g.links.values()) {
    out.get(l.a)?.add(l.b);
    out.get(l.b)?.add(l.a);
  }
  known.set(g, out);
  return out;
}
