// The page of the map, with what is known of the selected nodes and the same graph as a table.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { rpc } from '../core/api';
import { age, download, natural, useData, useTick } from '../core/data';
import { onEvents, recent } from '../core/events';
import { go, route, setQuery, to } from '../core/route';
import {
  Choice,
  Column,
  Empty,
  Failure,
  Field,
  Mark,
  Outcome,
  Search,
  Table,
  Title,
  Tone,
  useAct,
} from '../core/ui';
import { fit, MapCanvas } from '../map/canvas';
import { Layer, palette, Scene } from '../map/draw';
import { away, centred, folded, foldsAbove, Graph, Link, Node, speedText } from '../map/graph';
import { Places, shape } from '../map/layout';
import { CanvasPen, SVGPen } from '../map/pens';
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
  titleOf,
} from '../map/store';
import { channelsOf, layersOf, loadLayer } from '../map/layers';

export const toneOf: Record<Node['state'], Tone> = {
  answering: 'good',
  silent: 'warn',
  gone: 'soft',
  outside: 'info',
  unknown: 'soft',
};
export const StateOf = ({ n }: { n: Node }) => <Mark tone={toneOf[n.state]}>{n.state}</Mark>;

export function MapPage() {
  const all = graphs.value,
    id = route.value.path[1] ?? '',
    [fitTurn, setFit] = useState(0),
    [hops, setHops] = useState(0),
    [want, setWant] = useState(''),
    [layer, setLayer] = useState<Layer | null>(null),
    [places, setTurn] = useState(0),
    undo = useRef<Places | null>(null),
    [open, setOpen] = useState(new Set<string>()),
    [near, setNear] = useState(false);
  const g =
      all && (all.get(id) ?? [...all.values()].sort((a, b) => b.nodes.size - a.nodes.size)[0]),
    selected = useMemo(
      () => new Set((route.value.query.get('sel') ?? '').split(',').filter(Boolean)),
      [route.value.query.get('sel')],
    );
  const found =
    want && g
      ? ([...g.nodes.values()].find(n =>
          (n.name + ' ' + n.address + ' ' + n.mac).toLowerCase().includes(want.toLowerCase()),
        )?.id ?? '')
      : '';
  const layerAct = useAct(),
    exported = useAct(),
    placing = useAct(),
    layerID = route.value.query.get('layer') ?? '';
  const channels = useData(
      () => (g && layerID.startsWith('bier:') ? channelsOf(g.id) : Promise.resolve([] as string[])),
      [g?.id ?? '', layerID.startsWith('bier:')],
    ),
    [turn, again] = useState(0);
  useEffect(() => {
    if (layerID === 'bier:' && channels.value?.[0])
      setQuery({ layer: 'bier:' + channels.value[0] });
  }, [layerID, channels.value]);
  useEffect(
    () =>
      onEvents(e => {
        if (e.some(x => /bier|report|alarm/.test(x.stream + x.name))) again(t => t + 1);
      }),
    [],
  );
  useEffect(() => {
    setLayer(null);
  }, [layerID, g?.id]);
  useEffect(() => {
    setOpen(new Set());
  }, [g?.id]);
  useEffect(() => endLayouts, []);
  useEffect(() => {
    if (g && layerID)
      layerAct.run(async () => {
        const l = await loadLayer(g, layerID);
        if ((route.peek().query.get('layer') ?? '') === layerID) setLayer(l);
      });
  }, [layerID, g?.id, turn]);
  // More than 300 nodes are folded by themselves, until one has zoomed in; else who looks at it decides.
  const asked = route.value.query.get('fold'),
    many = (g?.nodes.size ?? 0) > foldsAbove,
    fold = asked ? asked === '1' : many,
    folding = fold && !(near && !asked);
  const part = useMemo(
      () => (g && folding ? folded(g, open, new Set([...selected, found])) : null),
      [g, folding, open, selected, found],
    ),
    drawn = part?.g ?? g,
    hidden = part?.hidden,
    foldedNow = [...(hidden?.values() ?? [])].reduce((n, l) => n + l.length, 0);
  const at = g && placesOf(g),
    shown = useMemo(() => (at && hidden ? centred(g, hidden, at) : at), [g, hidden, at, places]);
  const form = useMemo(() => {
    const f = g && shape(g);
    return f && drawn && drawn !== g ? { ...f, fabric: shape(drawn).fabric } : f;
  }, [g, drawn]);
  if (!g)
    return (
      <>
        <Title>Map</Title>
        {problem.value ? (
          <Failure error={problem.value} retry={() => void refresh()} />
        ) : all ? (
          <Empty
            action={
              <p>
                <a class="button" href={to(['system', 'features'])}>
                  Install a feature
                </a>{' '}
                <a class="button plain" href={to(['devices'])}>
                  Add switches
                </a>
              </p>
            }
          >
            No topology is known. Install a feature such as ctl-switch-all or ctl-openflow: it
            discovers the network automatically when it has devices.
          </Empty>
        ) : (
          <div class="skeleton" data-state="loading" />
        )}
      </>
    );
  const select = (s: Set<string>) => setQuery({ sel: [...s].join(',') });
  const put = (to: Places) => {
    placing.run(() => setPlaces(g, to));
    setTurn(t => t + 1);
  };
  const again_ = () =>
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
  const actions: Record<string, () => void> = {
    f: () => setFit(t => t + 1),
    l: again_,
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
      if (!at) return;
      const v = fit(drawn!, shown!, 1920, 1200),
        c = document.createElement('canvas'),
        x = c.getContext('2d')!,
        colours = palette(),
        pen = new CanvasPen(x, colours);
      const scene = new Scene(
        pen,
        drawn!,
        shown!,
        {
          selected: new Set(),
          found: '',
          layer,
          dim: null,
          flash: new Set(),
          shape: form!,
          hidden,
        },
        colours,
      );
      if (kind === 'svg') {
        const svg = new SVGPen(pen, colours);
        scene.paint(svg, v);
        download(g.id.replace(/\W+/g, '-') + '.svg', 'image/svg+xml', svg.document(v));
        return;
      }
      c.width = v.width * 2;
      c.height = v.height * 2;
      x.scale(2, 2);
      x.fillStyle = colours.paper;
      x.fillRect(0, 0, v.width, v.height);
      scene.paint(pen, v);
      const b = await new Promise<Blob | null>(done => {
        c.toBlob(done);
      });
      if (!b) throw new Error('The browser cannot write a PNG of this size.');
      download(g.id.replace(/\W+/g, '-') + '.png', 'image/png', b);
    });
  const count = (s: Node['state']) => [...g.nodes.values()].filter(n => n.state === s).length;
  return (
    <div class="mappage" data-turn={places} data-places={placing.busy ? 'saving' : 'saved'}>
      <Title
        side={
          <>
            {all!.size > 1 && (
              <Choice
                label="Topology"
                value={g.id}
                options={[...all!.keys()].map(k => [k, titleOf(k)])}
                onChange={k => go(['map', k])}
              />
            )}
            <Choice
              label="Layer"
              value={
                layerID.startsWith('vlan:')
                  ? 'vlan:1'
                  : layerID.startsWith('bier:')
                    ? 'bier:'
                    : layerID
              }
              options={[['', 'State'], ...layersOf(g)]}
              onChange={l => setQuery({ layer: l })}
            />
            {layerID.startsWith('vlan:') && (
              <Field
                label="VLAN"
                type="number"
                min={1}
                max={4094}
                value={layerID.slice(5)}
                onChange={e => setQuery({ layer: 'vlan:' + (e.currentTarget.value || '1') })}
              />
            )}
            {layerID.startsWith('bier:') &&
              (channels.value?.length ? (
                <Choice
                  label="Channel"
                  value={layerID.slice(5)}
                  options={channels.value.map(c => [c, c])}
                  onChange={c => setQuery({ layer: 'bier:' + c })}
                />
              ) : (
                channels.value && (
                  <span class="soft">
                    This topology has no BIER channel. <a href={to(['bier', g.id])}>Make one</a>
                  </span>
                )
              ))}
          </>
        }
      >
        Map
      </Title>
      {problem.value && (
        <div class="note warn" role="status">
          No answer since {readAt.value?.toLocaleTimeString()}: showing what was known then.{' '}
          <button onClick={() => void refresh()}>Retry</button>
        </div>
      )}
      <Outcome act={layerAct} />
      <Outcome act={exported} />
      <Outcome act={placing} />
      <div class="bar counts">
        <span data-testid="counts">
          {g.nodes.size} nodes, {g.links.size} links
        </span>
        {(['answering', 'silent', 'gone', 'outside', 'unknown'] as const).map(
          s =>
            count(s) > 0 && (
              <Mark key={s} tone={toneOf[s]}>
                {count(s)} {s}
              </Mark>
            ),
        )}
        {form!.missing.length > 0 && (
          <Mark tone="bad">
            {form!.missing.length} missing: not every leaf is linked to every spine
          </Mark>
        )}
        {foldedNow > 0 && (
          <span>
            {foldedNow} folded into their neighbours{' '}
            <button class="link" onClick={actions.c}>
              Unfold all
            </button>
          </span>
        )}
        {layer?.title && <span class="tag">{layer.title}</span>}
      </div>
      <div class="bar tools">
        <Search
          label="Find on the map"
          value={want}
          onInput={setWant}
          onEnter={() => found && select(new Set([found]))}
        />
        <button class="plain" title="Show all (f)" onClick={actions.f}>
          Fit
        </button>
        <button class="plain" title="Lay out again (l)" onClick={again_}>
          Arrange
        </button>
        {undo.current && (
          <button class="plain" onClick={actions.u}>
            Undo
          </button>
        )}
        <button
          class="plain"
          title="Only what is near the selected (h)"
          aria-pressed={hops > 0}
          onClick={actions.h}
        >
          {hops ? `${hops} hop${hops > 1 ? 's' : ''}` : 'All hops'}
        </button>
        <button
          class="plain"
          title="Show the leaves of a node as a number (c)"
          aria-pressed={fold}
          onClick={actions.c}
        >
          Fold leaves
        </button>
        {document.fullscreenEnabled && (
          <button
            class="plain"
            onClick={() =>
              exported.run(() => document.querySelector('.mapbox')!.requestFullscreen())
            }
          >
            Full screen
          </button>
        )}
        <button class="plain" onClick={() => exportAs('svg')}>
          SVG
        </button>
        <button class="plain" onClick={() => exportAs('png')}>
          PNG
        </button>
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
                  unfold={
                    hidden?.has(n.id) || (folding && open.has(n.id))
                      ? () => unfold(n.id)
                      : undefined
                  }
                  unpin={
                    at?.get(n.id)?.pinned
                      ? () => {
                          const { x, y } = at.get(n.id)!;
                          at.set(n.id, { x, y });
                          put(at);
                        }
                      : undefined
                  }
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

const portText = (p: string) => p && `port ${p}`;
function Panel({
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

/** Key says in one line what the layer draws. */
function Key({ kind }: { kind: string }) {
  return (
    <p class="small mapkey">
      {kind === 'vlan' ? (
        <>
          <Mark tone="good">has the VLAN</Mark> <Mark tone="soft">has not</Mark>; thick links carry
          it at both ends; ! one end of a link does not carry it.
        </>
      ) : kind === 'stp' ? (
        <>
          <Mark tone="good">root</Mark> <Mark tone="warn">has a blocked port</Mark>{' '}
          <Mark tone="soft">other switches</Mark>; thick links forward, dashed ones are blocked at
          one end.
        </>
      ) : kind === 'bier' ? (
        <>
          ▲ in: ingress, ▼ out: egress; ✓ applied, ! at risk, ? unverified, … pending, ⊘
          unreachable, ✕ failed; thick links carry the channel, with the bits that go over each: 0xc
          is the BFR-ids 3 and 4. A ring is a router in between.
        </>
      ) : (
        <>
          <Mark tone="good">answering</Mark> <Mark tone="warn">silent</Mark>{' '}
          <Mark tone="soft">gone, or not known</Mark> <Mark tone="info">outside of the list</Mark>;
          links: solid both ends report it, dashed one end, dotted inferred.
        </>
      )}
    </p>
  );
}

function Legend() {
  return (
    <details class="legend">
      <summary>Legend and keys</summary>
      <p>
        A square is an OpenFlow switch, a hexagon a BIER router. Links: grey and dashed gone for
        less than five minutes; red and dashed missing, where nearly every leaf is linked to every
        spine. A grey area is a fabric with more than a thousand links: those of a selected node are
        drawn. Thicker is faster. A number in a node is how many leaves are folded into it; a press
        on it unfolds them; with an ! some of them do not answer. Of leaves with the same neighbours
        one stands for all. Maps of more than {foldsAbove} nodes are folded by themselves until one
        zooms in; what is found or selected is always shown.
      </p>
      <p class="keys">
        <kbd>/</kbd> find <kbd>f</kbd> fit <kbd>l</kbd> arrange <kbd>u</kbd> undo <kbd>h</kbd> hops{' '}
        <kbd>c</kbd> fold leaves <kbd>e</kbd> unfold those of the selected node <kbd>+</kbd>{' '}
        <kbd>-</kbd> zoom <kbd>←↑→↓</kbd> neighbour <kbd>Enter</kbd> open <kbd>Esc</kbd> nothing
        selected
      </p>
    </details>
  );
}

function Happened() {
  const now = recent.value.slice(0, 5);
  return now.length ? (
    <ul class="ticker" aria-label="What happened last">
      {now.map((e, i) => (
        <li key={i}>
          <time>{new Date(e.time).toLocaleTimeString()}</time> {e.name}{' '}
          <span class="soft">{JSON.stringify(e.data).slice(0, 120)}</span>
        </li>
      ))}
    </ul>
  ) : null;
}

function Twin({ g }: { g: Graph }) {
  const nodes: Column<Node>[] = [
    {
      name: 'Name',
      text: n => n.name,
      cell: n => <a href={to(['devices', g.id, n.id])}>{n.name}</a>,
    },
    { name: 'State', text: n => n.state, cell: n => <StateOf n={n} /> },
    { name: 'Address', text: n => n.address },
    { name: 'Model', text: n => n.model },
    { name: 'Ports', text: n => n.ports.length, right: true },
  ];
  const name = (id: string) => g.nodes.get(id)?.name ?? id;
  const links: Column<Link>[] = [
    { name: 'From', text: l => name(l.a) },
    { name: 'Port', text: l => l.aPort },
    { name: 'To', text: l => name(l.b) },
    { name: 'Port there', text: l => l.bPort },
    { name: 'State', text: l => l.state },
    { name: 'Speed', text: l => speedText(l.speed) },
    { name: 'Links', text: l => l.count, right: true },
  ];
  const [shown, show] = useState(false);
  return (
    <details class="twin" onToggle={e => show(e.currentTarget.open)}>
      <summary>The same as a table</summary>
      {shown && (
        <>
          <Table
            name="Nodes"
            rows={[...g.nodes.values()].sort((a, b) => natural(a.name, b.name))}
            columns={nodes}
            id={n => n.id}
          />
          <Table name="Links" rows={[...g.links.values()]} columns={links} id={l => l.id} />
        </>
      )}
    </details>
  );
}
