// Who carries which VLAN: a matrix of VLANs and switches, and what does not fit together at the
// ends of links.
import { useMemo, useState } from 'preact/hooks';
import { age, count, useData } from '../../core/data';
import { to } from '../../core/route';
import { natural } from '../../core/text';
import { Node, isSwitch } from '../../map/graph';
import { graphs } from '../../map/store';
import { namedSpans } from '../../switches/ports';
import { VlanDialog } from '../../switches/vlandialog';
import { Mismatch, VlanEntry, kindText, readVlans } from '../../switches/vlans';
import { Column, Empty, Loaded, Table, Title } from '../../core/ui';

/** Row is a VLAN, and what it is on each switch. */
interface Row {
  vlan: number;
  names: string[];
  on: Map<string, VlanEntry>;
}

/** rowsOf puts the VLANs of all switches together. */
function rowsOf(list: VlanEntry[]): Row[] {
  const out = new Map<number, Row>();
  for (const e of list) {
    const vlan = e['vlan-id'] ?? 0,
      r = out.get(vlan) ?? { vlan, names: [], on: new Map<string, VlanEntry>() };
    out.set(vlan, r);
    r.on.set(e['node-id'] ?? '', e);
    if (e['vlan-name'] && !r.names.includes(e['vlan-name'])) r.names.push(e['vlan-name']);
  }
  return [...out.values()].sort((a, b) => a.vlan - b.vlan);
}

/** Mismatches lists the VLANs that do not match at the ends of links; a press opens a switch. */
function Mismatches({ list, graph }: { list: Mismatch[]; graph: string }) {
  if (!list.length) return null;
  return (
    <details class="card" open={list.length < 6}>
      <summary>{count(list.length, 'mismatch', 'mismatches')}</summary>
      <Table
        name="Findings"
        rows={list.map((m, i) => ({ ...m, i }))}
        id={m => String(m.i)}
        columns={[
          { name: 'VLAN', text: m => m['vlan-id'] },
          { name: 'What', text: m => kindText[m.kind ?? 'one-end'] },
          {
            name: 'Where',
            text: m => whereOf(m),
            cell: m =>
              m['peer-node-id'] ? (
                <a href={to(['devices', graph, m['peer-node-id'], 'vlans'])}>{whereOf(m)}</a>
              ) : (
                whereOf(m)
              ),
          },
        ]}
      />
    </details>
  );
}

/** whereOf is the place of a mismatch: the ends of a link, or the names. */
const whereOf = (m: Mismatch): string | undefined =>
  m.kind === 'name' ? m['vlan-name']?.join(', ') : m.text;

/** VlansPage shows which switch has which VLAN at which ports, and what does not match. */
export function VlansPage() {
  const data = useData(s => readVlans({ signal: s }), []),
    [adding, setAdding] = useState(false);
  const g = [...(graphs.value?.values() ?? [])].find(x => x.id.startsWith('switch')),
    rows = useMemo(() => rowsOf(data.value?.entries ?? []), [data.value]);
  const switches = useMemo(
    () =>
      [...new Map((data.value?.entries ?? []).map(e => [e['node-id'] ?? '', e.switch ?? '']))].sort(
        (a, b) => natural(a[1], b[1]),
      ),
    [data.value],
  );
  const targets: Node[] = switches.flatMap(([id]) => {
    const n = g?.nodes.get(id);
    return n && isSwitch(g!, id) ? [n] : [];
  });
  const ports = (e: VlanEntry | undefined) =>
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
              {v.partial.map(x => (
                <p key={x} class="note warn">
                  {x}
                </p>
              ))}
              <Mismatches list={v.mismatches} graph={g?.id ?? ''} />
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
