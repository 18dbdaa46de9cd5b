// Where is a MAC, an IP address or a name: the edge port first.
import { rpc } from '../core/api';
import { mac, macNumber, useData } from '../core/data';
import { route, to } from '../core/route';
import { Empty, Loaded, Table, Title } from '../core/ui';
import { Graph, Node } from '../map/graph';
import { graphs } from '../map/store';
import { each, isSwitch } from '../map/layers';

interface Seen { g: Graph; n: Node; port: string; vlan: number; mac: string; edge: boolean; via: string }

/** portsTo are the ports of a switch that lead to another one: an address seen there is farther on. */
const leads = (g: Graph, n: Node, port: string) => [...g.links.values()].some(l => l.state !== 'gone' && (l.a === n.id && l.aPort === port || l.b === n.id && l.bPort === port));

async function where(text: string): Promise<{ nodes: [Graph, Node][]; seen: Seen[]; failed: string[] }> {
  const all = [...graphs.peek()?.values() ?? []], low = text.toLowerCase(), address = macNumber(text);
  const nodes = all.flatMap(g => [...g.nodes.values()].filter(n => [n.name, n.address, n.mac, n.id, n.model].some(v => v.toLowerCase().includes(low)) || address !== undefined && (n.id === String(address) || macNumber(n.mac) === address)).map(n => [g, n] as [Graph, Node]));
  const ip = /^\d+\.\d+\.\d+\.\d+$/.test(text) || /^[0-9a-f:]*::?[0-9a-f:]+$/i.test(text) && address === undefined, switches = all.flatMap(g => [...g.nodes.values()].filter(n => isSwitch(g, n.id)).map(n => [g, n] as [Graph, Node]));
  if (!ip && address === undefined) return { nodes, seen: [], failed: [] };
  const wanted = new Map<number, string>(address === undefined ? [] : [[address, '']]), failed = new Set<string>();
  if (ip) {
    const arp = await each(switches, ([, n]) => rpc<{ 'arp-table-entry'?: { 'ip-address': string; 'mac-address': number }[] }>('misc-config:get-arp-table', { 'node-id': Number(n.id) }));
    for (const [[, n], t] of arp.done) for (const e of t['arp-table-entry'] ?? []) if (e['ip-address'] === text) wanted.set(e['mac-address'], n.name);
    arp.failed.forEach(([[, n], why]) => failed.add(`${n.name}: ${why}`));
  }
  const fdb = wanted.size ? await each(switches, ([, n]) => rpc<{ 'fdb-table-entry'?: { 'vlan-id'?: number; 'dest-mac-addr': number; port: number }[] }>('fdb:get-fdb-table', { 'node-id': Number(n.id) })) : { done: [], failed: [] };
  fdb.failed.forEach(([[, n], why]) => failed.add(`${n.name}: ${why}`));
  const seen = fdb.done.flatMap(([[g, n], t]) => (t['fdb-table-entry'] ?? []).filter(e => wanted.has(e['dest-mac-addr'])).map(e => ({ g, n, port: String(e.port), vlan: e['vlan-id'] ?? 0, mac: mac(e['dest-mac-addr']), edge: !leads(g, n, String(e.port)), via: wanted.get(e['dest-mac-addr'])! })));
  return { nodes, seen: seen.sort((a, b) => Number(b.edge) - Number(a.edge)), failed: [...failed] };
}

export function FindPage() {
  const text = (route.value.query.get('for') ?? '').trim(), found = useData(() => where(text), [text, graphs.value?.size ?? 0]);
  if (!text) return <><Title>Find</Title><Empty>Write a MAC address, an IP address or a name into the box above, and press Enter.</Empty></>;
  return <><Title>{`Find ${text}`}</Title><Loaded data={found}>{f => <>
    {f.seen.length > 0 && <><h2>Where it is</h2><Table name="Where it is" rows={f.seen} id={s => `${s.n.id}|${s.port}|${s.vlan}|${s.mac}`} columns={[{ name: 'Place', text: s => s.edge ? '1 edge port' : '2 on the way', cell: s => s.edge ? <b>edge port</b> : 'on the way' }, { name: 'Switch', text: s => s.n.name, cell: s => <a href={to(['devices', s.g.id, s.n.id, 'ports'])}>{s.n.name}</a> }, { name: 'Port', text: s => s.port }, { name: 'VLAN', text: s => s.vlan || '' }, { name: 'MAC', text: s => s.mac }, { name: 'Via ARP of', text: s => s.via }]} /></>}
    {f.nodes.length > 0 && <><h2>Devices</h2><Table name="Devices found" rows={f.nodes} id={([g, n]) => g.id + n.id} columns={[{ name: 'Name', text: ([, n]) => n.name, cell: ([g, n]) => <a href={to(['devices', g.id, n.id])}>{n.name}</a> }, { name: 'Address', text: ([, n]) => n.address }, { name: 'Model', text: ([, n]) => n.model }, { name: 'Topology', text: ([g]) => g.id, cell: ([g, n]) => <a href={to(['map', g.id], { sel: n.id })}>{g.id} on the map</a> }]} /></>}
    {!f.seen.length && !f.nodes.length && <Empty action={<a class="button" href={to(['api'], { q: text })}>Look in the API</a>}>Nothing that is known has “{text}”. An address is found while a switch has it in its forwarding table: that forgets it after some minutes of silence.</Empty>}
    {f.failed.length > 0 && <details class="note warn"><summary>{f.failed.length} switches could not be asked</summary><ul>{f.failed.map(x => <li key={x}>{x}</li>)}</ul></details>}
  </>}</Loaded></>;
}
