// Layers of the map: who carries a VLAN, what spanning tree blocks, where a BIER channel goes.
import { Channel, channelState, signOf } from '../bier/channel';
import { treeOf } from '../bier/forwarding';
import { rpc } from '../core/api';
import { count } from '../core/data';
import { each } from '../core/each';
import { natural } from '../core/text';
import { readVlans } from '../switches/vlans';
import { Layer } from './draw';
import { Graph, isSwitch, pairOf } from './graph';

/** layersOf lists what can be shown over a topology. */
export function layersOf(g: Graph): [string, string][] {
  const ofSwitches: [string, string][] = [
    ['vlan:1', 'VLAN'],
    ['stp', 'Spanning tree'],
  ];
  return [...(g.id.startsWith('switch') ? ofSwitches : []), ['bier:', 'BIER channel']];
}

/** loadLayer reads what a layer shows over a topology. */
export async function loadLayer(g: Graph, id: string): Promise<Layer> {
  const [kind, arg = ''] = id.split(':');
  if (kind === 'vlan') return loadVlan(g, Number(arg));
  if (kind === 'stp') return loadSpanningTree(g);
  return kind === 'bier' && arg ? loadChannel(g, arg) : {};
}

/** sentence joins what there is to say. */
const sentence = (...parts: string[]): string => parts.filter(Boolean).join(', ');

/** unanswered counts the switches that could not be asked. */
const unanswered = (n: number): string =>
  n ? `${count(n, 'switch', 'switches')} without an answer` : '';

/** loadVlan shows the switches and links of a VLAN, and the links at which it does not match. */
async function loadVlan(g: Graph, vlan: number): Promise<Layer> {
  const read = await readVlans({ vlan, background: true }),
    has = new Set(read.entries.map(e => e['node-id'])),
    wrong = read.mismatches.filter(m => m['node-id'] && m['peer-node-id']),
    ends = wrong.flatMap(m => [m['node-id']!, m['peer-node-id']!]);
  return {
    nodes: new Map([...g.nodes.keys()].map(n => [n, has.has(n) ? 'answering' : 'line'])),
    marks: new Map(ends.map(n => [n, '!'])),
    links: new Set(read.links.map(l => pairOf(l['node-id'] ?? '', l['peer-node-id'] ?? ''))),
    stopped: new Set(wrong.map(m => pairOf(m['node-id']!, m['peer-node-id']!))),
    title: sentence(
      `VLAN ${vlan}: ${count(has.size, 'switch', 'switches')}`,
      wrong.length
        ? `${count(wrong.length, 'link')} that ${wrong.length === 1 ? 'does' : 'do'} not match`
        : 'all links match',
      unanswered(read.partial.length),
    ),
  };
}

/** loadSpanningTree shows the root, and the ports that are blocked. */
async function loadSpanningTree(g: Graph): Promise<Layer> {
  const switches = [...g.nodes.keys()].filter(n => isSwitch(g, n));
  const roots = await each(switches, n =>
    rpc('misc-config:get-stp-port-root', { 'node-id': Number(n), port: 1 }, { background: true }),
  );
  const root = new Set(roots.done.map(([, r]) => String(r['root-node-id'] ?? ''))),
    ends = [...g.links.values()]
      .flatMap(l => [
        { link: l.id, node: l.a, port: l.aPort },
        { link: l.id, node: l.b, port: l.bPort },
      ])
      .filter(e => isSwitch(g, e.node));
  const states = await each(ends, e =>
    rpc(
      'misc-config:get-stp-port-state',
      { 'node-id': Number(e.node), port: Number(e.port) },
      { background: true },
    ),
  );
  const blocked = states.done
    .filter(([, s]) => /block|discard/i.test(s['stp-port-state'] ?? ''))
    .map(([e]) => e);
  const stopped = new Set(blocked.map(e => e.link));
  const portsOf = (n: string) =>
    blocked
      .filter(e => e.node === n)
      .map(e => e.port)
      .sort(natural);
  const markOf = (n: string) => {
    const ports = portsOf(n);
    return sentence(
      root.has(n) ? 'root' : '',
      ports.length ? `${ports.length > 1 ? 'ports' : 'port'} ${ports.join(', ')} blocked` : '',
    );
  };
  const tint = (n: string) =>
    root.has(n) ? 'answering' : portsOf(n).length ? 'silent' : ('line' as const);
  return {
    nodes: new Map(switches.map(n => [n, tint(n)])),
    marks: new Map(switches.map(n => [n, markOf(n)] as const).filter(([, m]) => m)),
    links: new Set([...g.links.keys()].filter(l => !stopped.has(l))),
    stopped,
    title: sentence(
      `Spanning tree: ${count(blocked.length, 'blocked port')}`,
      unanswered(roots.failed.length),
    ),
  };
}

/** channelTint is the colour of a router by the state of a channel on it. */
function channelTint(state: string | undefined): 'line' | 'answering' | 'bad' | 'silent' {
  if (!state) return 'line';
  if (state === 'applied') return 'answering';
  return state === 'failed' || state === 'unreachable' ? 'bad' : 'silent';
}

/** loadChannel shows the way of a channel, and its state on each router. */
async function loadChannel(g: Graph, name: string): Promise<Layer> {
  const answer = await rpc('bier-channel-api:query-channel', {
    'topology-id': g.id,
    'channel-name': [name],
  });
  const c = answer.channel?.[0] as Channel | undefined;
  if (!c) return { title: `There is no channel ${name}.` };
  const marks = new Map<string, string>(c['ingress-node'] ? [[c['ingress-node'], '▲ in']] : []),
    state = new Map((c.deployment ?? []).map(d => [d['node-id'], d.state]));
  (c['egress-node'] ?? []).forEach(e => marks.set(e['node-id'], '▼ out'));
  for (const [n, s] of state) marks.set(n, `${marks.get(n) ?? ''} ${signOf(s)}`.trim());
  const { edges, partly } = await treeOf(g, c),
    labels = new Map<string, string>();
  for (const [from, to, bits] of edges) {
    const id = pairOf(from, to);
    if (g.links.has(id)) labels.set(id, [labels.get(id), bits].filter(Boolean).join(' '));
  }
  const copies = c.copies ?? -1;
  return {
    nodes: new Map([...g.nodes.keys()].map(n => [n, channelTint(state.get(n))])),
    marks,
    links: new Set(labels.keys()),
    labels,
    transit: new Set(edges.flatMap(([a, b]) => [a, b]).filter(n => !marks.has(n))),
    title:
      sentence(
        `Channel ${c.name}: ${channelState(c)}`,
        copies >= 0 ? `${count(copies, 'copy', 'copies')} at the ingress` : '',
      ) + (partly ? `; the tree is not whole: ${partly}` : ''),
  };
}
