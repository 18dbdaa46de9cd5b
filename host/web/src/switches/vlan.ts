// VLANs of a switch, as the forms need them.
import { RowOf } from '../api/rows';
import { rpc } from '../core/api';
import { Node } from '../map/graph';

/** Vlan is a VLAN of a switch. */
export type Vlan = RowOf<'vlan:get-vlan-table', 'vlan-table-entry'> & { 'vlan-id': number };

/** num is the number of a switch, as operations take it. */
export const num = (n: Node) => Number(n.id);

/** vlansOf reads the VLANs of a switch, by their numbers. */
export async function vlansOf(n: Node, s?: AbortSignal): Promise<Vlan[]> {
  const table = await rpc('vlan:get-vlan-table', { 'node-id': num(n) }, s ? { signal: s } : {});
  return (table['vlan-table-entry'] ?? [])
    .map(v => ({ ...v, 'vlan-id': v['vlan-id'] ?? 0 }))
    .sort((a, b) => a['vlan-id'] - b['vlan-id']);
}

/** PortsOfVlan is a VLAN of a switch with its ports as they are now. */
export type PortsOfVlan = Vlan & { tagged: number[]; untagged: number[] };
