// Layers of the map: who carries a VLAN, what spanning tree blocks, where a BIER channel goes.
import { rpc, show, word } from '../core/api';
import { count, natural } from '../core/data';
import { Layer } from './draw';
import { Graph } from './graph';

export interface Vlan {
  'vlan-id': number;
  'vlan-name'?: string;
  'port-list'?: number[];
}

/** each calls f for all of list, a few at once; what fails is left out and counted. */
export async function each<T, R>(
  list: T[],
  f: (t: T) => Promise<R>,
  most = 6,
): Promise<{ done: [T, R][]; failed: [T, string][] }> {
  const rest = [...list],
    done: [T, R][] = [],
    failed: [T, string][] = [];
  await Promise.all(
    Array.from({ length: most }, async () => {
      for (let t = rest.shift(); t !== undefined; t = rest.shift())
        try {
          done.push([t, await f(t)]);
        } catch (e) {
          failed.push([t, (e as Error).message]);
        }
    }),
  );
  return { done, failed };
}
export const isSwitch = (g: Graph, id: string) => g.id.startsWith('switch') && /^\d+$/.test(id);

/** layersOf lists what can be shown over a topology. */
export function layersOf(g: Graph): [string, string][] {
  return [
    ...(g.id.startsWith('switch')
      ? ([
          ['vlan:1', 'VLAN'],
          ['stp', 'Spanning tree'],
        ] as [string, string][])
      : []),
    ['bier:', 'BIER channel'],
  ];
}

export async function loadLayer(g: Graph, id: string): Promise<Layer> {
  const [kind, arg = ''] = id.split(':');
  const switches = [...g.nodes.keys()].filter(n => isSwitch(g, n)),
    on = 'answering' as const,
    off = 'line' as const,
    bad = 'bad' as const;
  if (kind === 'vlan') {
    const { done, failed } = await each(switches, n =>
      rpc<{ 'vlan-table-entry'?: Vlan[] }>(
        'vlan:get-vlan-table',
        { 'node-id': Number(n) },
        { background: true },
      ),
    );
    const has = new Map(
      done.map(([n, t]) => [
        n,
        (t['vlan-table-entry'] ?? []).find(v => v['vlan-id'] === Number(arg)),
      ]),
    );
    const carries = (n: string, port: string) =>
      has.get(n)?.['port-list']?.includes(Number(port)) ?? false;
    const links = new Set(
        [...g.links.values()]
          .filter(l => carries(l.a, l.aPort) && carries(l.b, l.bPort))
          .map(l => l.id),
      ),
      half = [...g.links.values()].filter(l => carries(l.a, l.aPort) !== carries(l.b, l.bPort));
    return {
      nodes: new Map([...g.nodes.keys()].map(n => [n, has.get(n) ? on : off])),
      marks: new Map(
        half.flatMap(l => [
          [l.a, '!'],
          [l.b, '!'],
        ]),
      ),
      links,
      title: `VLAN ${arg}: ${count([...has.values()].filter(Boolean).length, 'switch', 'switches')}, ${count(half.length, 'link')} with one end only${failed.length ? `, ${count(failed.length, 'switch', 'switches')} without an answer` : ''}`,
    };
  }
  if (kind === 'stp') {
    const roots = await each(switches, n =>
      rpc<{ 'root-node-id'?: number | string }>(
        'misc-config:get-stp-port-root',
        { 'node-id': Number(n), port: 1 },
        { background: true },
      ),
    );
    const root = new Set(roots.done.map(([, r]) => String(r['root-node-id'] ?? ''))),
      ends = [...g.links.values()]
        .flatMap(
          l =>
            [
              [l, l.a, l.aPort],
              [l, l.b, l.bPort],
            ] as const,
        )
        .filter(([, n]) => isSwitch(g, n));
    const states = await each(ends, ([, n, port]) =>
      rpc<{ 'stp-port-state'?: string }>(
        'misc-config:get-stp-port-state',
        { 'node-id': Number(n), port: Number(port) },
        { background: true },
      ),
    );
    const blocked = states.done.filter(([, s]) => /block|discard/i.test(s['stp-port-state'] ?? '')),
      stopped = new Set(blocked.map(([[l]]) => l.id)),
      of = (n: string) =>
        blocked
          .filter(([[, b]]) => b === n)
          .map(([[, , p]]) => p)
          .sort(natural);
    const mark = (n: string) => {
      const ports = of(n);
      return [
        root.has(n) ? 'root' : '',
        ports.length ? `${ports.length > 1 ? 'ports' : 'port'} ${ports.join(', ')} blocked` : '',
      ]
        .filter(Boolean)
        .join(', ');
    };
    return {
      nodes: new Map(switches.map(n => [n, root.has(n) ? on : of(n).length ? 'silent' : off])),
      marks: new Map(switches.map(n => [n, mark(n)] as const).filter(([, m]) => m)),
      links: new Set([...g.links.keys()].filter(l => !stopped.has(l))),
      stopped,
      title: `Spanning tree: ${count(blocked.length, 'blocked port')}${roots.failed.length ? `, ${count(roots.failed.length, 'switch', 'switches')} without an answer` : ''}`,
    };
  }
  if (kind !== 'bier' || !arg) return {};
  const answer = await rpc<{ channel?: Channel[] }>('bier-channel-api:query-channel', {
      'topology-id': g.id,
      'channel-name': [arg],
    }),
    c = answer.channel?.[0];
  if (!c) return { title: `There is no channel ${arg}.` };
  const marks = new Map<string, string>(c['ingress-node'] ? [[c['ingress-node'], '▲ in']] : []),
    state = new Map((c.deployment ?? []).map(d => [d['node-id'], d.state]));
  (c['egress-node'] ?? []).forEach(e => marks.set(e['node-id'], '▼ out'));
  for (const [n, s] of state) marks.set(n, `${marks.get(n) ?? ''} ${signs[s] ?? s}`.trim());
  const tint = (n: string) => {
    const s = state.get(n);
    return !s ? off : s === 'applied' ? on : s === 'failed' || s === 'unreachable' ? bad : 'silent';
  };
  const { edges, partly } = await treeOf(g, c),
    labels = new Map<string, string>();
  for (const [from, to, bits] of edges) {
    const l = [...g.links.values()].find(
      x => (x.a === from && x.b === to) || (x.a === to && x.b === from),
    );
    if (l) labels.set(l.id, [labels.get(l.id), bits].filter(Boolean).join(' '));
  }
  return {
    nodes: new Map([...g.nodes.keys()].map(n => [n, tint(n)])),
    marks,
    links: new Set(labels.keys()),
    labels,
    transit: new Set(edges.flatMap(([a, b]) => [a, b]).filter(n => !marks.has(n))),
    title: `Channel ${c.name}: ${channelState(c)}${c.copies !== undefined ? `, ${c.copies} ${c.copies === 1 ? 'copy' : 'copies'} at the ingress` : ''}${partly ? `; the tree is not whole: ${partly}` : ''}`,
  };
}
const signs: Record<string, string> = {
  applied: '✓',
  'at-risk': '!',
  unverified: '?',
  pending: '…',
  unreachable: '⊘',
  failed: '✕',
};

/** Bift is a line of the computed forwarding table of a node. */
export interface Bift {
  bitstringlength: number;
  si: number;
  'bfr-id': number;
  'node-id': string;
  'bfr-nbr': string;
  tunnel: string[] | string;
  'bift-id': string;
  'f-bm': string;
}
export const biftOf = (topology: string, node: string, domain: number, sub: number) =>
  show<Bift[] | null>(
    `bier:bift-show ${word(node)} --topology ${word(topology)} --domain ${domain} --sub-domain ${sub}`,
    { background: true },
  ).then(r => r.value ?? []);

/** treeOf follows the forwarding tables of the controller from the ingress of a channel to its egress nodes: links, with the bits that go over each. */
async function treeOf(
  g: Graph,
  c: Channel,
): Promise<{ edges: [string, string, string][]; partly: string }> {
  const edges: [string, string, string][] = [],
    work: [string, Set<string>][] = c['ingress-node']
      ? [[c['ingress-node'], new Set((c['egress-node'] ?? []).map(e => e['node-id']))]]
      : [],
    seen = new Set<string>();
  for (let [node, ends] of work) {
    if (seen.has(node) || seen.size > g.nodes.size) continue; // each node is on the tree once
    seen.add(node);
    let table: Bift[];
    try {
      table = await biftOf(g.id, node, c['domain-id'] ?? 1, c['sub-domain-id'] ?? 0);
    } catch (e) {
      return { edges, partly: (e as Error).message };
    }
    const next = new Map<string, { ends: Set<string>; bits: Map<number, bigint> }>();
    for (const end of ends) {
      const line = table.find(b => b['node-id'] === end);
      if (!line || end === node) continue;
      const via = [
          ...(Array.isArray(line.tunnel) ? line.tunnel : line.tunnel ? line.tunnel.split(' ') : []),
          line['bfr-nbr'],
        ],
        way = next.get(line['bfr-nbr']) ?? {
          ends: new Set<string>(),
          bits: new Map<number, bigint>(),
        };
      way.ends.add(end);
      way.bits.set(
        line.si,
        (way.bits.get(line.si) ?? 0n) | (1n << BigInt((line['bfr-id'] - 1) % line.bitstringlength)),
      );
      next.set(line['bfr-nbr'], way);
      for (let k = 0, from = node; k < via.length; from = via[k++]!)
        if (!edges.some(e => e[0] === from && e[1] === via[k])) edges.push([from, via[k]!, '']);
    }
    for (const [to, way] of next) {
      const text = [...way.bits]
        .map(([si, bits]) => `${way.bits.size > 1 || si ? `SI ${si} ` : ''}0x${bits.toString(16)}`)
        .join(' ');
      edges
        .filter(e => e[1] === to || (e[0] === node && !e[2]))
        .forEach(e => {
          e[2] ||= text;
        });
      work.push([to, way.ends]);
    }
  }
  return { edges, partly: '' };
}

/** channelsOf names the channels of a topology; none while BIER is not installed. */
export const channelsOf = (topology: string): Promise<string[]> =>
  rpc<{ 'channel-name'?: { name: string }[] }>(
    'bier-channel-api:get-channel',
    { 'topology-id': topology },
    { background: true },
  ).then(
    r => (r['channel-name'] ?? []).map(c => c.name),
    () => [],
  );

/** channelState is the worst of its routers. */
export function channelState(c: Channel): string {
  if (!c['ingress-node']) return 'not deployed';
  return (
    c.state ??
    Object.keys(signs)
      .reverse()
      .find(s => c.deployment?.some(d => d.state === s)) ??
    'deployed'
  );
}
export interface Deployment {
  'node-id': string;
  role?: string;
  state: string;
  reason?: string;
  since?: string;
  driver?: string;
  session?: string;
  confirmed?: string;
}
export interface Channel {
  name: string;
  state?: string;
  'src-ip'?: string;
  'dst-group'?: string;
  'domain-id'?: number;
  'sub-domain-id'?: number;
  'source-wildcard'?: number;
  'group-wildcard'?: number;
  'ingress-node'?: string;
  copies?: number;
  'egress-node'?: { 'node-id': string }[];
  bitstring?: { si: number; bits: string; bitstringlength: number }[];
  deployment?: Deployment[];
}
