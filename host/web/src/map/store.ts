// The topologies as the pages know them, and where a user has put their nodes.
import { signal } from '@preact/signals';
import { call, Fault, faultFrom, me } from '../core/api';
import { onEvents } from '../core/events';
import { Graph, merge, ofBier, Point, read } from './graph';
import { beside, layout } from './layout';

export const graphs = signal<Map<string, Graph> | null>(null);
export const problem = signal<Fault | null>(null);
export const readAt = signal<Date | null>(null);
export const flash = signal<Set<string>>(new Set());
const places = new Map<string, Map<string, Point>>();
let loading: Promise<void> | null = null, again = false;

/** refresh reads all topologies; what is shown stays where it is. */
export function refresh(background = false): Promise<void> {
  if (loading) { again = true; return loading; }
  loading = load(background).finally(() => { loading = null; if (again) { again = false; void refresh(true); } });
  return loading;
}

/** bierTopologies are those that BIER has; none while it is not installed. */
async function bierTopologies(): Promise<Record<string, unknown>[]> {
  try {
    const a = await call<{ 'bier-network-topology'?: { 'bier-topology'?: Record<string, unknown>[] } }>('/restconf/config/bier-topology:bier-network-topology', { background: true });
    return (a['bier-network-topology']?.['bier-topology'] ?? []).map(ofBier);
  } catch (e) {
    if (e instanceof Fault && e.status) return []; // not installed, or not for this user
    throw e;
  }
}

async function load(background: boolean) {
  try {
    const answer = await call<{ 'network-topology'?: { topology?: unknown[] } }>('/restconf/operational/network-topology:network-topology', { background }).catch((e: Fault) => { if (e.status === 404) return { 'network-topology': { topology: [] } }; throw e; });
    const out = new Map<string, Graph>(), changed = new Set<string>(), list = (answer['network-topology']?.topology ?? []) as Record<string, unknown>[];
    for (const t of await bierTopologies()) if (!list.some(o => o['topology-id'] === t['topology-id'])) list.push(t);
    for (const t of list) {
      const fresh = read(t), old = graphs.value?.get(fresh.id), g = merge(old, fresh);
      if (old) for (const n of g.nodes.values()) if (old.nodes.get(n.id)?.state !== n.state) changed.add(n.id);
      out.set(g.id, g);
    }
    graphs.value = out;
    if (changed.size && !matchMedia('(prefers-reduced-motion: reduce)').matches) { flash.value = changed; setTimeout(() => { flash.value = new Set(); }, 1500); }
    problem.value = null;
    readAt.value = new Date();
  } catch (e) {
    problem.value = faultFrom(e);
  }
}

onEvents(events => { if (!events.length || events.some(e => /topolog|link|node|trap/.test(e.stream + e.name))) void refresh(true); });

const key = (id: string) => `ctl.map.${me.value?.user}@${me.value?.domain}.${id}`;

/** remembered are the places that a browser keeps; none when it keeps none, or something else. */
function remembered(key: string): [string, Point][] {
  try { const list: unknown = JSON.parse(localStorage.getItem(key) ?? '[]'); return Array.isArray(list) ? list as [string, Point][] : []; } catch { return []; }
}

/** placesOf returns where the nodes of a graph are: where its user has put them, else by the layout. */
export function placesOf(g: Graph): Map<string, Point> {
  let at = places.get(g.id);
  if (!at) {
    const pinned: [string, Point][] = remembered(key(g.id));
    at = new Map([...layout(g), ...pinned.filter(([id]) => g.nodes.has(id))]);
  } else if ([...g.nodes.keys()].some(id => !at!.has(id))) at = beside(g, at);
  places.set(g.id, at);
  return at;
}
export function setPlaces(g: Graph, at: Map<string, Point>): void {
  places.set(g.id, at);
  localStorage.setItem(key(g.id), JSON.stringify([...at].filter(([, p]) => p.pinned)));
}
export const titleOf = (id: string): string => id.startsWith('switch') ? `Switches (${id})` : id.startsWith('openflow') || id.startsWith('flow') ? `OpenFlow (${id})` : id;
