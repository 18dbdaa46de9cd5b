// The map as it is used: panned, zoomed, selected, by mouse, touch and keyboard.
import { useEffect, useRef } from 'preact/hooks';
import { Graph, Point, neighbours } from './graph';
import type { Shape } from './layout';
import { onTheme } from '../core/theme';
import { CanvasPen, Layer, Look, paint, palette, Palette, screen, View } from './draw';

interface Props { g: Graph; shape: Shape; hidden?: Map<string, number> | undefined; at: Map<string, Point>; layer: Layer | null; selected: Set<string>; found: string; hops: number; flash: Set<string>; fitTurn: number; onSelect: (s: Set<string>) => void; onOpen: (id: string) => void; onMove: (id: string, p: Point) => void; onKey: (k: string) => boolean }

/** fit is the view that holds all nodes. */
export function fit(at: Map<string, Point>, width: number, height: number, edge = 90): View {
  const p = [...at.values()];
  if (!p.length) return { x: 0, y: 0, zoom: 1, width, height };
  const xs = p.map(q => q.x), ys = p.map(q => q.y), x0 = Math.min(...xs), x1 = Math.max(...xs), y0 = Math.min(...ys), y1 = Math.max(...ys);
  return { x: (x0 + x1) / 2, y: (y0 + y1) / 2 + 8, zoom: Math.min(1.6, (width - edge) / Math.max(1, x1 - x0), (height - edge) / Math.max(1, y1 - y0)), width, height };
}

/** overview is the place and view of the small map in the corner: where there are many nodes, and not all in the view. */
function overview(at: Map<string, Point>, v: View): { left: number; top: number; all: View } | null {
  if (at.size < 200 || [...at.values()].every(p => { const [x, y] = screen(p, v); return x >= 0 && y >= 0 && x <= v.width && y <= v.height; })) return null;
  const w = Math.min(200, v.width / 3), h = Math.min(140, v.height / 3);
  return { left: v.width - w - 8, top: v.height - h - 8, all: fit(at, w, h, 16) };
}

/** within are the nodes at most so many links from the selected ones. */
function within(g: Graph, from: Set<string>, hops: number): Set<string> | null {
  if (!hops || !from.size) return null;
  const adj = neighbours(g), seen = new Set(from);
  for (let edge = [...from]; hops > 0; hops--) {
    edge = edge.flatMap(n => [...adj.get(n) ?? []].filter(m => !seen.has(m)));
    edge.forEach(n => seen.add(n));
  }
  return seen;
}

export function MapCanvas(props: Props) {
  const ref = useRef<HTMLCanvasElement>(null), view = useRef<View | null>(null), now = useRef(props), frame = useRef(0), ink = useRef<Palette | null>(null), small = useRef<ReturnType<typeof overview>>(null), drawn = useRef<{ id: string; x: number; y: number; w: number; h: number }[]>([]);
  now.current = props;

  const draw = () => {
    frame.current = 0;
    const c = ref.current, p = now.current, v = view.current;
    if (!c || !v) return;
    const x = c.getContext('2d')!, ratio = devicePixelRatio || 1;
    if (c.width !== Math.round(v.width * ratio) || c.height !== Math.round(v.height * ratio)) { c.width = Math.round(v.width * ratio); c.height = Math.round(v.height * ratio); }
    x.setTransform(ratio, 0, 0, ratio, 0, 0);
    x.clearRect(0, 0, v.width, v.height);
    const look: Look = { selected: p.selected, found: p.found, layer: p.layer, dim: within(p.g, p.selected, p.hops), flash: p.flash, shape: p.shape, ...(p.hidden ? { hidden: p.hidden } : {}) };
    drawn.current = paint(new CanvasPen(x), p.g, p.at, v, look, ink.current ??= palette());
    const o = overview(p.at, v), colour = ink.current;
    small.current = o;
    if (o) {
      const half = [v.width / v.zoom / 2, v.height / v.zoom / 2] as const, [x0, y0] = screen({ x: v.x - half[0], y: v.y - half[1] }, o.all), [x1, y1] = screen({ x: v.x + half[0], y: v.y + half[1] }, o.all);
      x.save();
      x.translate(o.left, o.top);
      x.beginPath(); x.rect(0, 0, o.all.width, o.all.height); x.fillStyle = colour.paper; x.fill(); x.strokeStyle = colour.line; x.lineWidth = 1; x.stroke(); x.clip();
      for (const n of p.g.nodes.values()) { const [px, py] = screen(p.at.get(n.id)!, o.all); x.fillStyle = colour[n.state]; x.fillRect(px - 1, py - 1, 2, 2); }
      x.strokeStyle = colour.accent; x.lineWidth = 2; x.strokeRect(x0, y0, x1 - x0, y1 - y0);
      x.restore();
    }
    c.dataset.state = 'drawn';
    // What tests read: places on the screen, and the names that were written.
    (c as unknown as { ctl: unknown }).ctl = { get places() { return Object.fromEntries([...p.at].filter(([id]) => p.g.nodes.has(id)).map(([id, q]) => [id, screen(q, v)])); }, names: drawn.current, at: Object.fromEntries(p.at), layer: p.layer, small: o, missing: p.shape.missing };
  };
  const redraw = () => { frame.current ||= requestAnimationFrame(draw); };

  useEffect(() => {
    const c = ref.current!, size = new ResizeObserver(() => {
      const b = c.getBoundingClientRect(), old = view.current;
      if (!b.width || !b.height) return;
      view.current = old ? { ...old, width: b.width, height: b.height } : fit(now.current.at, b.width, b.height);
      redraw();
    });
    size.observe(c);
    const themed = onTheme(() => { ink.current = null; redraw(); });
    return () => { size.disconnect(); themed(); cancelAnimationFrame(frame.current); frame.current = 0; };
  }, []);
  useEffect(redraw);
  useEffect(() => { const v = view.current; if (v) { view.current = fit(now.current.at, v.width, v.height); redraw(); } }, [props.fitTurn, props.g.id]);
  useEffect(() => {
    const p = props.at.get(props.found), v = view.current;
    if (p && v) { view.current = { ...v, x: p.x, y: p.y, zoom: Math.max(v.zoom, 1) }; redraw(); }
  }, [props.found]);

  const nodeAt = (x: number, y: number): string | null => {
    const { g, at } = now.current;
    let best: string | null = null, near = 18;
    for (const id of g.nodes.keys()) { const [px, py] = screen(at.get(id)!, view.current!), d = Math.hypot(px - x, py - y); if (d < near) { near = d; best = id; } }
    return best ?? drawn.current.find(b => x >= b.x && x <= b.x + b.w && y >= b.y && y <= b.y + b.h)?.id ?? null;
  };
  const zoomAt = (factor: number, x: number, y: number) => {
    const v = view.current!, zoom = Math.max(0.05, Math.min(6, v.zoom * factor)), px = (x - v.width / 2) / v.zoom + v.x, py = (y - v.height / 2) / v.zoom + v.y;
    view.current = { ...v, zoom, x: px - (x - v.width / 2) / zoom, y: py - (y - v.height / 2) / zoom };
    redraw();
  };
  const fingers = useRef(new Map<number, [number, number]>()), grip = useRef<{ id: string | null; moved: boolean; small?: boolean } | null>(null);
  const place = (e: PointerEvent): [number, number] => { const b = ref.current!.getBoundingClientRect(); return [e.clientX - b.left, e.clientY - b.top]; };

  /** toPlace shows the place that was pressed in the small map. */
  const toPlace = (x: number, y: number): boolean => {
    const o = small.current, v = view.current!;
    if (!o || x < o.left || y < o.top || x > o.left + o.all.width || y > o.top + o.all.height) return false;
    view.current = { ...v, x: (x - o.left - o.all.width / 2) / o.all.zoom + o.all.x, y: (y - o.top - o.all.height / 2) / o.all.zoom + o.all.y };
    redraw();
    return true;
  };
  const down = (e: PointerEvent) => {
    ref.current!.setPointerCapture(e.pointerId);
    const at = place(e);
    fingers.current.set(e.pointerId, at);
    if (fingers.current.size === 1 && toPlace(...at)) { grip.current = { id: null, moved: true, small: true }; return; }
    grip.current = { id: fingers.current.size === 1 ? nodeAt(...at) : null, moved: false };
  };
  const move = (e: PointerEvent) => {
    const old = fingers.current.get(e.pointerId), v = view.current!;
    if (!old) { ref.current!.style.cursor = nodeAt(...place(e)) ? 'pointer' : 'grab'; return; }
    const at = place(e), dx = at[0] - old[0], dy = at[1] - old[1], g = grip.current!;
    if (g.small) toPlace(...at); else if (fingers.current.size === 2) {
      const other = [...fingers.current].find(([id]) => id !== e.pointerId)![1], before = Math.hypot(old[0] - other[0], old[1] - other[1]), after = Math.hypot(at[0] - other[0], at[1] - other[1]);
      zoomAt(after / Math.max(1, before), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
    } else if (g.moved || Math.hypot(dx, dy) > 4) {
      g.moved = true;
      if (g.id) { const p = now.current.at.get(g.id)!; p.x += dx / v.zoom; p.y += dy / v.zoom; } else view.current = { ...v, x: v.x - dx / v.zoom, y: v.y - dy / v.zoom };
      redraw();
    } else return;
    fingers.current.set(e.pointerId, at);
  };
  const up = (e: PointerEvent) => {
    const g = grip.current, p = now.current;
    fingers.current.delete(e.pointerId);
    if (!g || fingers.current.size) return;
    grip.current = null;
    if (g.moved && g.id) p.onMove(g.id, { ...p.at.get(g.id)!, pinned: true });
    else if (!g.moved) {
      const s = new Set(e.shiftKey ? p.selected : []);
      if (g.id && !(e.shiftKey && s.delete(g.id))) s.add(g.id);
      p.onSelect(s);
    }
  };
  const arrow = (dx: number, dy: number) => {
    const { g, at, selected, onSelect } = now.current, from = [...selected][0] ?? [...g.nodes.keys()][0];
    if (!from) return;
    if (!selected.size) { onSelect(new Set([from])); return; }
    const p = at.get(from)!, adj = neighbours(g).get(from) ?? new Set<string>();
    let best = '', score = Infinity;
    for (const id of adj.size ? adj : g.nodes.keys()) {
      const q = at.get(id)!, long = Math.hypot(q.x - p.x, q.y - p.y), straight = ((q.x - p.x) * dx + (q.y - p.y) * dy) / (long || 1);
      if (id !== from && straight > 0.3 && long / straight < score) { score = long / straight; best = id; }
    }
    if (best) onSelect(new Set([best]));
  };
  const key = (e: KeyboardEvent) => {
    const v = view.current!, step: Record<string, () => void> = {
      ArrowLeft: () => arrow(-1, 0), ArrowRight: () => arrow(1, 0), ArrowUp: () => arrow(0, -1), ArrowDown: () => arrow(0, 1),
      '+': () => zoomAt(1.25, v.width / 2, v.height / 2), '-': () => zoomAt(0.8, v.width / 2, v.height / 2),
      Enter: () => { const id = [...now.current.selected][0]; if (id) now.current.onOpen(id); }, Escape: () => now.current.onSelect(new Set()),
    };
    const f = step[e.key];
    if (f) { e.preventDefault(); f(); } else if (!e.ctrlKey && !e.metaKey && now.current.onKey(e.key)) e.preventDefault();
  };
  const chosen = [...props.selected].map(id => props.g.nodes.get(id)).filter(n => n !== undefined);
  return <>
    <canvas ref={ref} class="map" tabIndex={0} role="application" aria-roledescription="map" aria-label={`Map: ${props.g.nodes.size} nodes, ${props.g.links.size} links. Arrows go to a neighbour, Enter opens, the table below has the same.`}
      onPointerDown={down} onPointerMove={move} onPointerUp={up} onPointerCancel={up} onDblClick={e => { const id = nodeAt(...place(e as unknown as PointerEvent)); if (id) props.onOpen(id); }}
      onWheel={e => { e.preventDefault(); const b = e.currentTarget.getBoundingClientRect(); zoomAt(e.deltaY < 0 ? 1.15 : 1 / 1.15, e.clientX - b.left, e.clientY - b.top); }} onKeyDown={key} />
    <p class="hidden" role="status">{chosen.map(n => `${n.name}, ${n.state}`).join('; ')}</p>
  </>;
}
