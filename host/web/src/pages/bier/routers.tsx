// The mounted routers.
import { RowOf } from '../../api/rows';
import { useState } from 'preact/hooks';
import { configure } from '../../bier/configure';
import { Named, named } from '../../bier/names';
import { bierTone } from '../../bier/tone';
import { Fault, call, rpc } from '../../core/api';
import { age, useData } from '../../core/data';
import { Confirm, Empty, Loaded, Mark, Table, useAct } from '../../core/ui';

/** Router is a router as BIER has it, or one that is only mounted. */
type Router = Omit<RowOf<'bier-service-api:reconcile', 'router'>, 'state'> & {
  state?: string;
  mounted?: boolean;
};

/** Routers lists what each router holds; one mounts, compares and unmounts them here. */
export function Routers({
  mount,
  act,
  name,
}: {
  mount: (node: string) => void;
  act: ReturnType<typeof useAct>;
  name: (n: string) => string;
}) {
  const data = useData(async s => {
    const asked =
        (await rpc('bier-service-api:reconcile', { wait: 0 }, { signal: s })).router ?? [],
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
                'It is mounted, but no channel uses it: ' +
                'a session is opened when a channel is deployed on it.',
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
                cell: r => <Mark tone={bierTone(r.state ?? '')}>{r.state}</Mark>,
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
