// The page of the map, with what is known of the selected nodes and the same graph as a table.
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import { rpc } from '../core/api';
import { age, download, natural, useData, useTick } from '../core/data';
import { onEvents, recent } from '../core/events';
import { go, route, setQuery, to } from '../core/route';
import { Choice, Column, Empty, Failure, Field, Mark, Outcome, Search, Table, Title, Tone, useAct } from '../core/ui';
import { fit, MapCanvas } from '../map/canvas';
import { CanvasPen, Layer, paint, palette, SVGPen } from '../map/draw';
import { folded, Graph, Link, Node, speedText } from '../map/graph';
import { layout, shape } from '../map/layout';
import { flash, graphs, placesOf, problem, readAt, refresh, setPlaces, titleOf } from '../map/store';
import { channelsOf, layersOf, loadLayer } from '../map/layers';

export const toneOf: Record<Node['state'], Tone> = { answering: 'good', silent: 'warn', gone: 'soft', outside: 'info', unknown: 'soft' };
export const StateOf = ({ n }: { n: Node }) => <Mark tone={toneOf[n.state]}>{n.state}</Mark>;

export function MapPage() {
  const all = graphs.value, id = route.value.path[1] ?? '', [fitTurn, setFit] = useState(0), [hops, setHops] = useState(0), [want, setWant] = useState(''), [layer, setLayer] = useState<Layer | null>(null), [places, setTurn] = useState(0), undo = useRef<ReturnType<typeof layout> | null>(null);
  const g = all && (all.get(id) ?? [...all.values()].sort((a, b) => b.nodes.size - a.nodes.size)[0]), selected = useMemo(() => new Set((route.value.query.get('sel') ?? '').split(',').filter(Boolean)), [route.value.query.get('sel')]);
  const found = want && g ? [...g.nodes.values()].find(n => (n.name + ' ' + n.address + ' ' + n.mac).toLowerCase().includes(want.toLowerCase()))?.id ?? '' : '';
  const layerAct = useAct(), exported = useAct(), placing = useAct(), layerID = route.value.query.get('layer') ?? '';
  const channels = useData(() => g && layerID.startsWith('bier:') ? channelsOf(g.id) : Promise.resolve([] as string[]), [g?.id ?? '', layerID.startsWith('bier:')]), [turn, again] = useState(0);
  useEffect(() => { if (layerID === 'bier:' && channels.value?.[0]) setQuery({ layer: 'bier:' + channels.value[0] }); }, [layerID, channels.value]);
  useEffect(() => onEvents(e => { if (e.some(x => /bier|report|alarm/.test(x.stream + x.name))) again(t => t + 1); }), []);
  useEffect(() => { setLayer(null); }, [layerID, g?.id]);
  useEffect(() => {
    if (g && layerID) layerAct.run(async () => { const l = await loadLayer(g, layerID); if ((route.peek().query.get('layer') ?? '') === layerID) setLayer(l); });
  }, [layerID, g?.id, turn]);
  const form = useMemo(() => g ? shape(g) : null, [g]);
  if (!g) return <><Title>Map</Title>{problem.value ? <Failure error={problem.value} retry={() => void refresh()} /> : all
    ? <Empty action={<p><a class="button" href={to(['system', 'features'])}>Install a feature</a> <a class="button plain" href={to(['devices'])}>Add switches</a></p>}>No topology is known. A feature such as ctl-switch-all or ctl-openflow brings one: it discovers the network by itself once it has devices.</Empty>
    : <div class="skeleton" data-state="loading" />}</>;
  const fold = route.value.query.get('fold') === '1', small = fold ? folded(g) : null, drawn = small?.g ?? g, hidden = small?.hidden;
  const at = placesOf(g), select = (s: Set<string>) => setQuery({ sel: [...s].join(',') });
  const put = (to: typeof at) => { placing.run(() => setPlaces(g, to)); setTurn(t => t + 1); };
  const arrange = () => { undo.current = at; put(layout(g)); setFit(t => t + 1); };
  const actions: Record<string, () => void> = {
    f: () => setFit(t => t + 1), l: arrange, h: () => setHops(h => (h + 1) % 4), c: () => setQuery({ fold: fold ? '' : '1' }), u: () => { if (undo.current) { put(undo.current); undo.current = null; } },
    '/': () => document.querySelector<HTMLInputElement>('[aria-label="Find on the map"]')?.focus(),
  };
  const exportAs = (kind: 'svg' | 'png') => exported.run(async () => {
    const v = fit(at, 1920, 1200), c = document.createElement('canvas'), x = c.getContext('2d')!, colours = palette(), look = { selected: new Set<string>(), found: '', layer, dim: null, flash: new Set<string>(), shape: form!, ...(hidden ? { hidden } : {}) };
    if (kind === 'svg') { const pen = new SVGPen(new CanvasPen(x)); paint(pen, drawn, at, v, look, colours); download(g.id.replace(/\W+/g, '-') + '.svg', 'image/svg+xml', pen.document(v, colours.paper)); return; }
    c.width = v.width * 2; c.height = v.height * 2;
    x.scale(2, 2); x.fillStyle = colours.paper; x.fillRect(0, 0, v.width, v.height);
    paint(new CanvasPen(x), drawn, at, v, look, colours);
    const b = await new Promise<Blob | null>(done => { c.toBlob(done); });
    if (!b) throw new Error('The browser cannot write a PNG of this size.');
    download(g.id.replace(/\W+/g, '-') + '.png', 'image/png', b);
  });
  const count = (s: Node['state']) => [...g.nodes.values()].filter(n => n.state === s).length;
  return <div class="mappage" data-turn={places} data-places={placing.busy ? 'saving' : 'saved'}>
    <Title side={<>
      {all!.size > 1 && <Choice label="Topology" value={g.id} options={[...all!.keys()].map(k => [k, titleOf(k)])} onChange={k => go(['map', k])} />}
      <Choice label="Layer" value={layerID.startsWith('vlan:') ? 'vlan:1' : layerID.startsWith('bier:') ? 'bier:' : layerID} options={[['', 'State'], ...layersOf(g)]} onChange={l => setQuery({ layer: l })} />
      {layerID.startsWith('vlan:') && <Field label="VLAN" type="number" min={1} max={4094} value={layerID.slice(5)} onChange={e => setQuery({ layer: 'vlan:' + (e.currentTarget.value || '1') })} />}
      {layerID.startsWith('bier:') && (channels.value?.length ? <Choice label="Channel" value={layerID.slice(5)} options={channels.value.map(c => [c, c])} onChange={c => setQuery({ layer: 'bier:' + c })} /> : channels.value && <span class="soft">This topology has no BIER channel. <a href={to(['bier', g.id])}>Make one</a></span>)}
    </>}>Map</Title>
    {problem.value && <div class="note warn" role="status">No answer since {readAt.value?.toLocaleTimeString()}: showing what was known then. <button onClick={() => void refresh()}>Retry</button></div>}
    <Outcome act={layerAct} /><Outcome act={exported} /><Outcome act={placing} />
    <div class="bar">
      <span data-testid="counts">{g.nodes.size} nodes, {g.links.size} links</span>
      {(['answering', 'silent', 'gone', 'outside', 'unknown'] as const).map(s => count(s) > 0 && <Mark key={s} tone={toneOf[s]}>{count(s)} {s}</Mark>)}
      {form!.missing.length > 0 && <Mark tone="bad">{form!.missing.length} missing: not every leaf is linked to every spine</Mark>}
      {layer?.title && <span class="tag">{layer.title}</span>}
    </div>
    <div class="bar tools">
      <Search label="Find on the map" value={want} onInput={setWant} onEnter={() => found && select(new Set([found]))} />
      <button class="plain" title="Show all (f)" onClick={actions.f}>Fit</button>
      <button class="plain" title="Lay out again (l)" onClick={arrange}>Arrange</button>
      {undo.current && <button class="plain" onClick={actions.u}>Undo</button>}
      <button class="plain" title="Only what is near the selected (h)" aria-pressed={hops > 0} onClick={actions.h}>{hops ? `${hops} hop${hops > 1 ? 's' : ''}` : 'All hops'}</button>
      <button class="plain" title="Leaves of one neighbour are shown as a number (c)" aria-pressed={fold} onClick={actions.c}>Fold leaves</button>
      {document.fullscreenEnabled && <button class="plain" onClick={() => exported.run(() => document.querySelector('.mapbox')!.requestFullscreen())}>Full screen</button>}
      <button class="plain" onClick={() => exportAs('svg')}>SVG</button><button class="plain" onClick={() => exportAs('png')}>PNG</button>
    </div>
    <div class="mapbox">
      <MapCanvas g={drawn} shape={form!} at={at} hidden={hidden} layer={layer} selected={selected} found={found} hops={hops} flash={flash.value} fitTurn={fitTurn} onSelect={select} onOpen={n => go(['devices', g.id, n])}
        onMove={(n, p) => { at.set(n, p); put(at); }} onKey={k => { const f = actions[k]; f?.(); return !!f; }} />
      {selected.size > 0 && <aside class="panel" aria-label="Selected">{[...selected].map(n => g.nodes.get(n)).filter(n => n !== undefined).slice(0, 8).map(n => <Panel key={n.id} g={g} n={n} unpin={at.get(n.id)?.pinned ? () => { const { x, y } = at.get(n.id)!; at.set(n.id, { x, y }); put(at); } : undefined} />)}</aside>}
    </div>
    <Legend />
    <Happened />
    <Twin g={g} />
  </div>;
}

function Panel({ g, n, unpin }: { g: Graph; n: Node; unpin?: (() => void) | undefined }) {
  useTick(5);
  const act = useAct(), links = [...g.links.values()].filter(l => l.a === n.id || l.b === n.id);
  return <section><h2>{n.name}</h2>
    <dl class="facts"><dt>State</dt><dd><StateOf n={n} /> <small class="soft">{age(new Date(n.since))}</small></dd>
      {n.address && <><dt>Address</dt><dd>{n.address}</dd></>}{n.model && <><dt>Model</dt><dd>{n.model}</dd></>}
      <dt>Node</dt><dd class="mono">{n.id}</dd><dt>Ports</dt><dd>{n.ports.length}{n.ports.some(p => p.state) && `, ${n.ports.filter(p => p.state === 'up').length} up`}</dd></dl>
    <ul class="plainlist">{links.slice(0, 12).map(l => { const other = l.a === n.id ? l.b : l.a; return <li key={l.id}><a href={to(['map', g.id], { sel: other })}>{l.a === n.id ? l.aPort : l.bPort} → {g.nodes.get(other)?.name} {l.a === n.id ? l.bPort : l.aPort}</a> {l.state !== 'up' && <small class="soft">{l.state}</small>}</li>; })}{links.length > 12 && <li class="soft">and {links.length - 12} more</li>}</ul>
    <p class="actions"><a class="button" href={to(['devices', g.id, n.id])}>Open</a>{g.id.startsWith('switch') && <button class="plain" disabled={act.busy} onClick={() => act.run(async () => { await rpc('topology:rediscover'); await refresh(); return 'Discovered again.'; })}>Ask now</button>}{unpin && <button class="plain" onClick={unpin}>Unpin</button>}</p><Outcome act={act} />
  </section>;
}

function Legend() {
  return <details class="legend"><summary>Legend and keys</summary><p><Mark tone="good">answering</Mark> <Mark tone="warn">silent</Mark> <Mark tone="soft">gone, or not known</Mark> <Mark tone="info">outside of the list (◆)</Mark>; a square is an OpenFlow switch, a hexagon a BIER router.
    Links: solid both ends report it; dashed one end; dotted inferred; grey and dashed gone for less than five minutes; red and dashed missing, where nearly every leaf is linked to every spine. A grey area is a fabric with more than a thousand links: those of a selected node are drawn. Thicker is faster.</p>
  <p class="keys"><kbd>/</kbd> find <kbd>f</kbd> fit <kbd>l</kbd> arrange <kbd>u</kbd> undo <kbd>h</kbd> hops <kbd>c</kbd> fold leaves <kbd>+</kbd> <kbd>-</kbd> zoom <kbd>←↑→↓</kbd> neighbour <kbd>Enter</kbd> open <kbd>Esc</kbd> nothing selected</p></details>;
}

function Happened() {
  const now = recent.value.slice(0, 5);
  return now.length ? <ul class="ticker" aria-label="What happened last">{now.map((e, i) => <li key={i}><time>{new Date(e.time).toLocaleTimeString()}</time> {e.name} <span class="soft">{JSON.stringify(e.data).slice(0, 120)}</span></li>)}</ul> : null;
}

function Twin({ g }: { g: Graph }) {
  const nodes: Column<Node>[] = [
    { name: 'Name', text: n => n.name, cell: n => <a href={to(['devices', g.id, n.id])}>{n.name}</a> }, { name: 'State', text: n => n.state, cell: n => <StateOf n={n} /> },
    { name: 'Address', text: n => n.address }, { name: 'Model', text: n => n.model }, { name: 'Ports', text: n => n.ports.length, right: true }];
  const name = (id: string) => g.nodes.get(id)?.name ?? id;
  const links: Column<Link>[] = [{ name: 'From', text: l => name(l.a) }, { name: 'Port', text: l => l.aPort }, { name: 'To', text: l => name(l.b) }, { name: 'Port there', text: l => l.bPort }, { name: 'State', text: l => l.state }, { name: 'Speed', text: l => speedText(l.speed) }, { name: 'Links', text: l => l.count, right: true }];
  return <details class="twin"><summary>The same as a table</summary>
    <Table name="Nodes" rows={[...g.nodes.values()].sort((a, b) => natural(a.name, b.name))} columns={nodes} id={n => n.id} />
    <Table name="Links" rows={[...g.links.values()]} columns={links} id={l => l.id} />
  </details>;
}
