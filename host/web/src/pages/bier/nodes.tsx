// The nodes of a BIER topology.
import { useState } from 'preact/hooks';
import { rpc } from '../../core/api';
import { useData } from '../../core/data';
import { to } from '../../core/route';
import { Known } from './known';
import { Prepare } from './prepare';
import { Empty, Loaded, Mark, Table } from '../../core/ui';

/** Nodes lists which nodes are BIER routers, with their BFR-ids and prefixes. */
export function Nodes({
  id,
  known,
  name,
  done,
}: {
  id: string;
  known: Known;
  name: (n: string) => string;
  done: () => void;
}) {
  const [prepare, setPrepare] = useState(false);
  interface BierDomains {
    domain?: {
      'domain-id': number;
      'bier-global'?: {
        'bfr-id'?: number;
        'ipv4-bfr-prefix'?: string;
        'ipv6-bfr-prefix'?: string;
        'sub-domain'?: { 'sub-domain-id': number }[];
      };
    }[];
  }
  interface BierNode extends BierDomains {
    'node-id': string;
    'bier-node-params'?: BierDomains;
  }
  const data = useData(
      () =>
        known.nodes.length
          ? rpc('bier-topology-api:query-node', {
              'topology-id': id,
              node: known.nodes,
            }).then(r => (r.node ?? []).map(n => ({ ...n, ...n['bier-node-params'] })))
          : Promise.resolve([] as BierNode[]),
      [id, known.nodes],
    ),
    first = (n: BierNode) => n.domain?.[0]?.['bier-global'];
  return (
    <>
      {prepare && (
        <Prepare
          id={id}
          known={known}
          name={name}
          onClose={() => {
            setPrepare(false);
            done();
            data.reload();
          }}
        />
      )}
      <Loaded data={data}>
        {v => (
          <Table
            name="Nodes"
            tools={
              <>
                <button onClick={() => setPrepare(true)}>Set up routers…</button>
                <a
                  class="button plain"
                  href={to(['api', 'POST /restconf/operations/bier-topology-api:configure-node'])}
                >
                  One node in the API page
                </a>
              </>
            }
            rows={v}
            id={n => n['node-id']}
            empty={<Empty>The topology has no node.</Empty>}
            columns={[
              {
                name: 'Node',
                text: n => name(n['node-id']),
                cell: n => (
                  <a href={to(['map', id], { sel: n['node-id'] })}>{name(n['node-id'])}</a>
                ),
              },
              {
                name: 'Domain ids',
                text: n => (n.domain ?? []).map(d => d['domain-id']).join(', ') || 'no BIER router',
                cell: n =>
                  (n.domain ?? []).map(d => d['domain-id']).join(', ') || (
                    <Mark tone="soft">no BIER router</Mark>
                  ),
              },
              { name: 'BFR-id', text: n => first(n)?.['bfr-id'] ?? '' },
              {
                name: 'Prefix',
                text: n => first(n)?.['ipv4-bfr-prefix'] ?? first(n)?.['ipv6-bfr-prefix'] ?? '',
              },
              {
                name: 'Sub-domain ids',
                text: n => (first(n)?.['sub-domain'] ?? []).map(s => s['sub-domain-id']).join(', '),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}
