// BIER: topologies, domains, channels; from a topology to a deployed channel.
import { useEffect, useState } from 'preact/hooks';
import { call, Fault, rpc } from '../core/api';
import { age, count, printable, useData } from '../core/data';
import { BiftPart, CheckPart, Prepare } from './bier-parts';
import { onEvents } from '../core/events';
import { go, route, to } from '../core/route';
import {
  Choice,
  Confirm,
  Dialog,
  Empty,
  Field,
  Loaded,
  Mark,
  Outcome,
  Table,
  Tabs,
  Title,
  Tone,
  useAct,
} from '../core/ui';
import { graphs, titleOf } from '../map/store';
import { Channel, channelState, each } from '../map/layers';

export const toneOf = (s: string): Tone =>
  s === 'applied' || s === 'ready' || s === 'clean'
    ? 'good'
    : s === 'failed' || s === 'unreachable'
      ? 'bad'
      : s === 'pending' || s === 'unverified' || s === 'at-risk'
        ? 'warn'
        : 'soft';
interface Result {
  'configure-result'?: { result?: string; errorCause?: string; 'error-cause'?: string };
}
/** configure calls an operation that answers SUCCESS or FAILURE; a failure is thrown with its cause. */
export async function configure(name: string, input: object): Promise<void> {
  const r = (await rpc<Result>(name, input))['configure-result'];
  if (r?.result === 'FAILURE')
    throw new Fault(409, r.errorCause ?? r['error-cause'] ?? 'it was refused');
}

/** nameOf is the name of a node, in the topology that is shown or else in any. */
export function nameOf(n: string, topology = ''): string {
  const names = [graphs.value?.get(topology), ...(graphs.value?.values() ?? [])].map(
    g => g?.nodes.get(n)?.name,
  );
  return names.find(x => x && x !== n) ?? n;
}
/** named is a text with the names of the switches that it has by their ids. */
export const named = (text: string): string => text.replace(/\b\d{5,}\b/g, n => nameOf(n));
/** Named shows names, and has the ids in its title. */
export const Named = ({ text, as = named(text) }: { text: string; as?: string }) => (
  <span title={as === text ? undefined : text}>{printable(as)}</span>
);

export interface Domain {
  id: number;
  subs: number[];
}
export interface Known {
  domains: Domain[];
  channels: Channel[];
  nodes: string[];
}
async function load(topology: string): Promise<Known> {
  const domains =
    (
      await rpc<{ domain?: { 'domain-id': number }[] }>('bier-topology-api:query-domain', {
        'topology-id': topology,
      })
    ).domain ?? [];
  const subs = await Promise.all(
    domains.map(d =>
      rpc<{ subdomain?: { 'sub-domain-id': number }[] }>('bier-topology-api:query-subdomain', {
        'topology-id': topology,
        'domain-id': d['domain-id'],
      }),
    ),
  );
  const nodes = (
    (
      await rpc<{ 'node-id'?: { 'node-id': string }[] }>('bier-topology-api:query-topology', {
        'topology-id': topology,
      })
    )['node-id'] ?? []
  ).map(n => n['node-id']);
  const names = (
    (
      await rpc<{ 'channel-name'?: { name: string }[] }>('bier-channel-api:get-channel', {
        'topology-id': topology,
      }).catch(() => ({ 'channel-name': [] }))
    )['channel-name'] ?? []
  ).map(c => c.name);
  const channels = names.length
    ? ((
        await rpc<{ channel?: Channel[] }>('bier-channel-api:query-channel', {
          'topology-id': topology,
          'channel-name': names,
        })
      ).channel ?? [])
    : [];
  return {
    domains: domains.map((d, i) => ({
      id: d['domain-id'],
      subs: (subs[i]!.subdomain ?? []).map(s => s['sub-domain-id']),
    })),
    channels,
    nodes,
  };
}

export function BierPage() {
  const topologies = useData(
    () =>
      rpc<{ topology?: { 'topology-id': string }[] }>('bier-topology-api:load-topology').then(t =>
        (t.topology ?? []).map(x => x['topology-id']),
      ),
    [],
  );
  // A topology with domains is shown first: the others have no BIER routers yet.
  const used = useData(
    () =>
      each(
        topologies.value ?? [],
        async t =>
          (
            (
              await rpc<{ domain?: object[] }>('bier-topology-api:query-domain', {
                'topology-id': t,
              })
            ).domain ?? []
          ).length,
      ).then(
        r =>
          topologies.value?.find(t => r.done.some(([id, n]) => id === t && n > 0)) ??
          topologies.value?.[0] ??
          '',
      ),
    [topologies.value],
  );
  useEffect(topologies.reload, [graphs.value?.size]); // not another key: what is open below stays while the list is read again
  const chosen = route.value.path[1] ?? used.value ?? '';
  return (
    <>
      <Title
        side={
          topologies.value &&
          topologies.value.length > 0 &&
          route.value.path[2] !== 'routers' && (
            <Choice
              label="Topology"
              value={chosen}
              options={topologies.value.map(t => [t, titleOf(t)])}
              onChange={t => go(['bier', t])}
            />
          )
        }
      >
        BIER
      </Title>
      {topologies.error?.status === 404 ? (
        <Empty
          action={
            <a class="button" href={to(['system', 'features'], { q: 'ctl-bier' })}>
              Install ctl-bier-all
            </a>
          }
        >
          BIER is not installed.
        </Empty>
      ) : (
        <Loaded data={topologies}>
          {list =>
            list.length ? (
              chosen ? (
                <Topology key={chosen} id={chosen} />
              ) : (
                <div class="skeleton" role="status" data-state="loading" />
              )
            ) : (
              <Empty
                action={
                  <a class="button" href={to(['system', 'features'])}>
                    Features
                  </a>
                }
              >
                BIER knows no topology. It takes those of the switches, of OpenFlow and of mounted
                routers; none is there yet.
              </Empty>
            )
          }
        </Loaded>
      )}
    </>
  );
}

function Topology({ id }: { id: string }) {
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
                      cell: c => <Mark tone={toneOf(channelState(c))}>{channelState(c)}</Mark>,
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
                            cell: d => <Mark tone={toneOf(d.state)}>{d.state}</Mark>,
                          },
                          { name: 'Session', text: d => d.session ?? 'none' },
                          { name: 'Since', text: d => d.since ?? '', cell: d => age(d.since) },
                          {
                            name: 'Read back',
                            text: d => d.confirmed ?? '',
                            cell: d => age(d.confirmed),
                          },
                          {
                            name: 'Reason',
                            text: d => named(d.reason ?? ''),
                            cell: d => <Named text={d.reason ?? ''} />,
                          },
                        ]}
                      />
                      {(c.bitstring ?? []).map(b => (
                        <p key={b.si}>
                          Bit string (SI {b.si}, {b.bitstringlength} bits):{' '}
                          <code>0x{b.bits.replace(/^0+(?=.)/, '')}</code>
                          {ones(b.bits) === c['egress-node']?.length &&
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

function Domains({
  id,
  domains,
  done,
  act,
}: {
  id: string;
  domains: Domain[];
  done: () => void;
  act: ReturnType<typeof useAct>;
}) {
  const free = (used: number[], from: number) => {
    let n = from;
    while (used.includes(n)) n++;
    return String(n);
  };
  const [domain, setDomain] = useState<string | null>(null),
    [sub, setSub] = useState<string | null>(null),
    [of, setOf] = useState(''),
    [gone, setGone] = useState<Domain | null>(null),
    at = domains.find(d => String(d.id) === of) ?? domains[0],
    next =
      domain ??
      free(
        domains.map(d => d.id),
        1,
      ),
    nextSub = sub ?? free(at?.subs ?? [], 0),
    run = (text: string, rpcName: string, input: object) =>
      act.run(async () => {
        await configure('bier-topology-api:' + rpcName, { 'topology-id': id, ...input });
        done();
        return text;
      });
  return (
    <>
      <Table
        name="Domains"
        rows={domains}
        id={d => String(d.id)}
        empty={<Empty>There is no BIER domain yet. A new one has the sub-domain 0.</Empty>}
        columns={[
          { name: 'Domain id', text: d => d.id },
          { name: 'Sub-domain ids', text: d => d.subs.join(', ') },
          {
            name: 'Do',
            text: () => '',
            cell: d => (
              <button class="plain" onClick={() => setGone(d)}>
                Delete…
              </button>
            ),
          },
        ]}
      />
      <div class="row">
        <Field
          label="Domain"
          inputMode="numeric"
          value={next}
          onInput={e => setDomain(e.currentTarget.value)}
          hint="1..255"
        />
        <button
          onClick={() => {
            run(`Domain ${next} is added.`, 'configure-domain', { domain: [Number(next)] });
            setDomain(null);
          }}
        >
          Add domain
        </button>
      </div>
      {at && (
        <div class="row">
          <Choice
            label="In domain"
            value={String(at.id)}
            options={domains.map(d => [String(d.id), String(d.id)])}
            onChange={setOf}
          />
          <Field
            label="Sub-domain"
            inputMode="numeric"
            value={nextSub}
            onInput={e => setSub(e.currentTarget.value)}
            hint="0..255"
          />
          <button
            onClick={() => {
              run(`Sub-domain ${nextSub} of domain ${at.id} is added.`, 'configure-subdomain', {
                'domain-id': at.id,
                'sub-domain': [Number(nextSub)],
              });
              setSub(null);
            }}
          >
            Add sub-domain
          </button>
        </div>
      )}
      {gone && (
        <Confirm
          title={`Delete domain ${gone.id}`}
          verb="Delete"
          onClose={() => setGone(null)}
          onDo={() =>
            run(`Domain ${gone.id} is deleted.`, 'delete-domain', { 'domain-id': gone.id })
          }
        >{`Its ${count(gone.subs.length, 'sub-domain')} and what its routers have there are deleted with it. It is refused while a channel uses it.`}</Confirm>
      )}
    </>
  );
}

function Nodes({
  id,
  known,
  name,
  done,
}: {
  id: string;
  known: Known;
  name: (n: string) => string;
  done: () => void;
}) {
  const [prepare, setPrepare] = useState(false);
  interface BierDomains {
    domain?: {
      'domain-id': number;
      'bier-global'?: {
        'bfr-id'?: number;
        'ipv4-bfr-prefix'?: string;
        'ipv6-bfr-prefix'?: string;
        'sub-domain'?: { 'sub-domain-id': number }[];
      };
    }[];
  }
  interface BierNode extends BierDomains {
    'node-id': string;
    'bier-node-params'?: BierDomains;
  }
  const data = useData(
      () =>
        known.nodes.length
          ? rpc<{ node?: BierNode[] }>('bier-topology-api:query-node', {
              'topology-id': id,
              node: known.nodes,
            }).then(r => (r.node ?? []).map(n => ({ ...n, ...n['bier-node-params'] })))
          : Promise.resolve([] as BierNode[]),
      [id, known.nodes],
    ),
    first = (n: BierNode) => n.domain?.[0]?.['bier-global'];
  return (
    <>
      {prepare && (
        <Prepare
          id={id}
          known={known}
          name={name}
          onClose={() => {
            setPrepare(false);
            done();
            data.reload();
          }}
        />
      )}
      <Loaded data={data}>
        {v => (
          <Table
            name="Nodes"
            tools={
              <>
                <button onClick={() => setPrepare(true)}>Set up routers…</button>
                <a
                  class="button plain"
                  href={to(['api', 'POST /restconf/operations/bier-topology-api:configure-node'])}
                >
                  One node in the API page
                </a>
              </>
            }
            rows={v}
            id={n => n['node-id']}
            empty={<Empty>The topology has no node.</Empty>}
            columns={[
              {
                name: 'Node',
                text: n => name(n['node-id']),
                cell: n => (
                  <a href={to(['map', id], { sel: n['node-id'] })}>{name(n['node-id'])}</a>
                ),
              },
              {
                name: 'Domain ids',
                text: n => (n.domain ?? []).map(d => d['domain-id']).join(', ') || 'no BIER router',
                cell: n =>
                  (n.domain ?? []).map(d => d['domain-id']).join(', ') || (
                    <Mark tone="soft">no BIER router</Mark>
                  ),
              },
              { name: 'BFR-id', text: n => first(n)?.['bfr-id'] ?? '' },
              {
                name: 'Prefix',
                text: n => first(n)?.['ipv4-bfr-prefix'] ?? first(n)?.['ipv6-bfr-prefix'] ?? '',
              },
              {
                name: 'Sub-domain ids',
                text: n => (first(n)?.['sub-domain'] ?? []).map(s => s['sub-domain-id']).join(', '),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}

function Routers({
  mount,
  act,
  name,
}: {
  mount: (node: string) => void;
  act: ReturnType<typeof useAct>;
  name: (n: string) => string;
}) {
  interface Router {
    'node-id': string;
    state: string;
    reason?: string;
    driver?: string;
    since?: string;
    session?: string;
    confirmed?: string;
    mounted?: boolean;
  }
  const data = useData(async s => {
    const asked =
        (await rpc<{ router?: Router[] }>('bier-service-api:reconcile', { wait: 0 }, { signal: s }))
          .router ?? [],
      known = new Set(asked.map(r => r['node-id']));
    const mounted = await call<{ topology?: { node?: { 'node-id': string }[] }[] }>(
      '/restconf/config/network-topology:network-topology/topology/topology-netconf',
      { signal: s },
    ).catch((e: Fault) => {
      if (e.status === 404) return {} as { topology?: [] };
      throw e;
    });
    const there = (mounted.topology?.[0]?.node ?? []).map(n => n['node-id']);
    return [
      ...asked.map(r => ({ ...r, mounted: there.includes(r['node-id']) })),
      ...there
        .filter(n => !known.has(n))
        .map(
          n =>
            ({
              'node-id': n,
              mounted: true,
              state: 'not used',
              reason:
                'It is mounted, but no channel uses it: a session is opened when a channel is deployed on it.',
            }) as Router,
        ),
    ];
  }, []);
  const [gone, setGone] = useState('');
  return (
    <>
      {gone && (
        <Confirm
          title={`Unmount ${name(gone)}`}
          verb="Unmount"
          onClose={() => setGone('')}
          onDo={() =>
            act.run(async () => {
              await configure('bier-service-api:unmount-router', { 'node-id': gone });
              data.reload();
              return `${name(gone)} is unmounted.`;
            })
          }
        >
          Its address and login are deleted here; the configuration on the router stays.
        </Confirm>
      )}
      <Loaded data={data}>
        {v => (
          <Table
            name="Routers"
            tools={
              <>
                <button onClick={() => mount('')}>Mount a router…</button>
                <button
                  class="plain"
                  onClick={() =>
                    act.run(async () => {
                      await rpc('bier-service-api:reconcile', { wait: 5000 });
                      data.reload();
                      return 'All routers were compared with what they must hold.';
                    })
                  }
                >
                  Compare all now
                </button>
              </>
            }
            rows={v}
            id={r => r['node-id']}
            empty={
              <Empty>
                No router is mounted, and no channel needs one. Mounting writes down how a router is
                reached: address, user, password.
              </Empty>
            }
            columns={[
              {
                name: 'Router',
                text: r => name(r['node-id']),
                cell: r => <Named text={r['node-id']} as={name(r['node-id'])} />,
              },
              {
                name: 'State',
                text: r => r.state,
                cell: r => <Mark tone={toneOf(r.state)}>{r.state}</Mark>,
              },
              { name: 'Since', text: r => r.since ?? '', cell: r => age(r.since) },
              { name: 'Session', text: r => r.session ?? 'none' },
              { name: 'Read back', text: r => r.confirmed ?? '', cell: r => age(r.confirmed) },
              { name: 'Driver', text: r => r.driver ?? '' },
              {
                name: 'Reason',
                text: r => named(r.reason ?? ''),
                cell: r => <Named text={r.reason ?? ''} />,
              },
              {
                name: 'Do',
                text: () => '',
                cell: r =>
                  r.mounted ? (
                    <>
                      <button
                        class="plain"
                        onClick={() =>
                          act.run(async () => {
                            await rpc('bier-service-api:reconcile', {
                              'node-id': [r['node-id']],
                              wait: 5000,
                            });
                            data.reload();
                            return `${name(r['node-id'])} was compared with what it must hold.`;
                          })
                        }
                      >
                        Compare now
                      </button>{' '}
                      <button class="plain" onClick={() => setGone(r['node-id'])}>
                        Unmount…
                      </button>
                    </>
                  ) : (
                    <button class="plain" onClick={() => mount(r['node-id'])}>
                      Mount…
                    </button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}

function Mount({ nodes, node, onClose }: { nodes: string[]; node: string; onClose: () => void }) {
  const act = useAct();
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    const f = Object.fromEntries(
      [...new FormData(e.currentTarget as HTMLFormElement)].filter(([, v]) => v !== ''),
    );
    act.run(async () => {
      await configure('bier-service-api:mount-router', {
        ...f,
        ...(f.port ? { port: Number(f.port) } : {}),
      });
      return 'Mounted; the list shows its state.';
    });
  };
  return (
    <Dialog title="Mount a router" onClose={onClose}>
      <form onSubmit={submit}>
        <Field
          label="Node"
          name="node-id"
          required
          defaultValue={node}
          list="bier-nodes"
          hint="as in the BIER topology"
        />
        <datalist id="bier-nodes">
          {nodes.map(n => (
            <option key={n} value={n} />
          ))}
        </datalist>
        <Field label="Host" name="host" required />
        <Field label="Port" name="port" inputMode="numeric" hint="830 if empty" />
        <Field label="User" name="username" required autocomplete="off" />
        <Field label="Password" name="password" type="password" autocomplete="new-password" />
        <Field
          label="Host key"
          name="host-key"
          hint="empty: the first key of the router is stored"
        />
        <Outcome act={act} />
        <p class="actions">
          <button disabled={act.busy}>Mount</button>
        </p>
      </form>
    </Dialog>
  );
}

/** Wizard makes a channel and deploys it: flow, ingress, egresses, then what will be sent. */
function Wizard({
  id,
  known,
  name,
  channel,
  onClose,
}: {
  id: string;
  known: Known;
  name: (n: string) => string;
  channel: Channel | null;
  onClose: () => void;
}) {
  const act = useAct(),
    [f, setF] = useState({
      name: channel?.name ?? '',
      src: channel?.['src-ip'] ?? '10.0.0.1',
      group: channel?.['dst-group'] ?? '232.0.0.1',
      domain: String(channel?.['domain-id'] ?? known.domains[0]?.id ?? 1),
      sub: String(channel?.['sub-domain-id'] ?? 0),
    });
  const [ingress, setIngress] = useState(channel?.['ingress-node'] ?? ''),
    [egress, setEgress] = useState(
      new Set((channel?.['egress-node'] ?? []).map(e => e['node-id'])),
    ),
    [made, setMade] = useState(channel !== null);
  const members = useData(
    () =>
      rpc<{ 'subdomain-node'?: { 'node-id': string }[] }>(
        'bier-topology-api:query-subdomain-node',
        { 'topology-id': id, 'domain-id': Number(f.domain), 'sub-domain-id': Number(f.sub) },
      ).then(r => (r['subdomain-node'] ?? []).map(n => n['node-id'])),
    [f.domain, f.sub],
  );
  const add = {
      'topology-id': id,
      name: f.name,
      'src-ip': f.src,
      'dst-group': f.group,
      'domain-id': Number(f.domain),
      'sub-domain-id': Number(f.sub),
      'source-wildcard': 32,
      'group-wildcard': 32,
    },
    deploy = {
      'topology-id': id,
      'channel-name': f.name,
      'ingress-node': ingress,
      'egress-node': [...egress].map(e => ({ 'node-id': e })),
    };
  const set = (k: keyof typeof f) => (e: { currentTarget: HTMLInputElement }) =>
    setF({ ...f, [k]: e.currentTarget.value });
  return (
    <Dialog title={channel ? `Deploy ${channel.name}` : 'New channel'} onClose={onClose}>
      {!channel && (
        <>
          <Field label="Name" required value={f.name} onInput={set('name')} />
          <div class="row">
            <Field label="Source" value={f.src} onInput={set('src')} hint="0.0.0.0 is any" />
            <Field label="Group" value={f.group} onInput={set('group')} />
          </div>
          <div class="row">
            <Field label="Domain" value={f.domain} onInput={set('domain')} />
            <Field label="Sub-domain" value={f.sub} onInput={set('sub')} />
          </div>
        </>
      )}
      <Loaded data={members}>
        {list =>
          list.length ? (
            <fieldset>
              <legend>Routers of the sub-domain</legend>
              {list.map(n => (
                <div key={n} class="row tight">
                  <span>{name(n)}</span>
                  <label class="check">
                    <input
                      type="radio"
                      name="ingress"
                      checked={ingress === n}
                      onChange={() => {
                        setIngress(n);
                        const s = new Set(egress);
                        s.delete(n);
                        setEgress(s);
                      }}
                    />{' '}
                    ingress
                  </label>
                  <label class="check">
                    <input
                      type="checkbox"
                      disabled={ingress === n}
                      checked={egress.has(n)}
                      onChange={() => {
                        const s = new Set(egress);
                        if (!s.delete(n)) s.add(n);
                        setEgress(s);
                      }}
                    />{' '}
                    egress
                  </label>
                </div>
              ))}
            </fieldset>
          ) : (
            <Empty
              action={
                <a class="button" href={to(['bier', id, 'nodes'])}>
                  To the nodes
                </a>
              }
            >
              The sub-domain has no router.
            </Empty>
          )
        }
      </Loaded>
      <details>
        <summary>What will be sent</summary>
        <pre class="code">
          {(made
            ? ''
            : 'POST …/bier-channel-api:add-channel\n' +
              JSON.stringify({ input: add }, null, 1) +
              '\n') +
            'POST …/bier-channel-api:deploy-channel\n' +
            JSON.stringify({ input: deploy }, null, 1)}
        </pre>
      </details>
      <Outcome act={act} />
      <p class="actions">
        <button
          disabled={act.busy || !f.name || !ingress || !egress.size}
          onClick={() =>
            act.run(async () => {
              if (!made) {
                await configure('bier-channel-api:add-channel', add);
                setMade(true);
              }
              await configure('bier-channel-api:deploy-channel', deploy);
              return 'Deployed: the list shows each router.';
            })
          }
        >
          Deploy
        </button>
        {(!f.name || !ingress || !egress.size) && (
          <small class="soft">It needs a name, an ingress and an egress.</small>
        )}
      </p>
    </Dialog>
  );
}
