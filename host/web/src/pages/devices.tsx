// The list of all devices, and the page of one.
import { rpc } from '../core/api';
import { useEffect, useMemo, useState } from 'preact/hooks';
import { mac, natural, useData, useTick } from '../core/data';
import { onEvents } from '../core/events';
import { route, setQuery, to } from '../core/route';
import {
  Choice,
  Column,
  Empty,
  Failure,
  Mark,
  Outcome,
  Table,
  Tabs,
  Title,
  useAct,
} from '../core/ui';
import { Graph, Link, Node, speedText } from '../map/graph';
import { graphs, problem, refresh, titleOf } from '../map/store';
import { isSwitch } from '../map/layers';
import { toneOf } from './bier';
import { StateOf } from './map';
import {
  AclPart,
  ArpPart,
  FdbPart,
  HistoryPart,
  PortsPart,
  RawPart,
  StpPart,
  VlanDialog,
  VlansPart,
} from './device';

const netconf = 'topology-netconf'; // how routers are reached
interface Row {
  g: Graph;
  n: Node;
  links: number;
}

export function DevicesPage() {
  const [, topology, id] = route.value.path;
  return topology && id ? <DevicePage topology={topology} id={id} /> : <List />;
}

function List() {
  const [selected, setSelected] = useState(new Set<string>()),
    [bulk, setBulk] = useState(false),
    act = useAct();
  const rows = useMemo(
    () =>
      [...(graphs.value?.values() ?? [])].flatMap(g => {
        const links = new Map<string, number>();
        for (const l of g.links.values())
          for (const n of [l.a, l.b]) links.set(n, (links.get(n) ?? 0) + l.count);
        return [...g.nodes.values()].map(n => ({ g, n, links: links.get(n.id) ?? 0 }));
      }),
    [graphs.value],
  );
  const routed = (r: Row) => r.g.id === netconf || r.n.kind === 'bier',
    reached = graphs.value?.get(netconf)?.nodes;
  const bier = rows.some(routed),
    said = useData(
      s =>
        bier
          ? rpc<{ router?: { 'node-id': string; state: string; session?: string }[] }>(
              'bier-service-api:reconcile',
              { wait: 0 },
              { signal: s, background: true },
            ).then(
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
    return !routed(r) || r.n.state !== 'unknown' ? '' : x ? (x.session ?? x.state) : 'not asked';
  };
  const routers = (g: Graph) =>
    [g, ...(graphs.value?.values() ?? [])].find(x => x.id !== netconf)?.id;
  const columns: Column<Row>[] = [
    {
      name: 'Name',
      text: r => r.n.name,
      cell: r => <a href={to(['devices', r.g.id, r.n.id])}>{r.n.name}</a>,
    },
    {
      name: 'State',
      text: r => session(r) || r.n.state,
      cell: r => {
        const s = session(r),
          mark = (
            <Mark tone={s === 'up' ? 'good' : s === 'down' || s === 'refused' ? 'bad' : toneOf(s)}>
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
          rows={all}
          columns={columns}
          id={key}
          selected={selected}
          onSelect={setSelected}
          selectable={r => isSwitch(r.g, r.n.id)}
          empty={<AddSwitches />}
        />
      )}
      {bulk && <VlanDialog targets={chosen.map(r => r.n)} onClose={() => setBulk(false)} />}
    </>
  );
}

/** AddSwitches is what an empty list offers. */
function AddSwitches() {
  return (
    <Empty
      action={
        <p>
          <a class="button" href={to(['system', 'features'], { q: 'ctl-switch' })}>
            Install a feature
          </a>{' '}
          <a class="button plain" href={to(['api'], { q: 'switch-db' })}>
            Add switches in the API page
          </a>
        </p>
      }
    >
      No device is known. Install a feature (ctl-switch-all, ctl-openflow) and read the list of
      switches: with switch:ReadDB FILE at the console, or with the operations of switch-db.
    </Empty>
  );
}

function DevicePage({ topology, id }: { topology: string; id: string }) {
  useTick(5);
  const g = graphs.value?.get(topology),
    n = g?.nodes.get(id),
    tab = route.value.path[3] ?? 'ports',
    act = useAct(),
    [adding, setAdding] = useState(false);
  if (!g || !n)
    return (
      <>
        <Title>Device</Title>
        {graphs.value ? (
          <Empty
            action={
              <a class="button" href={to(['devices'])}>
                To the list
              </a>
            }
          >
            There is no node {id} in the topology {topology} (any more).
          </Empty>
        ) : problem.value ? (
          <Failure error={problem.value} retry={() => void refresh()} />
        ) : (
          <div class="skeleton" data-state="loading" />
        )}
      </>
    );
  const real = isSwitch(g, id),
    tabs: [string, string][] = [
      ['ports', `Ports ${n.ports.length}`],
      ...(real
        ? ([
            ['vlans', 'VLANs'],
            ['fdb', 'FDB'],
            ['arp', 'ARP'],
            ['stp', 'STP'],
            ['acl', 'ACL'],
            ['history', 'History'],
          ] as [string, string][])
        : []),
      ['neighbours', 'Neighbours'],
      ['raw', 'Raw'],
    ];
  const links = [...g.links.values()].filter(l => l.a === id || l.b === id);
  return (
    <>
      <p class="crumbs">
        <a href={to(['devices'])}>Devices</a> / {n.name}
      </p>
      <Title
        side={
          <>
            <button
              class="plain"
              disabled={act.busy}
              onClick={() =>
                act.run(async () => {
                  await refresh();
                  return 'Read again.';
                })
              }
            >
              Read again
            </button>
            {real && (
              <>
                <button
                  class="plain"
                  disabled={act.busy}
                  onClick={() =>
                    act.run(async () => {
                      await rpc('topology:rediscover');
                      await refresh();
                      return 'Discovered again.';
                    })
                  }
                >
                  Rediscover
                </button>
                <button onClick={() => setAdding(true)}>Add VLAN…</button>
              </>
            )}
          </>
        }
      >
        {n.name}
      </Title>
      <p class="bar">
        <StateOf n={n} /> <span>{n.address}</span> <span>{n.model}</span>{' '}
        <span class="mono soft">{n.mac || (real ? mac(id) : id)}</span>{' '}
        <a href={to(['map', g.id], { sel: id })}>on the map</a>
      </p>
      <Outcome act={act} />
      <Tabs base={t => to(['devices', topology, id, t])} tabs={tabs} now={tab} />
      {tab === 'ports' && <PortsPart g={g} n={n} real={real} />}
      {tab === 'vlans' && <VlansPart n={n} />}
      {tab === 'fdb' && <FdbPart n={n} />}
      {tab === 'arp' && <ArpPart n={n} />}
      {tab === 'stp' && <StpPart n={n} />}
      {tab === 'acl' && <AclPart n={n} />}
      {tab === 'history' && <HistoryPart n={n} />}
      {tab === 'neighbours' && <Neighbours g={g} n={n} links={links} />}
      {tab === 'raw' && <RawPart g={g} n={n} />}
      {adding && <VlanDialog targets={[n]} onClose={() => setAdding(false)} />}
    </>
  );
}

function Neighbours({ g, n, links }: { g: Graph; n: Node; links: Link[] }) {
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
