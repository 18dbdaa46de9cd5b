// The list of all devices.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { bierTone } from '../../bier/tone';
import { rpc } from '../../core/api';
import { mac, useData } from '../../core/data';
import { onEvents } from '../../core/events';
import { route, setQuery, to } from '../../core/route';
import { Graph, Node, isSwitch } from '../../map/graph';
import { StateOf } from '../../map/state';
import { graphs, problem, readAt, refresh, titleOf } from '../../map/store';
import { printable } from '../../core/text';
import { ListedSwitch, listSwitches } from '../../switches/unheard';
import { AddSwitches } from './add';
import { VlanDialog } from '../../switches/vlandialog';
import { Choice, Column, Failure, Mark, Outcome, Table, Title, useAct } from '../../core/ui';

const netconf = 'topology-netconf'; // how routers are reached

interface Row {
  g: Graph;
  n: Node;
  links: number;
  /** Of a switch that is in the list only: what came of asking it. */
  tried?: string;
}

/** unheardRows are the switches of the list that no topology has. */
function unheardRows(list: ListedSwitch[]): Row[] {
  const all = [...(graphs.value?.values() ?? [])],
    home = all.find(g => g.id.startsWith('switch')),
    g: Graph = home ?? { id: 'switch:1', nodes: new Map(), links: new Map() };
  return list
    .filter(e => !all.some(x => x.id.startsWith('switch') && x.nodes.has(e['node-id'] ?? '')))
    .map(e => ({
      g,
      links: 0,
      tried: e.state ?? '',
      n: {
        id: e['node-id'] ?? e.address ?? '',
        name: printable(e.switch || e.address || e['mac-address'] || ''),
        state: 'silent',
        kind: 'snmp',
        model: printable(e.model ?? ''),
        address: e.address ?? '',
        mac: e['mac-address'] ?? '',
        ports: [],
        since: Date.now(),
      },
    }));
}

/** List shows all devices: one filters, opens one, or chooses several for a VLAN. */
export function List() {
  const [selected, setSelected] = useState(new Set<string>()),
    [bulk, setBulk] = useState(false),
    act = useAct();
  const rows = useMemo(
    () =>
      [...(graphs.value?.values() ?? [])].flatMap(g => {
        const links = new Map<string, number>();
        for (const l of g.links.values())
          for (const n of [l.a, l.b]) links.set(n, (links.get(n) ?? 0) + l.count);
        return [...g.nodes.values()].map((n): Row => ({ g, n, links: links.get(n.id) ?? 0 }));
      }),
    [graphs.value],
  );
  const listed = useData(listSwitches, [graphs.value?.size, readAt.value?.getTime()]),
    unheard = unheardRows(listed.value ?? []);
  const routed = (r: Row) => r.g.id === netconf || r.n.kind === 'bier',
    reached = graphs.value?.get(netconf)?.nodes;
  const bier = rows.some(routed),
    said = useData(
      s =>
        bier
          ? rpc('bier-service-api:reconcile', { wait: 0 }, { signal: s, background: true }).then(
              a => a.router ?? [],
              () => [],
            )
          : Promise.resolve([]),
      [bier],
    );
  useEffect(
    () =>
      onEvents(e => {
        if (e.some(x => x.stream.includes('bier'))) said.reload();
      }),
    [],
  );
  const session = (r: Row) => {
    const x = said.value?.find(x => x['node-id'] === r.n.id);
    return !routed(r) || r.n.state !== 'unknown'
      ? ''
      : x
        ? (x.session ?? x.state ?? '')
        : 'not asked';
  };
  const routers = (g: Graph) =>
    [g, ...(graphs.value?.values() ?? [])].find(x => x.id !== netconf)?.id;
  const columns: Column<Row>[] = [
    {
      name: 'Name',
      text: r => r.n.name,
      cell: r =>
        r.tried === undefined ? <a href={to(['devices', r.g.id, r.n.id])}>{r.n.name}</a> : r.n.name,
    },
    {
      name: 'State',
      text: r => (r.tried === undefined ? session(r) || r.n.state : `never answered: ${r.tried}`),
      cell: r => {
        if (r.tried !== undefined) return <Mark tone="warn">never answered: {r.tried}</Mark>;
        const s = session(r),
          mark = (
            <Mark
              tone={s === 'up' ? 'good' : s === 'down' || s === 'refused' ? 'bad' : bierTone(s)}
            >
              {s}
            </Mark>
          ),
          of = routers(r.g);
        return !s ? (
          <StateOf n={r.n} />
        ) : of ? (
          <a href={to(['bier', of, 'routers'])}>{mark}</a>
        ) : (
          mark
        );
      },
    },
    { name: 'Address', text: r => r.n.address },
    { name: 'MAC', text: r => r.n.mac || (isSwitch(r.g, r.n.id) ? mac(r.n.id) : '') },
    { name: 'Model', text: r => r.n.model },
    {
      name: 'Kind',
      text: r => (!routed(r) ? r.n.kind : reached?.has(r.n.id) ? 'NETCONF' : 'BIER'),
    },
    { name: 'Ports', text: r => r.n.ports.length, right: true },
    { name: 'Links', text: r => r.links, right: true },
    {
      name: 'Topology',
      text: r => r.g.id,
      cell: r => <a href={to(['map', r.g.id], { sel: r.n.id })}>{titleOf(r.g.id)}</a>,
    },
  ];
  const only = route.value.query.get('of') ?? '',
    kinds = [...(graphs.value?.values() ?? [])].filter(g => g.nodes.size),
    elsewhere = (r: Row) =>
      r.g.id === netconf && kinds.some(g => g.id !== netconf && g.nodes.has(r.n.id)),
    all = useMemo(
      () => rows.filter(r => (only ? r.g.id === only : !elsewhere(r))),
      [rows, only, said.value],
    );
  const key = (r: Row) => r.g.id + '|' + r.n.id,
    shown = only && !only.startsWith('switch') ? all : [...all, ...unheard],
    chosen = rows.filter(r => selected.has(key(r)) && isSwitch(r.g, r.n.id));
  return (
    <>
      <Title
        side={
          <>
            {kinds.length > 1 && (
              <Choice
                label="Topology"
                value={only}
                options={[
                  ['', 'all'],
                  ...kinds.map(g => [g.id, titleOf(g.id)] as [string, string]),
                ]}
                onChange={of => setQuery({ of })}
              />
            )}
            <button
              class="plain"
              disabled={act.busy}
              onClick={() =>
                act.run(async () => {
                  await rpc('topology:rediscover');
                  await refresh();
                  return 'All switches were asked.';
                })
              }
            >
              Rediscover
            </button>
            {chosen.length > 0 && (
              <button onClick={() => setBulk(true)}>VLAN on {chosen.length}…</button>
            )}
          </>
        }
      >
        Devices
      </Title>
      <Outcome act={act} />
      {!graphs.value ? (
        problem.value ? (
          <Failure error={problem.value} retry={() => void refresh()} />
        ) : (
          <div class="skeleton" data-state="loading" />
        )
      ) : (
        <Table
          name="Devices"
          rows={shown}
          columns={columns}
          id={key}
          selected={selected}
          onSelect={setSelected}
          selectable={r => r.tried === undefined && isSwitch(r.g, r.n.id)}
          empty={<AddSwitches />}
        />
      )}
      {bulk && <VlanDialog targets={chosen.map(r => r.n)} onClose={() => setBulk(false)} />}
    </>
  );
}
