// What the page reads of a BIER topology.
import { Channel } from '../../bier/channel';
import { rpc } from '../../core/api';

export interface Domain {
  id: number;
  subs: number[];
}

export interface Known {
  domains: Domain[];
  channels: Channel[];
  nodes: string[];
}

export async function load(topology: string): Promise<Known> {
  const domains =
    (
      await rpc('bier-topology-api:query-domain', {
        'topology-id': topology,
      })
    ).domain ?? [];
  const subs = await Promise.all(
    domains.map(d =>
      rpc('bier-topology-api:query-subdomain', {
        'topology-id': topology,
        'domain-id': d['domain-id'],
      }),
    ),
  );
  const nodes = (
    (
      await rpc('bier-topology-api:query-topology', {
        'topology-id': topology,
      })
    )['node-id'] ?? []
  ).map(n => n['node-id']);
  const names = (
    (
      await rpc('bier-channel-api:get-channel', {
        'topology-id': topology,
      }).catch(() => ({ 'channel-name': [] }))
    )['channel-name'] ?? []
  ).map(c => c.name);
  const channels = names.length
    ? ((
        await rpc('bier-channel-api:query-channel', {
          'topology-id': topology,
          'channel-name': names,
        })
      ).channel ?? [])
    : [];
  return {
    domains: domains.map((d, i) => ({
      id: d['domain-id'],
      subs: (subs[i]!.subdomain ?? []).map(s => s['sub-domain-id']),
    })),
    channels,
    nodes,
  };
}
