// What uses a port, before its cable is pulled.
import { RowOf } from '../../api/rows';
import { rpc } from '../../core/api';
import { useData } from '../../core/data';
import { route, setQuery } from '../../core/route';
import { Known } from './known';
import { Choice, Empty, Field, Loaded, Table } from '../../core/ui';

type Use = RowOf<'bier-pce:query-channel-through-port', 'related-channel'>;

/** PortsPart lists the channels that use a port of a node. */
export function PortsPart({
  id,
  known,
  name,
}: {
  id: string;
  known: Known;
  name: (n: string) => string;
}) {
  const q = route.value.query,
    node = q.get('node') ?? known.nodes[0] ?? '',
    port = q.get('port') ?? '';
  const data = useData(
    () =>
      node && port
        ? rpc('bier-pce:query-channel-through-port', {
            'topology-id': id,
            'node-id': node,
            'tp-id': port,
          }).then(r => r['related-channel'] ?? [])
        : Promise.resolve([] as Use[]),
    [id, node, port],
  );
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    const f = new FormData(e.currentTarget as HTMLFormElement);
    setQuery({ node, port: String(f.get('port') ?? '') });
  };
  return (
    <>
      <form class="row" onSubmit={submit}>
        <Choice
          label="Node"
          value={node}
          options={known.nodes.map(n => [n, name(n)])}
          onChange={n => setQuery({ node: n })}
        />
        <Field label="Port" name="port" required defaultValue={port} hint="as in the topology" />
        <button>Show the channels</button>
      </form>
      <Loaded data={data}>
        {v => (
          <Table
            name="Channels that use the port"
            rows={v.map((u, i) => ({ ...u, i }))}
            id={u => String(u.i)}
            empty={
              <Empty>
                {port
                  ? `No deployed channel uses port ${port} of ${name(node)}.`
                  : 'Name a port: the list shows the channels whose packets may pass it.'}
              </Empty>
            }
            columns={[
              { name: 'Channel', text: u => u['channel-name'] ?? '' },
              { name: 'Ingress', text: u => name(u.bfir ?? '') },
              { name: 'Use', text: u => u.use ?? '' },
              { name: 'Egresses', text: u => (u['egress-node'] ?? []).map(name).join(', ') },
              {
                name: 'Cut off without it',
                text: u => (u['cut-off'] ?? []).map(name).join(', '),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}
