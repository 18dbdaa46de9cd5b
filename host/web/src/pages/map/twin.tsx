// The graph of the map as tables, for those who do not see it.
import { useState } from 'preact/hooks';
import { to } from '../../core/route';
import { natural } from '../../core/text';
import { Graph, Link, Node, speedText } from '../../map/graph';
import { StateOf } from '../../map/state';
import { Column, Table } from '../../core/ui';

/** Twin shows nodes and links as tables that can be filtered and saved. */
export function Twin({ g }: { g: Graph }) {
  const nodes: Column<Node>[] = [
    {
      name: 'Name',
      text: n => n.name,
      cell: n => <a href={to(['devices', g.id, n.id])}>{n.name}</a>,
    },
    { name: 'State', text: n => n.state, cell: n => <StateOf n={n} /> },
    { name: 'Address', text: n => n.address },
    { name: 'Model', text: n => n.model },
    { name: 'Ports', text: n => n.ports.length, right: true },
  ];
  const name = (id: string) => g.nodes.get(id)?.name ?? id;
  const links: Column<Link>[] = [
    { name: 'From', text: l => name(l.a) },
    { name: 'Port', text: l => l.aPort },
    { name: 'To', text: l => name(l.b) },
    { name: 'Port there', text: l => l.bPort },
    { name: 'State', text: l => l.state },
    { name: 'Speed', text: l => speedText(l.speed) },
    { name: 'Links', text: l => l.count, right: true },
  ];
  const [shown, show] = useState(false);
  return (
    <details class="twin" onToggle={e => show(e.currentTarget.open)}>
      <summary>The same as a table</summary>
      {shown && (
        <>
          <Table
            name="Nodes"
            rows={[...g.nodes.values()].sort((a, b) => natural(a.name, b.name))}
            columns={nodes}
            id={n => n.id}
          />
          <Table name="Links" rows={[...g.links.values()]} columns={links} id={l => l.id} />
        </>
      )}
    </details>
  );
}
