// The ARP table of a switch.
import { rpc } from '../../core/api';
import { mac, useData } from '../../core/data';
import { to } from '../../core/route';
import { Node } from '../../map/graph';
import { num } from '../../switches/vlan';
import { Empty, Loaded, Table } from '../../core/ui';

/** ArpPart lists which IP address has which MAC address. */
export function ArpPart({ n }: { n: Node }) {
  const list = useData(
    s =>
      rpc('misc-config:get-arp-table', { 'node-id': num(n) }, { signal: s }).then(
        t => t['arp-table-entry'] ?? [],
      ),
    [n.id],
  );
  return (
    <Loaded data={list}>
      {v => (
        <Table
          name="ARP table"
          rows={v}
          id={r => `${r['ip-address']}|${r['mac-address']}`}
          empty={<Empty>The switch has no ARP entry.</Empty>}
          columns={[
            { name: 'IP', text: r => r['ip-address'] },
            {
              name: 'MAC',
              text: r => mac(r['mac-address']),
              cell: r => (
                <a class="mono" href={to(['find'], { for: mac(r['mac-address']) })}>
                  {mac(r['mac-address'])}
                </a>
              ),
            },
          ]}
        />
      )}
    </Loaded>
  );
}
