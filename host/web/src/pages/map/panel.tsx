// What is known of the selected nodes, beside the map.
import { rpc } from '../../core/api';
import { age, useTick } from '../../core/data';
import { to } from '../../core/route';
import { Graph, Node, away } from '../../map/graph';
import { StateOf } from '../../map/state';
import { refresh } from '../../map/store';
import { Outcome, useAct } from '../../core/ui';

const portText = (p: string) => p && `port ${p}`;

/** Panel shows a selected node with its links: from here one opens its page. */
export function Panel({
  g,
  n,
  fold,
  unfold,
  unpin,
}: {
  g: Graph;
  n: Node;
  fold?: Node[] | undefined;
  unfold?: (() => void) | undefined;
  unpin?: (() => void) | undefined;
}) {
  useTick(5);
  const act = useAct(),
    links = [...g.links.values()].filter(l => l.a === n.id || l.b === n.id);
  return (
    <section>
      <h2>{n.name}</h2>
      <dl class="facts">
        <dt>State</dt>
        <dd>
          <StateOf n={n} /> <small class="soft">{age(new Date(n.since))}</small>
        </dd>
        {n.address && (
          <>
            <dt>Address</dt>
            <dd>{n.address}</dd>
          </>
        )}
        {n.model && (
          <>
            <dt>Model</dt>
            <dd>{n.model}</dd>
          </>
        )}
        <dt>Node</dt>
        <dd class="mono">{n.id}</dd>
        <dt>Ports</dt>
        <dd>
          {n.ports.length}
          {n.ports.some(p => p.state) && `, ${n.ports.filter(p => p.state === 'up').length} up`}
        </dd>
      </dl>
      <ul class="plainlist">
        {links.slice(0, 12).map(l => {
          const out = l.a === n.id,
            other = out ? l.b : l.a;
          return (
            <li key={l.id}>
              <a href={to(['map', g.id], { sel: other })}>
                {portText(out ? l.aPort : l.bPort)} → {g.nodes.get(other)?.name}{' '}
                {portText(out ? l.bPort : l.aPort)}
              </a>{' '}
              {l.state !== 'up' && <small class="soft">{l.state}</small>}
            </li>
          );
        })}
        {links.length > 12 && <li class="soft">and {links.length - 12} more</li>}
      </ul>
      <p class="actions">
        <a class="button" href={to(['devices', g.id, n.id])}>
          Open
        </a>
        {g.id.startsWith('switch') && (
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
        )}
        {unfold && (
          <button class="plain" title="(e)" onClick={unfold}>
            {fold
              ? `Unfold ${[fold.length, away(fold)].filter(Boolean).join(', ')}`
              : 'Fold its leaves'}
          </button>
        )}
        {unpin && (
          <button class="plain" onClick={unpin}>
            Unpin
          </button>
        )}
      </p>
      <Outcome act={act} />
    </section>
  );
}
