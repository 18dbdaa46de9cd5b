// Layers of the map: who carries a VLAN, what spanning tree blocks, where a BIER channel goes.
import { rpc } from '../core/api';
import { Layer } from './draw';
import { Graph } from './graph';

export interface Vlan { 'vlan-id': number; 'vlan-name'?: string; 'port-list'?: number[] }

/** each calls f for all of list, a few at once; what fails is left out and counted. */
export async function each<T, R>(list: T[], f: (t: T) => Promise<R>, most = 6): Promise<{ done: [T, R][]; failed: [T, string][] }> {
  const rest = [...list], done: [T, R][] = [], failed: [T, string][] = [];
  await Promise.all(Array.from({ length: most }, async () => {
    for (let t = rest.shift(); t !== undefined; t = rest.shift()) try { done.push([t, await f(t)]); } catch (e) { failed.push([t, (e as Error).message]); }
  }));
  return { done, failed };
}
export const isSwitch = (g: Graph, id: string) => g.id.startsWith('switch') && /^\d+$/.test(id);

/** layersOf lists what can be shown over a topology. */
export function layersOf(g: Graph): [string, string][] {
  return g.id.startsWith('switch') ? [['vlan:1', 'VLAN…'], ['stp', 'Spanning tree'], ['bier', 'BIER channel…']] : [['bier', 'BIER channel…']];
}

export async function loadLayer(g: Graph, id: string): Promise<Layer> {
  const [kind, arg = ''] = id.split(':');
  const switches = [...g.nodes.keys()].filter(n => isSwitch(g, n)), css = getComputedStyle(document.documentElement), on = css.getPropertyValue('--good').trim(), off = css.getPropertyValue('--line').trim(), bad = css.getPropertyValue('--bad').trim();
  if (kind === 'vlan') {
    const { done, failed } = await each(switches, n => rpc<{ 'vlan-table-entry'?: Vlan[] }>('vlan:get-vlan-table', { 'node-id': Number(n) }, { background: true }));
    const has = new Map(done.map(([n, t]) => [n, (t['vlan-table-entry'] ?? []).find(v => v['vlan-id'] === Number(arg))]));
    const carries = (n: string, port: string) => has.get(n)?.['port-list']?.includes(Number(port)) ?? false;
    const links = new Set([...g.links.values()].filter(l => carries(l.a, l.aPort) && carries(l.b, l.bPort)).map(l => l.id)), half = [...g.links.values()].filter(l => carries(l.a, l.aPort) !== carries(l.b, l.bPort));
    return { nodes: new Map([...g.nodes.keys()].map(n => [n, has.get(n) ? on : off])), marks: new Map(half.flatMap(l => [[l.a, '!'], [l.b, '!']])), links,
      title: `VLAN ${arg}: ${[...has.values()].filter(Boolean).length} switches, ${half.length} links with one end only${failed.length ? `, ${failed.length} did not answer` : ''}` };
  }
  if (kind === 'stp') {
    const roots = await each(switches, n => rpc<{ 'root-node-id'?: number | string }>('misc-config:get-stp-port-root', { 'node-id': Number(n), port: 1 }, { background: true }));
    const root = new Set(roots.done.map(([, r]) => String(r['root-node-id'] ?? ''))), ends = [...g.links.values()].flatMap(l => [[l, l.a, l.aPort], [l, l.b, l.bPort]] as const).filter(([, n]) => isSwitch(g, n));
    const states = await each(ends, ([, n, port]) => rpc<{ 'stp-port-state'?: string }>('misc-config:get-stp-port-state', { 'node-id': Number(n), port: Number(port) }, { background: true }));
    const blocked = states.done.filter(([, s]) => /block|discard/i.test(s['stp-port-state'] ?? '')), stopped = new Set(blocked.map(([[l]]) => l.id));
    return { nodes: new Map(switches.map(n => [n, root.has(n) ? on : blocked.some(([[, b]]) => b === n) ? bad : off])), marks: new Map([...switches.filter(n => root.has(n)).map(n => [n, 'root'] as [string, string]), ...blocked.map(([[, n, p]]) => [n, `port ${p} blocked`] as [string, string])]),
      links: new Set([...g.links.keys()].filter(l => !stopped.has(l))), title: `Spanning tree: ${blocked.length} blocked ports${roots.failed.length ? `, ${roots.failed.length} switches without an answer` : ''}` };
  }
  const names = arg ? [arg] : ((await rpc<{ 'channel-name'?: { name: string }[] }>('bier-channel-api:get-channel', { 'topology-id': g.id })) ['channel-name'] ?? []).map(c => c.name);
  if (!names.length) return { title: 'This topology has no BIER channel.' };
  const answer = await rpc<{ channel?: Channel[] }>('bier-channel-api:query-channel', { 'topology-id': g.id, 'channel-name': names.slice(0, 1) }), c = answer.channel?.[0];
  if (!c) return { title: `There is no channel ${names[0]}.` };
  const marks = new Map<string, string>(c['ingress-node'] ? [[c['ingress-node'], '▲ in']] : []), sign = { applied: '✓', pending: '…', failed: '✕' } as const;
  (c['egress-node'] ?? []).forEach(e => marks.set(e['node-id'], '▼ out'));
  (c.deployment ?? []).forEach(d => marks.set(d['node-id'], `${marks.get(d['node-id']) ?? ''} ${sign[d.state] ?? ''}`));
  const tint = { applied: on, pending: css.getPropertyValue('--warn').trim(), failed: bad } as const;
  return { nodes: new Map([...g.nodes.keys()].map(n => [n, tint[c.deployment?.find(d => d['node-id'] === n)?.state ?? 'applied'] && marks.has(n) ? tint[c.deployment?.find(d => d['node-id'] === n)?.state ?? 'applied'] : off])), marks, title: `Channel ${c.name}: ${channelState(c)}` };
}
/** channelState is the worst of its routers. */
export function channelState(c: Channel): string {
  if (!c['ingress-node']) return 'not deployed';
  return ['failed', 'pending', 'applied'].find(s => c.deployment?.some(d => d.state === s)) ?? 'deployed';
}
export interface Deployment { 'node-id': string; role?: string; state: 'applied' | 'pending' | 'failed'; reason?: string; since?: string }
export interface Channel { name: string; 'src-ip'?: string; 'dst-group'?: string; 'domain-id'?: number; 'sub-domain-id'?: number; 'source-wildcard'?: number; 'group-wildcard'?: number; 'ingress-node'?: string; copies?: number; 'egress-node'?: { 'node-id': string }[]; bitstring?: { si: number; bits: string; bitstringlength: number }[]; deployment?: Deployment[] }
