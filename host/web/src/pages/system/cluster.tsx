// The nodes of the cluster, and who holds which role.
import { show } from '../../core/api';
import { age, useData } from '../../core/data';
import { Empty, Loaded, Mark, Table } from '../../core/ui';

interface Part {
  name: string;
  version: string;
  state: string;
  reason?: string;
}

interface Member {
  id: string;
  host: string;
  address?: string;
  version: string;
  started: string;
  self: boolean;
  roles: string[];
  why?: string;
  live?: { Revision?: number; revision?: number };
  running: { features?: Part[]; plugins?: Part[] };
}

interface Role {
  name: string;
  node: string;
  holder: string;
  epoch: number;
  since: string;
}

/** Cluster lists the nodes and the roles that they hold. */
export function Cluster() {
  const data = useData(
    () => show<{ members?: Member[]; roles?: Role[] }>('cluster:status').then(r => r.value),
    [],
  );
  return (
    <Loaded data={data}>
      {v => (
        <>
          <h2>Nodes</h2>
          <Table
            name="Nodes of the cluster"
            rows={v.members ?? []}
            id={m => m.id}
            empty={<Empty>No node has a lease: the store does not answer.</Empty>}
            columns={[
              { name: 'Node', text: m => m.id + (m.self ? ' (this)' : '') },
              {
                name: 'State',
                text: m => m.why ?? 'alive',
                cell: m => (
                  <Mark tone={m.why ? 'bad' : 'good'}>
                    {m.why ? `does not answer: ${m.why}` : 'alive'}
                  </Mark>
                ),
              },
              { name: 'Host', text: m => m.host },
              { name: 'Address', text: m => m.address ?? 'none: accepts no calls from nodes' },
              { name: 'Version', text: m => m.version },
              { name: 'Started', text: m => m.started, cell: m => age(m.started) },
              { name: 'Roles', text: m => m.roles.length, right: true },
              {
                name: 'Problems',
                text: m =>
                  [...(m.running.features ?? []), ...(m.running.plugins ?? [])]
                    .filter(p => p.reason)
                    .map(p => `${p.name}: ${p.reason}`)
                    .join('; '),
              },
            ]}
          />
          <h2>Roles</h2>
          <Table
            name="Roles"
            rows={v.roles ?? []}
            id={r => r.name}
            empty={<Empty>No plugin with nodes: one is running.</Empty>}
            columns={[
              { name: 'Role', text: r => r.name },
              { name: 'Node', text: r => r.node },
              { name: 'Holder', text: r => r.holder },
              { name: 'Epoch', text: r => r.epoch, right: true },
              { name: 'Changed', text: r => r.since, cell: r => age(r.since) },
            ]}
          />
        </>
      )}
    </Loaded>
  );
}
