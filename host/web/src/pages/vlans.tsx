// Who carries which VLAN: a matrix of VLANs and switches, and what does not fit together at the ends of links.
import { useMemo, useState } from 'preact/hooks';
import { rpc } from '../core/api';
import { age, count, natural, useData } from '../core/data';
import { to } from '../core/route';
import { Column, Empty, Loaded, Table, Title } from '../core/ui';
import { Graph, Node } from '../map/graph';
import { isSwitch } from '../map/layers';
import { graphs } from '../map/store';
import { namedSpans, VlanDialog } from './device';

interface Entry {
  'node-id': string;
  switch: string;
  'vlan-id': number;
  'vlan-name'?: string;
  dynamic?: boolean;
  'tagged-port'?: string[];
  'untagged-port'?: string[];
}
interface Row {
  vlan: number;
  names: string[];
  on: Map<string, Entry>;
}
interface Finding {
  vlan: number;
  what: string;
  where: string;
  node: string;
  graph: string;
}

function rowsOf(list: Entry[]): Row[] {
  const out = new Map<number, Row>();
  for (const e of list) {
    const r = out.get(e['vlan-id']) ?? {
      vlan: e['vlan-id'],
      names: [],
      on: new Map<string, Entry>(),
    };
    out.set(r.vlan, r);
    r.on.set(e['node-id'], e);
    if (e['vlan-name'] && !r.names.includes(e['vlan-name'])) r.names.push(e['vlan-name']);
  }
  return [...out.values()].sort((a, b) => a.vlan - b.vlan);
}

/** findings are VLANs that one end of a link carries and the other does not, and VLANs with several names. */
function findings(g: Graph | undefined, rows: Row[]): Finding[] {
  const out: Finding[] = [],
    asked = new Set(rows.flatMap(r => [...r.on.keys()]));
  for (const r of rows) {
    if (r.names.length > 1)
      out.push({
        vlan: r.vlan,
        what: 'has several names',
        where: r.names.join(', '),
        node: '',
        graph: '',
      });
    for (const l of g?.links.values() ?? []) {
      if (l.state === 'gone' || !asked.has(l.a) || !asked.has(l.b)) continue;
      const carries = (n: string, port: string) => {
        const e = r.on.get(n),
          names = [port, g!.nodes.get(n)?.ports.find(p => p.id.endsWith(':' + port))?.name];
        return [...(e?.['tagged-port'] ?? []), ...(e?.['untagged-port'] ?? [])].some(p =>
          names.includes(p),
        );
      };
      const a = carries(l.a, l.aPort),
        b = carries(l.b, l.bPort),
        name = (n: string) => g!.nodes.get(n)!.name;
      if (a !== b)
        out.push({
          vlan: r.vlan,
          what: 'one end of a link only',
          where: `${name(a ? l.a : l.b)} port ${a ? l.aPort : l.bPort} has it, ${name(a ? l.b : l.a)} port ${a ? l.bPort : l.aPort} has not`,
          node: a ? l.b : l.a,
          graph: g!.id,
        });
    }
  }
  return out;
}

export function VlansPage() {
  const data = useData(
      s => rpc<{ entry?: Entry[]; partial?: string[] }>('switch:vlans', {}, { signal: s }),
      [],
    ),
    [adding, setAdding] = useState(false);
  const g = [...(graphs.value?.values() ?? [])].find(x => x.id.startsWith('switch')),
    rows = useMemo(() => rowsOf(data.value?.entry ?? []), [data.value]);
  const switches = useMemo(
      () =>
        [...new Map((data.value?.entry ?? []).map(e => [e['node-id'], e.switch]))].sort((a, b) =>
          natural(a[1], b[1]),
        ),
      [data.value],
    ),
    wrong = useMemo(() => findings(g, rows), [g, rows]);
  const targets: Node[] = switches.flatMap(([id]) => {
    const n = g?.nodes.get(id);
    return n && isSwitch(g!, id) ? [n] : [];
  });
  const ports = (e: Entry | undefined) =>
    e
      ? [
          e['tagged-port']?.length && `T ${namedSpans(e['tagged-port'])}`,
          e['untagged-port']?.length && `U ${namedSpans(e['untagged-port'])}`,
        ]
          .filter(Boolean)
          .join(' ') || 'no port'
      : '';
  const columns: Column<Row>[] = [
    {
      name: 'VLAN',
      text: r => r.vlan,
      cell: r =>
        g ? (
          <a href={to(['map', g.id], { layer: `vlan:${r.vlan}` })}>
            {r.vlan}
            <span class="hidden"> on the map</span>
          </a>
        ) : (
          r.vlan
        ),
    },
    { name: 'Name', text: r => r.names.join(', ') },
    { name: 'Switches', text: r => r.on.size, right: true },
    ...switches.map(([id, name]) => ({
      name,
      text: (r: Row) => ports(r.on.get(id)),
      cell: (r: Row) =>
        r.on.has(id) ? (
          <a class="small keep" href={to(['devices', g?.id ?? '', id, 'vlans'])}>
            {ports(r.on.get(id))}
          </a>
        ) : (
          <span class="soft">
            –<span class="hidden">not there</span>
          </span>
        ),
    })),
  ];
  return (
    <>
      <Title
        side={
          <>
            <button class="plain" onClick={data.reload}>
              Read again
            </button>
            <button disabled={!targets.length} onClick={() => setAdding(true)}>
              Add VLAN…
            </button>
          </>
        }
      >
        VLANs
      </Title>
      {data.error?.status === 404 ? (
        <Empty
          action={
            <a class="button" href={to(['system', 'features'], { q: 'switch' })}>
              Install ctl-switch-all
            </a>
          }
        >
          No plugin for switches is installed.
        </Empty>
      ) : (
        <Loaded data={data}>
          {v => (
            <>
              <p class="soft">
                Read from all switches {age(data.at)}. T: tagged ports, U: untagged ports, –: not on
                this switch.
              </p>
              {(v.partial ?? []).map(x => (
                <p key={x} class="note warn">
                  {x}
                </p>
              ))}
              {wrong.length > 0 && (
                <details class="card" open={wrong.length < 6}>
                  <summary>{count(wrong.length, 'mismatch', 'mismatches')}</summary>
                  <Table
                    name="Findings"
                    rows={wrong.map((f, i) => ({ ...f, i }))}
                    id={f => String(f.i)}
                    columns={[
                      { name: 'VLAN', text: f => f.vlan },
                      { name: 'What', text: f => f.what },
                      {
                        name: 'Where',
                        text: f => f.where,
                        cell: f =>
                          f.node ? (
                            <a href={to(['devices', f.graph, f.node, 'vlans'])}>{f.where}</a>
                          ) : (
                            f.where
                          ),
                      },
                    ]}
                  />
                </details>
              )}
              <Table
                name="VLANs"
                rows={rows}
                id={r => String(r.vlan)}
                columns={columns}
                empty={
                  <Empty
                    action={
                      <a class="button" href={to(['devices'])}>
                        Devices
                      </a>
                    }
                  >
                    No switch returned a VLAN: check that the list has switches and that they
                    answer.
                  </Empty>
                }
              />
            </>
          )}
        </Loaded>
      )}
      {adding && (
        <VlanDialog
          targets={targets}
          onClose={() => {
            setAdding(false);
            data.reload();
          }}
        />
      )}
    </>
  );
}
