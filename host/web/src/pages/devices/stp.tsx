// The spanning tree of a switch.
import { rpc } from '../../core/api';
import { mac, useData } from '../../core/data';
import { each } from '../../core/each';
import { natural } from '../../core/text';
import { Node, portName } from '../../map/graph';
import { num } from '../../switches/vlan';
import { Empty, Loaded, Mark, Table } from '../../core/ui';

/** StpPart shows the root of the spanning tree, and the state of each port in it. */
export function StpPart({ n }: { n: Node }) {
  const ports = n.ports.map(p => portName(p.id)).filter(p => /^\d+$/.test(p));
  const root = useData(
    s =>
      rpc(
        'misc-config:get-stp-port-root',
        { 'node-id': num(n), port: Number(ports[0] ?? 1) },
        { signal: s },
      ),
    [n.id],
  );
  const list = useData(
    () =>
      each(ports, p =>
        rpc('misc-config:get-stp-port-state', {
          'node-id': num(n),
          port: Number(p),
        }),
      ).then(r =>
        [
          ...r.done.map(([p, s]) => ({ p, s: s['stp-port-state'] ?? '' })),
          ...r.failed.map(([p, why]) => ({ p, s: why })),
        ].sort((a, b) => natural(a.p, b.p)),
      ),
    [n.id],
  );
  return (
    <>
      <Loaded data={root}>
        {r => (
          <p>
            Root: <span class="mono">{mac(r['root-node-id'])}</span>
            {r['root-node-id'] === num(n) && ' (this switch)'}
          </p>
        )}
      </Loaded>
      <Loaded data={list}>
        {v => (
          <Table
            name="Spanning tree"
            rows={v}
            id={r => r.p}
            columns={[
              { name: 'Port', text: r => r.p },
              {
                name: 'State',
                text: r => r.s,
                cell: r => (
                  <Mark
                    tone={
                      /forward/i.test(r.s) ? 'good' : /block|discard/i.test(r.s) ? 'warn' : 'soft'
                    }
                  >
                    {r.s.toLowerCase()}
                  </Mark>
                ),
              },
            ]}
            empty={<Empty>The switch names no ports.</Empty>}
          />
        )}
      </Loaded>
    </>
  );
}
