// The sources of the topologies: asked from time to time, since one that stopped sends no event.
import { call, loggedOut } from '../core/api';
import { age, stamp, useTick } from '../core/data';
import { to } from '../core/route';
import { Source, isStale, sourceOf } from './graph';
import { graphs, refresh, titleOf } from './store';

const every = 15_000,
  leaves = ['topology-id', 'ctl-topology:source', 'ctl-topology:source-state'].join(';'),
  path = `/restconf/operational/network-topology:network-topology?fields=topology(${leaves})`;

interface Answer {
  'network-topology'?: { topology?: Record<string, unknown>[] };
}

/** hasChanged reports whether a source is in another state than is shown. */
function hasChanged(list: Record<string, unknown>[]): boolean {
  return list.some(t => {
    const g = graphs.peek()?.get(String(t['topology-id']));
    return g !== undefined && g.source?.state !== sourceOf(t)?.state;
  });
}

/** watchSources reads the topologies again when a source stops or goes on. */
export function watchSources(): void {
  setInterval(() => {
    if (document.hidden || loggedOut.peek() || !graphs.peek()?.size) return;
    call<Answer>(path, { background: true }).then(
      a => {
        if (hasChanged(a['network-topology']?.topology ?? [])) void refresh(true);
      },
      () => undefined, // that the controller is away is shown already
    );
  }, every);
}

/** words say what is wrong with a source. */
const words: Record<Source['state'], string> = {
  observing: '',
  silent: 'has not observed anything for longer than usual',
  stopped: 'does not run',
};

/** SourceBanner says on every page which topologies are not observed now, and since when. */
export function SourceBanner() {
  useTick(5);
  const stale = [...(graphs.value?.values() ?? [])].filter(isStale);
  if (!stale.length) return null;
  return (
    <div class="note warn away" role="alert" data-state="source">
      {stale.map(g => (
        <p key={g.id}>
          {titleOf(g.id)}: the plugin <a href={to(['system', 'plugins'])}>{g.source!.plugin}</a>{' '}
          {words[g.source!.state]}. What is shown is from before
          {g.source!.observed && (
            <span title={stamp(g.source!.observed)}>: {age(g.source!.observed)}</span>
          )}
          .
        </p>
      ))}
    </div>
  );
}
