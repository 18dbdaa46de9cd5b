// The forwarding tables that the controller computes, and the tree of a channel in them.
import { Channel } from './channel';
import { show, word } from '../core/api';
import { Graph } from '../map/graph';

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
    `bier:bift-show ${word(node)} --topology ${word(topology)}` +
      ` --domain ${domain} --sub-domain ${sub}`,
    { background: true },
  ).then(r => r.value ?? []);

/**
 * treeOf follows the forwarding tables of the controller from the ingress of a channel to its
 * egress nodes: links, with the bits that go over each.
 */
export async function treeOf(
  g: Graph,
  c: Channel,
): Promise<{ edges: [string, string, string][]; partly: string }> {
  const edges: [string, string, string][] = [],
    work: [string, Set<string>][] = c['ingress-node']
      ? [[c['ingress-node'], new Set((c['egress-node'] ?? []).map(e => e['node-id']))]]
      : [],
    seen = new Set<string>();
  for (const [node, ends] of work) {
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
