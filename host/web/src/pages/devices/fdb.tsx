// The forwarding table of a switch.
import { rpc } from '../../core/api';
import { mac, useData } from '../../core/data';
import { to } from '../../core/route';
import { Node } from '../../map/graph';
import { num } from '../../switches/vlan';
import { Empty, Loaded, Table } from '../../core/ui';

/** FdbPart lists which address the switch has learned at which port. */
export function FdbPart({ n }: { n: Node }) {
  const list = useData(
    s =>
      rpc('fdb:get-fdb-table', { 'node-id': num(n) }, { signal: s }).then(
        t => t['fdb-table-entry'] ?? [],
      ),
    [n.id],
  );
  return (
    <Loaded data={list}>
      {v => (
        <Table
          name="Forwarding table"
          rows={v}
          id={r => `${r['vlan-id']}|${r['dest-mac-addr']}|${r.port}`}
          empty={<Empty>The switch has learned no address.</Empty>}
          columns={[
            {
              name: 'MAC',
              text: r => mac(r['dest-mac-addr']),
              cell: r => (
                <a class="mono" href={to(['find'], { for: mac(r['dest-mac-addr']) })}>
                  {mac(r['dest-mac-addr'])}
                </a>
              ),
            },
            { name: 'Port', text: r => r.port },
            { name: 'VLAN', text: r => r['vlan-id'] || '' },
            { name: 'Type', text: r => (r.type ?? '').toLowerCase() },
          ]}
        />
      )}
    </Loaded>
  );
}
