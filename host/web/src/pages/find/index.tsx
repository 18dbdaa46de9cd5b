// Where is a MAC, an IP address or a name: the edge port first.
import { RowOf } from '../../api/rows';
import { Fault, rpc } from '../../core/api';
import { age, count, macNumber, useData } from '../../core/data';
import { route, to } from '../../core/route';
import { Graph, Node } from '../../map/graph';
import { StateOf } from '../../map/state';
import { graphs, refresh, titleOf } from '../../map/store';
import { shortPort } from '../../switches/ports';
import { Empty, Loaded, Outcome, Table, Title, useAct } from '../../core/ui';

const graphOf = (node: string): string =>
  [...(graphs.value?.values() ?? [])].find(g => g.nodes.has(node))?.id ?? 'switch:1';

/** Found is where an address is. */
type Found = RowOf<'switch:find-address', 'entry'>;

/** Hit is what a part of a text matches. */
type Hit = RowOf<'switch:search', 'entry'>;

interface Results {
  nodes: [Graph, Node][];
  seen: Found[];
  hits: Hit[];
  failed: string[];
}

/** isAddress reports whether a text is a whole MAC or IP address. */
const isAddress = (text: string): boolean =>
  macNumber(text) !== undefined ||
  /^(\d{1,3}\.){3}\d{1,3}$/.test(text) ||
  (/^[0-9a-f:.]+$/i.test(text) && text.split(':').length > 2);

/** nodesWith are the nodes of the topologies that a text is a part of. */
function nodesWith(text: string): [Graph, Node][] {
  const low = text.toLowerCase(),
    address = macNumber(text);
  const matches = (n: Node) =>
    [n.name, n.address, n.mac, n.id, n.model].some(v => v.toLowerCase().includes(low)) ||
    (address !== undefined && (n.id === String(address) || macNumber(n.mac) === address));
  return [...(graphs.peek()?.values() ?? [])].flatMap(g =>
    [...g.nodes.values()].filter(matches).map((n): [Graph, Node] => [g, n]),
  );
}

/** ofSwitches is an answer of the plugin for switches; where it is not installed there is none. */
const ofSwitches = <T,>(answer: Promise<T>): Promise<T | undefined> =>
  answer.catch((e: Fault) => {
    if (e.status === 404) return undefined;
    throw e;
  });

/**
 * where finds a text in the page's own topologies and in what the switches have reported; for a
 * whole address all switches are asked, and the most likely place is first in their answer.
 */
async function where(text: string, signal: AbortSignal): Promise<Results> {
  if (!text) return { nodes: [], seen: [], hits: [], failed: [] };
  const [hits, places] = await Promise.all([
    ofSwitches(rpc('switch:search', { text }, { signal })),
    isAddress(text)
      ? ofSwitches(rpc('switch:find-address', { address: text }, { signal }))
      : undefined,
  ]);
  return {
    nodes: nodesWith(text),
    hits: (hits?.entry ?? []).filter(h => h.kind !== 'switch'),
    seen: places?.entry ?? [],
    failed: places?.partial ?? [],
  };
}

/** Known lists ports, neighbours and addresses that a part of a text matches. */
function Known({ hits }: { hits: Hit[] }) {
  if (!hits.length) return null;
  const at = (h: Hit) => to(['devices', graphOf(h['node-id'] ?? ''), h['node-id'] ?? '', 'ports']);
  return (
    <>
      <h2>Ports, neighbours and addresses</h2>
      <Table
        name="Known"
        rows={hits.map((h, i) => ({ ...h, i }))}
        id={h => String(h.i)}
        columns={[
          { name: 'What', text: h => (h.kind ?? '').replace('neighbor', 'neighbour') },
          { name: 'Matches', text: h => [h.match, h.value].filter(Boolean).join(' ') },
          { name: 'Switch', text: h => h.switch, cell: h => <a href={at(h)}>{h.switch}</a> },
          { name: 'Port', text: h => shortPort(h.port ?? '') },
          { name: 'VLAN', text: h => h['vlan-id'] || '' },
          { name: 'Since', text: h => h.since, cell: h => age(h.since) },
        ]}
      />
    </>
  );
}

/** FindPage shows all that matches the text in the box at the top. */
export function FindPage() {
  const text = (route.value.query.get('for') ?? '').trim(),
    found = useData(signal => where(text, signal), [text, graphs.value?.size ?? 0]),
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
            <Known hits={f.hits} />
            {!f.seen.length && !f.nodes.length && !f.hits.length && (
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
