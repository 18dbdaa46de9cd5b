// The page of a device.
import { useState } from 'preact/hooks';
import { rpc } from '../../core/api';
import { mac, useTick } from '../../core/data';
import { route, to } from '../../core/route';
import { Node, isSwitch } from '../../map/graph';
import { StateOf } from '../../map/state';
import { graphs, problem, refresh } from '../../map/store';
import { AclPart } from './acl';
import { ArpPart } from './arp';
import { FdbPart } from './fdb';
import { HistoryPart } from './history';
import { Neighbours } from './neighbours';
import { PortsPart } from './ports';
import { RawPart } from './raw';
import { StpPart } from './stp';
import { VlansPart } from './vlans';
import { VlanDialog } from '../../switches/vlandialog';
import { Empty, Failure, Outcome, Tabs, Title, useAct } from '../../core/ui';

/** tabsOf are the parts of a device; only a switch of the list has more than its ports. */
function tabsOf(n: Node, real: boolean): [string, string][] {
  const ofSwitch: [string, string][] = [
    ['vlans', 'VLANs'],
    ['fdb', 'FDB'],
    ['arp', 'ARP'],
    ['stp', 'STP'],
    ['acl', 'ACL'],
    ['history', 'History'],
  ];
  return [
    ['ports', `Ports ${n.ports.length}`],
    ...(real ? ofSwitch : []),
    ['neighbours', 'Neighbours'],
    ['raw', 'Raw'],
  ];
}

/** NoDevice is shown where there is no such device, or where it is not known yet. */
function NoDevice({ topology, id }: { topology: string; id: string }) {
  const back = (
    <a class="button" href={to(['devices'])}>
      To the list
    </a>
  );
  return (
    <>
      <Title>Device</Title>
      {graphs.value ? (
        <Empty action={back}>
          There is no node {id} in the topology {topology} (any more).
        </Empty>
      ) : problem.value ? (
        <Failure error={problem.value} retry={() => void refresh()} />
      ) : (
        <div class="skeleton" data-state="loading" />
      )}
    </>
  );
}

/** DevicePage shows a device with its parts as tabs. */
export function DevicePage({ topology, id }: { topology: string; id: string }) {
  useTick(5);
  const g = graphs.value?.get(topology),
    n = g?.nodes.get(id),
    tab = route.value.path[3] ?? 'ports',
    act = useAct(),
    [adding, setAdding] = useState(false);
  if (!g || !n) return <NoDevice topology={topology} id={id} />;
  const real = isSwitch(g, id);
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
      <Tabs base={t => to(['devices', topology, id, t])} tabs={tabsOf(n, real)} now={tab} />
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
