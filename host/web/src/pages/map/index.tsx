// The page of the map.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { go, route, setQuery } from '../../core/route';
import { MapCanvas } from '../../map/canvas';
import { Graph, Node, centred, folded, foldsAbove } from '../../map/graph';
import { Places, shape } from '../../map/layout';
import {
  arrange,
  endLayouts,
  flash,
  graphs,
  placesOf,
  problem,
  readAt,
  refresh,
  setPlaces,
} from '../../map/store';
import { Choices } from './choices';
import { Counts } from './counts';
import { exportMap } from './export';
import { Happened } from './happened';
import { Key } from './key';
import { useLayer } from './layer';
import { Legend } from './legend';
import { NoMap } from './nomap';
import { Panel } from './panel';
import { Tools } from './tools';
import { Twin } from './twin';
import { Outcome, Search, useAct } from '../../core/ui';

/** nodeOf is the first node with a text in its name or addresses. */
function nodeOf(g: Graph, text: string): string {
  const low = text.toLowerCase(),
    of = (n: Node) => `${n.name} ${n.address} ${n.mac}`.toLowerCase();
  return [...g.nodes.values()].find(n => of(n).includes(low))?.id ?? '';
}

/** graphOf is the topology of an address, else the largest. */
function graphOf(all: Map<string, Graph> | null, id: string): Graph | null | undefined {
  return all && (all.get(id) ?? [...all.values()].sort((a, b) => b.nodes.size - a.nodes.size)[0]);
}

/**
 * useFolding folds the leaves. More than 300 nodes are folded by themselves, until one has zoomed
 * in; else who looks at the map decides.
 */
function useFolding(
  g: Graph | null | undefined,
  near: boolean,
  open: Set<string>,
  selected: Set<string>,
  found: string,
) {
  const asked = route.value.query.get('fold'),
    many = (g?.nodes.size ?? 0) > foldsAbove,
    fold = asked ? asked === '1' : many,
    folding = fold && !(near && !asked);
  const part = useMemo(
    () => (g && folding ? folded(g, open, new Set([...selected, found])) : null),
    [g, folding, open, selected, found],
  );
  const hidden = part?.hidden,
    count = [...(hidden?.values() ?? [])].reduce((n, l) => n + l.length, 0);
  return { many, fold, folding, drawn: part?.g ?? g, hidden, count };
}

/** MapPage shows a topology: one looks, selects, moves nodes, and chooses a layer. */
export function MapPage() {
  const all = graphs.value,
    id = route.value.path[1] ?? '',
    [fitTurn, setFit] = useState(0),
    [hops, setHops] = useState(0),
    [want, setWant] = useState(''),
    [places, setTurn] = useState(0),
    undo = useRef<Places | null>(null),
    [open, setOpen] = useState(new Set<string>()),
    [near, setNear] = useState(false);
  const g = graphOf(all, id),
    selected = useMemo(
      () => new Set((route.value.query.get('sel') ?? '').split(',').filter(Boolean)),
      [route.value.query.get('sel')],
    );
  const found = want && g ? nodeOf(g, want) : '';
  const exported = useAct(),
    placing = useAct(),
    layerID = route.value.query.get('layer') ?? '',
    { layer, channels, act: layerAct } = useLayer(g, layerID);
  useEffect(() => {
    setOpen(new Set());
  }, [g?.id]);
  useEffect(() => endLayouts, []);
  const { many, fold, folding, drawn, hidden, count } = useFolding(g, near, open, selected, found);
  const at = g && placesOf(g),
    shown = useMemo(() => (at && hidden ? centred(g, hidden, at) : at), [g, hidden, at, places]);
  const form = useMemo(() => {
    const f = g && shape(g);
    return f && drawn && drawn !== g ? { ...f, fabric: shape(drawn).fabric } : f;
  }, [g, drawn]);
  if (!g) return <NoMap />;
  const select = (s: Set<string>) => setQuery({ sel: [...s].join(',') });
  const put = (to: Places) => {
    placing.run(() => setPlaces(g, to));
    setTurn(t => t + 1);
  };
  const arrangeAgain = () =>
    arrange(g, to => {
      undo.current = at ?? null;
      put(to);
      setFit(t => t + 1);
    });
  const unfold = (n: string) => {
    const s = new Set(open);
    if (!s.delete(n)) s.add(n);
    setOpen(s);
  };
  const foldable = (n: string) => (hidden?.has(n) ?? false) || (folding && open.has(n));
  const unpin = (n: string) => {
    const { x, y } = at!.get(n)!;
    at!.set(n, { x, y });
    put(at!);
  };
  const actions: Record<string, () => void> = {
    f: () => setFit(t => t + 1),
    l: arrangeAgain,
    h: () => setHops(h => (h + 1) % 4),
    c: () => {
      setOpen(new Set());
      setQuery({ fold: fold !== many ? '' : fold ? '0' : '1' });
    },
    e: () =>
      [...selected]
        .filter(n => hidden?.has(n) || open.has(n))
        .slice(0, 1)
        .forEach(unfold),
    u: () => {
      if (undo.current) {
        put(undo.current);
        undo.current = null;
      }
    },
    '/': () => document.querySelector<HTMLInputElement>('[aria-label="Find on the map"]')?.focus(),
  };
  const exportAs = (kind: 'svg' | 'png') =>
    exported.run(async () => {
      if (shown) await exportMap(kind, { g: drawn!, at: shown, layer, shape: form!, hidden });
    });
  return (
    <div class="mappage" data-turn={places} data-places={placing.busy ? 'saving' : 'saved'}>
      <Choices g={g} layer={layerID} channels={channels} />
      {problem.value && (
        <div class="note warn" role="status">
          No answer since {readAt.value?.toLocaleTimeString()}: showing what was known then.{' '}
          <button onClick={() => void refresh()}>Retry</button>
        </div>
      )}
      <Outcome act={layerAct} />
      <Outcome act={exported} />
      <Outcome act={placing} />
      <Counts
        g={g}
        missing={form!.missing.length}
        folded={count}
        title={layer?.title}
        onUnfold={() => actions.c!()}
      />
      <div class="bar tools">
        <Search
          label="Find on the map"
          value={want}
          onInput={setWant}
          onEnter={() => found && select(new Set([found]))}
        />
        <Tools
          hops={hops}
          fold={fold}
          undo={undo.current !== null}
          onKey={k => actions[k]!()}
          onFullScreen={() =>
            exported.run(() => document.querySelector('.mapbox')!.requestFullscreen())
          }
          onExport={exportAs}
        />
      </div>
      <div class="mapbox">
        {!shown ? (
          <div class="skeleton" role="status" data-state="loading">
            {g.nodes.size} nodes are laid out.
          </div>
        ) : (
          <MapCanvas
            g={drawn!}
            turn={places}
            shape={form!}
            at={shown}
            hidden={hidden}
            layer={layer}
            selected={selected}
            found={found}
            hops={hops}
            flash={flash.value}
            fitTurn={fitTurn}
            onSelect={select}
            onUnfold={unfold}
            onNear={setNear}
            onOpen={n => go(['devices', g.id, n])}
            onMove={(n, p) => {
              at!.set(n, p);
              put(at!);
            }}
            onKey={k => {
              const f = actions[k];
              f?.();
              return !!f;
            }}
          />
        )}
        {selected.size > 0 && (
          <aside class="panel" aria-label="Selected">
            {[...selected]
              .map(n => g.nodes.get(n))
              .filter(n => n !== undefined)
              .slice(0, 8)
              .map(n => (
                <Panel
                  key={n.id}
                  g={g}
                  n={n}
                  fold={hidden?.get(n.id)}
                  unfold={foldable(n.id) ? () => unfold(n.id) : undefined}
                  unpin={at?.get(n.id)?.pinned ? () => unpin(n.id) : undefined}
                />
              ))}
          </aside>
        )}
      </div>
      <Key kind={layerID.split(':')[0]!} />
      <div class="below">
        <Legend />
        <Twin g={g} />
      </div>
      <Happened />
    </div>
  );
}
