// The VLANs of a switch.
import { useState } from 'preact/hooks';
import { rpc } from '../../core/api';
import { useData } from '../../core/data';
import { Node } from '../../map/graph';
import { spans } from '../../switches/ports';
import { PortsOfVlan, Vlan, num, vlansOf } from '../../switches/vlan';
import { VlanDialog } from '../../switches/vlandialog';
import { Confirm, Empty, Loaded, Outcome, Table, useAct } from '../../core/ui';

/** VlansPart lists the VLANs of a switch; one changes their ports or deletes them here. */
export function VlansPart({ n }: { n: Node }) {
  const list = useData(
      async s => {
        const [vlans, ports] = await Promise.all([
          vlansOf(n, s),
          rpc('switch:ports', { switch: n.id }, { signal: s }),
        ]);
        const on = (leaf: 'tagged-vlan' | 'untagged-vlan', id: number) =>
          (ports.entry ?? []).filter(p => p.number && p[leaf]?.includes(id)).map(p => p.number!);
        return vlans.map(v => ({
          ...v,
          tagged: on('tagged-vlan', v['vlan-id']),
          untagged: on('untagged-vlan', v['vlan-id']),
        }));
      },
      [n.id],
    ),
    act = useAct(),
    [edit, setEdit] = useState<PortsOfVlan | null>(null),
    [gone, setGone] = useState<Vlan | null>(null);
  return (
    <>
      <Outcome act={act} />
      <Loaded data={list}>
        {v => (
          <Table
            name="VLANs"
            rows={v}
            id={r => String(r['vlan-id'])}
            empty={<Empty>The switch has no VLAN.</Empty>}
            columns={[
              { name: 'VLAN', text: r => r['vlan-id'] },
              { name: 'Name', text: r => r['vlan-name'] ?? '' },
              { name: 'Tagged', text: r => spans(r.tagged) },
              { name: 'Untagged', text: r => spans(r.untagged) },
              {
                name: 'Do',
                text: () => '',
                cell: r => (
                  <>
                    <button class="plain" onClick={() => setEdit(r)}>
                      Ports…
                    </button>{' '}
                    {r['vlan-id'] !== 1 && (
                      <button class="plain" onClick={() => setGone(r)}>
                        Delete…
                      </button>
                    )}
                  </>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      {edit && (
        <VlanDialog
          targets={[n]}
          vlan={edit}
          onClose={() => {
            setEdit(null);
            list.reload();
          }}
        />
      )}
      {gone && (
        <Confirm
          title={`Delete VLAN ${gone['vlan-id']} on ${n.name}`}
          verb="Delete"
          onClose={() => setGone(null)}
          onDo={() =>
            act.run(async () => {
              await rpc('vlan:delete-vlan', { 'node-id': num(n), 'vlan-id': gone['vlan-id'] });
              list.reload();
              return `VLAN ${gone['vlan-id']} is deleted, as the switch read back.`;
            })
          }
        >
          {gone['port-list']?.length
            ? `Its ports ${spans(gone['port-list'])} leave it.`
            : 'It has no ports.'}
        </Confirm>
      )}
    </>
  );
}
