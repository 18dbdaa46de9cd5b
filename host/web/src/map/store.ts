// The topologies as the pages know them, and where a user has put their nodes.
import { signal } from '@preact/signals';
import { Fault, call, faultFrom } from '../core/api';
import { onEvents } from '../core/events';
import { readIfServed } from '../core/modules';
import { isOpen, readTroubles } from '../core/troubles';
import { Graph, Lost, Net, Point, merge, ofBier, read, withLost } from './graph';
import { Places, beside, layout } from './layout';

export const graphs = signal<Map<string, Graph> | null>(null);

export const problem = signal<Fault | null>(null);

export const readAt = signal<Date | null>(null);

export const flash = signal<Set<string>>(new Set());

const places = new Map<string, Places>(),
  kept = new Map<string, Record<string, Point>>();

const placesPath = (id: string) => '/web/places/' + encodeURIComponent(id);

let loading: Promise<void> | null = null,
  again = false;

/** refresh reads all topologies; what is shown stays where it is. */
export function refresh(background = false): Promise<void> {
  if (loading) {
    again = true;
    return loading;
  }
  loading = load(background).finally(() => {
    loading = null;
    if (again) {
      again = false;
      void refresh(true);
    }
  });
  return loading;
}

/** bierTopologies are those that BIER has; none while it is not installed. */
async function bierTopologies(): Promise<Record<string, unknown>[]> {
  const a = await readIfServed('bier-topology', () =>
    call<{
      'bier-network-topology'?: { 'bier-topology'?: Record<string, unknown>[] };
    }>('/restconf/config/bier-topology:bier-network-topology', { background: true }),
  );
  return (a?.['bier-network-topology']?.['bier-topology'] ?? []).map(ofBier);
}

/** lostNow are the lost nodes and links that nobody knows of; none where the list cannot be had. */
async function lostNow(): Promise<Lost[]> {
  const now = await readTroubles().catch(() => null);
  return (now?.list ?? [])
    .filter(t => isOpen(t) && (t.kind === 'link-lost' || t.kind === 'node-lost'))
    .map(t => ({
      topology: t.topology ?? '',
      ends: (t.end ?? []).map(e => ({ node: e.node ?? '', port: e.port ?? '' })),
      since: t.since ?? '',
      name: t.subject ?? '',
    }));
}

/** readPlaces reads where the user has put the nodes of topologies that are new here. */
async function readPlaces(ids: string[]) {
  await Promise.all(
    ids
      .filter(id => !kept.has(id))
      .map(async id => {
        const at = await call<Record<string, Point>>(placesPath(id), { background: true }).catch(
          (e: Fault) => {
            if (e.status) return {};
            throw e;
          },
        );
        kept.set(id, at ?? {});
      }),
  );
}

async function load(background: boolean) {
  try {
    const answer = await call<{ 'network-topology'?: { topology?: unknown[] } }>(
      '/restconf/operational/network-topology:network-topology',
      { background },
    ).catch((e: Fault) => {
      if (e.status === 404) return { 'network-topology': { topology: [] } };
      throw e;
    });
    const out = new Map<string, Graph>(),
      changed = new Set<string>(),
      lost = await lostNow(),
      list = (answer['network-topology']?.topology ?? []) as Record<string, unknown>[];
    for (const t of await bierTopologies())
      if (!list.some(o => o['topology-id'] === t['topology-id'])) list.push(t);
    for (const t of list) {
      const fresh = read(t),
        old = graphs.value?.get(fresh.id),
        g = withLost(merge(old, fresh), lost);
      if (old)
        for (const n of g.nodes.values())
          if (old.nodes.get(n.id)?.state !== n.state) changed.add(n.id);
      out.set(g.id, g);
    }
    await readPlaces([...out.keys()]);
    graphs.value = out;
    if (changed.size && !matchMedia('(prefers-reduced-motion: reduce)').matches) {
      flash.value = changed;
      setTimeout(() => {
        flash.value = new Set();
      }, 1500);
    }
    problem.value = null;
    readAt.value = new Date();
  } catch (e) {
    problem.value = faultFrom(e);
  }
}

onEvents(events => {
  if (!events.length || events.some(e => /topolog|link|node|trap|trouble/.test(e.stream + e.name)))
    void refresh(true);
});

/**
 * atOnce is the most nodes that are laid out at once: more are in a worker, so that the page
 * answers meanwhile.
 */
const atOnce = 500,
  workers = new Map<string, Worker>(),
  script = '/web/static/layout.js';

type Trusted = {
  trustedTypes?: {
    createPolicy(name: string, rules: object): { createScriptURL(s: string): string };
  };
};

let address: string | undefined;

/**
 * arrange calls done with the layout of a graph; later, when it is large, unless endLayouts is
 * called before.
 */
export function arrange(g: Graph, done: (at: Places) => void): void {
  const ratio = innerWidth < 760 ? 0.9 : 1.9;
  if (g.nodes.size <= atOnce) {
    done(layout(g, ratio));
    return;
  }
  if (workers.has(g.id)) return;
  // The headers of the page let a script be loaded from an address that a policy of this name has
  // made, and from no other.
  address ??=
    (globalThis as Trusted).trustedTypes
      ?.createPolicy('ctl', { createScriptURL: () => script })
      .createScriptURL('') ?? script;
  const w = new Worker(address, { type: 'module' }),
    end = (at: Places) => {
      w.terminate();
      workers.delete(g.id);
      done(at);
    };
  workers.set(g.id, w);
  w.onmessage = (m: MessageEvent<Places>) => end(m.data);
  w.onerror = () => end(layout(g, ratio)); // its file cannot be had: the page waits for the layout
  const net: Net = {
    nodes: new Map([...g.nodes].map(([id, { name }]) => [id, { name }])),
    links: new Map([...g.links].map(([id, { a, b }]) => [id, { a, b }])),
  };
  w.postMessage({ net, ratio });
}

/** endLayouts ends the workers: the page that waits for them is left. */
export function endLayouts(): void {
  workers.forEach(w => w.terminate());
  workers.clear();
}

const laidOut = signal(0);

/**
 * placesOf returns where the nodes of a graph are: where its user has put them, else by the layout;
 * undefined while a worker lays it out.
 */
export function placesOf(g: Graph): Places | undefined {
  void laidOut.value; // drawn again then
  const have: Places =
      places.get(g.id) ??
      new Map(Object.entries(kept.get(g.id) ?? {}).map(([id, p]) => [id, { ...p, pinned: true }])),
    old = [...g.nodes.keys()].filter(id => have.has(id)).length;
  if (old === g.nodes.size) places.set(g.id, have);
  else if (places.has(g.id) && old * 2 >= g.nodes.size) places.set(g.id, beside(g, have));
  else {
    let later = false;
    arrange(g, at => {
      places.set(
        g.id,
        new Map([...at, ...[...have].filter(([id, p]) => p.pinned && g.nodes.has(id))]),
      );
      if (later) laidOut.value++;
    });
    later = true;
  }
  const at = places.get(g.id);
  return at && [...g.nodes.keys()].every(id => at.has(id)) ? at : undefined;
}

/** setPlaces moves nodes, and has the controller keep those that are pinned for this user. */
export async function setPlaces(g: Graph, at: Places): Promise<void> {
  places.set(g.id, at);
  await call(placesPath(g.id), {
    method: 'PUT',
    body: Object.fromEntries(
      [...at].filter(([, p]) => p.pinned).map(([id, { x, y }]) => [id, { x, y }]),
    ),
  });
}

export const titleOf = (id: string): string =>
  id.startsWith('switch')
    ? `Switches (${id})`
    : id.startsWith('openflow') || id.startsWith('flow')
      ? `OpenFlow (${id})`
      : id;
