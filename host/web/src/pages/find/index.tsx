// Where is a MAC, an IP address or a name: the edge port first.
import { rpc } from '../../core/api';
import { age, count, macNumber, useData } from '../../core/data';
import { route, to } from '../../core/route';
import { Graph, Node } from '../../map/graph';
import { StateOf } from '../../map/state';
import { graphs, refresh, titleOf } from '../../map/store';
import { shortPort } from '../../switches/ports';
import { Empty, Loaded, Outcome, Table, Title, useAct } from '../../core/ui';

const graphOf = (node: string): string =>
  [...(graphs.value?.values() ?? [])].find(g => g.nodes.has(node))?.id ?? 'switch:1';

interface Found {
  'node-id'?: string;
  switch?: string;
  port?: string;
  number?: number;
  'vlan-id'?: number;
  'mac-address'?: string;
  'ip-address'?: string;
  how?: string;
  since?: string;
  seen?: string;
}

/**
 * where asks the page's own topologies for a name, and all switches for an address: the most likely
 * place is first in their answer.
 */
async function where(
  text: string,
): Promise<{ nodes: [Graph, Node][]; seen: Found[]; failed: string[] }> {
  const all = [...(graphs.peek()?.values() ?? [])],
    low = text.toLowerCase(),
    address = macNumber(text);
  const nodes = all.flatMap(g =>
    [...g.nodes.values()]
      .filter(
        n =>
          [n.name, n.address, n.mac, n.id, n.model].some(v => v.toLowerCase().includes(low)) ||
          (address !== undefined && (n.id === String(address) || macNumber(n.mac) === address)),
      )
      .map(n => [g, n] as [Graph, Node]),
  );
  if (address === undefined && !/^[0-9a-f.:]*[.:][0-9a-f.:]+$/i.test(text))
    return { nodes, seen: [], failed: [] };
  const r = await rpc('switch:find-address', {
    address: text,
  });
  return { nodes, seen: r.entry ?? [], failed: r.partial ?? [] };
}

/** FindPage shows all that matches the text in the box at the top. */
export function FindPage() {
  const text = (route.value.query.get('for') ?? '').trim(),
    found = useData(() => where(text), [text, graphs.value?.size ?? 0]),
    act = useAct();
  if (!text)
    return (
      <>
        <Title>Find</Title>
        <Empty>
          Enter a MAC address, an IP address or a name in the box above, and press Enter.
        </Empty>
      </>
    );
  return (
    <>
      <Title>{`Find ${text}`}</Title>
      <Outcome act={act} />
      <Loaded data={found}>
        {f => (
          <>
            {f.seen.length > 0 && (
              <>
                <h2>Where it is</h2>
                <Table
                  name="Where it is"
                  rows={f.seen.map((x, i) => ({ ...x, i }))}
                  id={s => String(s.i)}
                  columns={[
                    { name: 'Rank', text: s => s.i + 1 },
                    {
                      name: 'Switch',
                      text: s => s.switch ?? '',
                      cell: s => (
                        <a
                          href={to([
                            'devices',
                            graphOf(s['node-id'] ?? ''),
                            s['node-id'] ?? '',
                            'ports',
                          ])}
                        >
                          {s.switch}
                        </a>
                      ),
                    },
                    { name: 'Port', text: s => shortPort(s.port ?? String(s.number ?? '')) },
                    { name: 'How', text: s => (s.how ?? '').replace('neighbor', 'neighbour') },
                    { name: 'VLAN', text: s => s['vlan-id'] || '' },
                    { name: 'MAC', text: s => s['mac-address'] ?? '' },
                    { name: 'IP', text: s => s['ip-address'] ?? '' },
                    { name: 'Since', text: s => s.since ?? '', cell: s => age(s.since) },
                    { name: 'Seen', text: s => s.seen ?? '', cell: s => age(s.seen) },
                  ]}
                />
              </>
            )}
            {f.nodes.length > 0 && (
              <>
                <h2>Devices</h2>
                <Table
                  name="Devices found"
                  rows={f.nodes}
                  id={([g, n]) => g.id + n.id}
                  columns={[
                    {
                      name: 'Name',
                      text: ([, n]) => n.name,
                      cell: ([g, n]) => <a href={to(['devices', g.id, n.id])}>{n.name}</a>,
                    },
                    { name: 'State', text: ([, n]) => n.state, cell: ([, n]) => <StateOf n={n} /> },
                    { name: 'Address', text: ([, n]) => n.address },
                    { name: 'Model', text: ([, n]) => n.model },
                    {
                      name: 'Topology',
                      text: ([g]) => g.id,
                      cell: ([g, n]) => (
                        <a href={to(['map', g.id], { sel: n.id })}>{titleOf(g.id)} on the map</a>
                      ),
                    },
                  ]}
                />
              </>
            )}
            {!f.seen.length && !f.nodes.length && (
              <Empty
                action={
                  <p class="bar">
                    <button
                      disabled={act.busy}
                      onClick={() =>
                        act.run(async () => {
                          await rpc('topology:rediscover');
                          await refresh();
                          found.reload();
                          return 'All switches were asked.';
                        })
                      }
                    >
                      Rediscover
                    </button>{' '}
                    <a class="button plain" href={to(['devices'])}>
                      To the devices
                    </a>{' '}
                    <a href={to(['api'], { q: text })}>Look in the API</a>
                  </p>
                }
              >
                Nothing known matches “{text}”. A switch forgets an address after some minutes of
                silence; a name or address of a device is found while the device is in a topology.
              </Empty>
            )}
            {f.failed.length > 0 && (
              <details class="note warn">
                <summary>{count(f.failed.length, 'switch', 'switches')} could not be asked</summary>
                <ul>
                  {f.failed.map(x => (
                    <li key={x}>{x}</li>
                  ))}
                </ul>
              </details>
            )}
          </>
        )}
      </Loaded>
    </>
  );
}
