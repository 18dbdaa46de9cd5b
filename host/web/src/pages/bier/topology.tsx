// One topology of BIER: its channels, and the tabs of its other parts.
import { useEffect, useState } from 'preact/hooks';
import { Channel, channelState } from '../../bier/channel';
import { configure } from '../../bier/configure';
import { Named, nameOf, named } from '../../bier/names';
import { bierTone } from '../../bier/tone';
import { age, count, useData } from '../../core/data';
import { onEvents } from '../../core/events';
import { route, to } from '../../core/route';
import { BiftPart } from './bift';
import { CheckPart } from './check';
import { Delivery } from './delivery';
import { Domains } from './domains';
import { load } from './known';
import { Mount } from './mount';
import { Nodes } from './nodes';
import { PortsPart } from './ports';
import { Routers } from './routers';
import { Wizard } from './wizard';
import { Confirm, Empty, Loaded, Mark, Outcome, Table, Tabs, useAct } from '../../core/ui';

/** Topology lists the channels: one makes, deploys, shows and removes them here. */
export function Topology({ id }: { id: string }) {
  const data = useData(() => load(id), [id]),
    tab = route.value.path[2] ?? 'channels',
    act = useAct(),
    [wizard, setWizard] = useState<Channel | true | null>(null),
    [mount, setMount] = useState<string | null>(null),
    [gone, setGone] = useState<Channel | null>(null);
  useEffect(
    () =>
      onEvents(e => {
        if (e.some(x => /bier|topo-change|report/.test(x.stream + x.name))) data.reload();
      }),
    [id],
  );
  // What a router does not hold yet is asked for again until it does.
  useEffect(() => {
    if (
      data.loading ||
      !data.value?.channels.some(c =>
        ['pending', 'unverified', 'at-risk', 'unreachable'].includes(channelState(c)),
      )
    )
      return;
    const t = setTimeout(data.reload, 3000);
    return () => clearTimeout(t);
  }, [data.value, data.loading]);
  const name = (n: string) => nameOf(n, id);
  return (
    <>
      <Outcome act={act} />
      <Tabs
        base={t => to(['bier', id, t])}
        now={tab}
        tabs={[
          ['channels', 'Channels'],
          ['domains', 'Domains'],
          ['nodes', 'Nodes'],
          ['bift', 'BIFT'],
          ['ports', 'Ports'],
          ['routers', 'Routers'],
          ['check', 'Check'],
        ]}
      />
      <Loaded data={data}>
        {v => (
          <>
            {tab === 'channels' && (
              <>
                <Table
                  name="Channels"
                  tools={
                    v.domains.length > 0 && (
                      <button onClick={() => setWizard(true)}>New channel…</button>
                    )
                  }
                  rows={v.channels}
                  id={c => c.name}
                  empty={
                    v.domains.length ? (
                      <Empty>
                        There is no channel yet. A channel carries a multicast flow from an ingress
                        to egress routers.
                      </Empty>
                    ) : (
                      <Empty
                        action={
                          <a class="button" href={to(['bier', id, 'nodes'])}>
                            Set up routers
                          </a>
                        }
                      >
                        There is no channel yet, and no router for one: first add nodes of this
                        topology to a BIER domain.
                      </Empty>
                    )
                  }
                  columns={[
                    { name: 'Name', text: c => c.name },
                    {
                      name: 'State',
                      text: channelState,
                      cell: c => <Mark tone={bierTone(channelState(c))}>{channelState(c)}</Mark>,
                    },
                    { name: 'Flow', text: c => `${c['src-ip'] ?? ''} → ${c['dst-group'] ?? ''}` },
                    { name: 'Domain', text: c => `${c['domain-id']}/${c['sub-domain-id']}` },
                    {
                      name: 'Ingress',
                      text: c => (c['ingress-node'] ? name(c['ingress-node']) : ''),
                    },
                    {
                      name: 'Egresses',
                      text: c => (c['egress-node'] ?? []).map(e => name(e['node-id'])).join(', '),
                    },
                    {
                      name: 'Do',
                      text: () => '',
                      cell: c => (
                        <>
                          <a
                            class="button plain"
                            href={to(['map', id], { layer: 'bier:' + c.name })}
                          >
                            Show on map
                          </a>{' '}
                          <button class="plain" onClick={() => setWizard(c)}>
                            Deploy…
                          </button>{' '}
                          <button class="plain" onClick={() => setGone(c)}>
                            Remove…
                          </button>
                        </>
                      ),
                    },
                  ]}
                />
                {v.channels
                  .filter(c => c['ingress-node'])
                  .map(c => (
                    <details key={c.name} class="card" open={channelState(c) !== 'applied'}>
                      <summary>
                        {c.name}: {count((c.deployment ?? []).length, 'router')}
                        {c.copies !== undefined &&
                          `, ${count(c.copies, 'copy', 'copies')} at the ingress`}
                      </summary>
                      <Table
                        name={`Routers of ${c.name}`}
                        rows={c.deployment ?? []}
                        id={d => d['node-id']}
                        empty={<Empty>No router has reported yet.</Empty>}
                        columns={[
                          {
                            name: 'Router',
                            text: d => name(d['node-id']),
                            cell: d => <Named text={d['node-id']} as={name(d['node-id'])} />,
                          },
                          { name: 'Role', text: d => d.role ?? '' },
                          {
                            name: 'State',
                            text: d => d.state,
                            cell: d => <Mark tone={bierTone(d.state ?? '')}>{d.state}</Mark>,
                          },
                          { name: 'Session', text: d => d.session ?? 'none' },
                          { name: 'Since', text: d => d.since ?? '', cell: d => age(d.since) },
                          {
                            name: 'Read back',
                            text: d => d.confirmed ?? '',
                            cell: d => age(d.confirmed),
                          },
                          {
                            name: 'Proved',
                            text: d => d.proved ?? '',
                            cell: d => d.proved && `${age(d.proved)} by ${d['proved-by'] ?? ''}`,
                          },
                          { name: 'Packets', text: d => (d.counted ? (d.packets ?? '0') : '') },
                          { name: 'Way', text: d => (d.path ?? []).map(name).join(' → ') },
                          {
                            name: 'Reason',
                            text: d => named(d.reason ?? ''),
                            cell: d => <Named text={d.reason ?? ''} />,
                          },
                        ]}
                      />
                      <p>
                        {c.proved
                          ? `Delivery to all egress nodes was proved by ${c['proved-by'] ?? ''}: `
                          : 'Delivery to all egress nodes is not proved.'}
                        {c.proved && age(c.proved)}
                      </p>
                      <Delivery id={id} channel={c} name={name} />
                      {(c.bitstring ?? []).map(b => (
                        <p key={b.si}>
                          Bit string (SI {b.si}, {b.bitstringlength} bits):{' '}
                          <code>0x{(b.bits ?? '').replace(/^0+(?=.)/, '')}</code>
                          {ones(b.bits ?? '') === c['egress-node']?.length &&
                            ` = ${c['egress-node'].map(e => name(e['node-id'])).join(', ')}`}
                        </p>
                      ))}
                    </details>
                  ))}
              </>
            )}
            {tab === 'domains' && (
              <Domains id={id} domains={v.domains} done={data.reload} act={act} />
            )}
            {tab === 'nodes' && <Nodes id={id} known={v} name={name} done={data.reload} />}
            {tab === 'bift' && <BiftPart id={id} known={v} name={name} />}
            {tab === 'ports' && <PortsPart id={id} known={v} name={name} />}
            {tab === 'check' && <CheckPart id={id} name={name} />}
            {tab === 'routers' && (
              <Routers key={mount === null ? '' : 'm'} mount={setMount} act={act} name={name} />
            )}
            {wizard && (
              <Wizard
                id={id}
                known={v}
                name={name}
                channel={wizard === true ? null : wizard}
                onClose={() => {
                  setWizard(null);
                  data.reload();
                }}
              />
            )}
          </>
        )}
      </Loaded>
      {mount !== null && (
        <Mount nodes={data.value?.nodes ?? []} node={mount} onClose={() => setMount(null)} />
      )}
      {gone && (
        <Confirm
          title={`Remove channel ${gone.name}`}
          verb="Remove"
          onClose={() => setGone(null)}
          onDo={() =>
            act.run(async () => {
              await configure('bier-channel-api:remove-channel', {
                'topology-id': id,
                'channel-name': gone.name,
              });
              data.reload();
              return `${gone.name} is removed.`;
            })
          }
        >
          It is removed from all of its routers, and deleted.
        </Confirm>
      )}
    </>
  );
}

/** ones counts the bits that are set in a hexadecimal number. */
const ones = (hex: string) =>
  BigInt('0x' + hex)
    .toString(2)
    .replaceAll('0', '').length;
