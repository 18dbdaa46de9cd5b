// The neighbours of a device.
import { to } from '../../core/route';
import { natural } from '../../core/text';
import { Graph, Link, Node, speedText } from '../../map/graph';
import { Empty, Mark, Table } from '../../core/ui';

/** Neighbours lists what is at the other ends of the links. */
export function Neighbours({ g, n, links }: { g: Graph; n: Node; links: Link[] }) {
  const rows = links
    .map(l => ({
      l,
      here: l.a === n.id ? l.aPort : l.bPort,
      there: l.a === n.id ? l.bPort : l.aPort,
      other: g.nodes.get(l.a === n.id ? l.b : l.a)!,
    }))
    .sort((a, b) => natural(a.here, b.here));
  return (
    <Table
      name="Neighbours"
      rows={rows}
      id={r => r.l.id}
      empty={<Empty>No neighbour is known: LLDP may be off there.</Empty>}
      columns={[
        { name: 'Port', text: r => r.here },
        {
          name: 'Neighbour',
          text: r => r.other.name,
          cell: r => <a href={to(['devices', g.id, r.other.id])}>{r.other.name}</a>,
        },
        { name: 'Its port', text: r => r.there },
        {
          name: 'Link',
          text: r => r.l.state,
          cell: r => (
            <Mark tone={r.l.state === 'up' ? 'good' : r.l.state === 'gone' ? 'bad' : 'warn'}>
              {r.l.state}
            </Mark>
          ),
        },
        { name: 'Speed', text: r => speedText(r.l.speed) },
        { name: 'Known from', text: r => r.l.source },
      ]}
    />
  );
}
