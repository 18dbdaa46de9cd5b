// BIER: from a topology to a deployed channel.
import { useEffect } from 'preact/hooks';
import { rpc } from '../../core/api';
import { useData } from '../../core/data';
import { each } from '../../core/each';
import { go, route, to } from '../../core/route';
import { graphs, titleOf } from '../../map/store';
import { Topology } from './topology';
import { Choice, Empty, Loaded, Title } from '../../core/ui';

/** BierPage chooses the topology to work on. */
export function BierPage() {
  const topologies = useData(
    () =>
      rpc('bier-topology-api:load-topology').then(t =>
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
              await rpc('bier-topology-api:query-domain', {
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
  // Not another key: what is open below stays while the list is read again.
  useEffect(topologies.reload, [graphs.value?.size]);
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
