// The map as it is used: panned, zoomed, selected, by mouse, touch and keyboard.
import { useEffect, useRef } from 'preact/hooks';
import { onTheme } from '../core/theme';
import { Box, Layer, Scene, View, palette, screen } from './draw';
import { Graph, Node, Point, neighbours } from './graph';
import { Shape } from './layout';
import { Palette } from './palette';
import { CanvasPen } from './pens';

interface Props {
  g: Graph;
  shape: Shape;
  hidden?: Map<string, Node[]> | undefined;
  turn: number;
  at: Map<string, Point>;
  layer: Layer | null;
  selected: Set<string>;
  found: string;
  hops: number;
  flash: Set<string>;
  fitTurn: number;
  onSelect: (s: Set<string>) => void;
  onUnfold: (id: string) => void;
  onNear: (near: boolean) => void;
  onOpen: (id: string) => void;
  onMove: (id: string, p: Point) => void;
  onKey: (k: string) => boolean;
}

/**
 * near is the zoom from which on leaves that were folded by themselves are shown: there is room for
 * their names.
 */
const near = 0.5;

/** fit is the view that holds all nodes. */
export function fit(
  g: Graph,
  at: Map<string, Point>,
  width: number,
  height: number,
  edge = 90,
): View {
  const p = [...g.nodes.keys()].map(id => at.get(id)!);
  if (!p.length) return { x: 0, y: 0, zoom: 1, width, height };
  const xs = p.map(q => q.x),
    ys = p.map(q => q.y),
    x0 = Math.min(...xs),
    x1 = Math.max(...xs),
    y0 = Math.min(...ys),
    y1 = Math.max(...ys);
  const zoom = Math.min(
    3,
    (width - Math.max(edge, width / 10)) / Math.max(1, x1 - x0),
    (height - edge) / Math.max(1, y1 - y0),
  ); // with room for names at both sides
  return { x: (x0 + x1) / 2, y: (y0 + y1) / 2 + Math.min(8, 8 / zoom), zoom, width, height };
}

/**
 * Small is the small map in the corner: its place, its view of all nodes, and its picture, which is
 * drawn once for a scene.
 */
interface Small {
  left: number;
  top: number;
  all: View;
  picture: HTMLCanvasElement;
}

function smallMap(p: Props, s: Scene, v: View, c: Palette, old: Small | null): Small | null {
  const [x0, y0, x1, y1] = s.bounds,
    [left, top] = screen({ x: x0, y: y0 }, v),
    [right, bottom] = screen({ x: x1, y: y1 }, v);
  if (p.at.size < 200 || (left >= 0 && top >= 0 && right <= v.width && bottom <= v.height))
    return null;
  const w = Math.min(200, v.width / 3),
    h = Math.min(140, v.height / 3),
    picture = old?.picture ?? document.createElement('canvas'),
    all = old?.all ?? fit(p.g, p.at, w, h, 16);
  if (!old) {
    const x = picture.getContext('2d')!;
    picture.width = w * 2;
    picture.height = h * 2;
    x.scale(2, 2);
    for (const { colour, at } of s.shapes) {
      x.fillStyle = colour;
      x.beginPath();
      for (const q of at) {
        const [px, py] = screen(q, all);
        x.rect(px - 1, py - 1, 2, 2);
      }
      x.fill();
    }
    x.strokeStyle = c.line;
    x.strokeRect(0, 0, w, h);
  }
  return { left: v.width - w - 8, top: v.height - h - 8, all, picture };
}

/** within are the nodes at most so many links from the selected ones. */
function within(g: Graph, from: Set<string>, hops: number): Set<string> | null {
  if (!hops || !from.size) return null;
  const adj = neighbours(g),
    seen = new Set(from);
  for (let edge = [...from]; hops > 0; hops--) {
    edge = edge.flatMap(n => [...(adj.get(n) ?? [])].filter(m => !seen.has(m)));
    edge.forEach(n => seen.add(n));
  }
  return seen;
}

export function MapCanvas(props: Props) {
  const ref = useRef<HTMLCanvasElement>(null),
    view = useRef<View | null>(null),
    now = useRef(props),
    frame = useRef(0),
    small = useRef<Small | null>(null),
    drawn = useRef<Box[]>([]),
    close = useRef(false);
  const pen = useRef<{ pen: CanvasPen; colours: Palette } | null>(null),
    scene = useRef<Scene | null>(null);
  const fitted = useRef<{ view: View; window: number; panel: boolean } | null>(null);
  now.current = props;

  const draw = () => {
    frame.current = 0;
    const c = ref.current,
      p = now.current,
      v = view.current;
    if (!c || !v) return;
    const x = c.getContext('2d')!,
      ratio = devicePixelRatio || 1;
    if (c.width !== Math.round(v.width * ratio) || c.height !== Math.round(v.height * ratio)) {
      c.width = Math.round(v.width * ratio);
      c.height = Math.round(v.height * ratio);
      pen.current?.pen.reset();
      small.current = null;
    }
    x.setTransform(ratio, 0, 0, ratio, 0, 0);
    x.clearRect(0, 0, v.width, v.height);
    if (!pen.current) {
      const colours = palette();
      pen.current = { pen: new CanvasPen(x, colours), colours };
    }
    const { pen: onto, colours } = pen.current;
    if (!scene.current) {
      scene.current = new Scene(
        onto,
        p.g,
        p.at,
        {
          selected: p.selected,
          found: p.found,
          layer: p.layer,
          dim: within(p.g, p.selected, p.hops),
          flash: p.flash,
          shape: p.shape,
          hidden: p.hidden,
        },
        colours,
      );
      small.current = null;
    }
    drawn.current = scene.current.paint(onto, v);
    const o = (small.current = smallMap(p, scene.current, v, colours, small.current));
    if (o) {
      const half = [v.width / v.zoom / 2, v.height / v.zoom / 2] as const,
        [x0, y0] = screen({ x: v.x - half[0], y: v.y - half[1] }, o.all),
        [x1, y1] = screen({ x: v.x + half[0], y: v.y + half[1] }, o.all);
      x.save();
      x.translate(o.left, o.top);
      x.beginPath();
      x.rect(0, 0, o.all.width, o.all.height);
      x.fillStyle = colours.paper;
      x.fill();
      x.clip();
      x.drawImage(o.picture, 0, 0, o.all.width, o.all.height);
      x.strokeStyle = colours.accent;
      x.lineWidth = 2;
      x.strokeRect(x0, y0, x1 - x0, y1 - y0);
      x.restore();
    }
    c.dataset.state = 'drawn';
    if (close.current !== v.zoom >= near) {
      close.current = !close.current;
      p.onNear(close.current);
    }
  };
  const redraw = () => {
    frame.current ||= requestAnimationFrame(draw);
  };
  const fill = (width: number, height: number) => {
    fitted.current = {
      view: (view.current = fit(now.current.g, now.current.at, width, height)),
      window: innerWidth,
      panel: now.current.selected.size > 0,
    };
  };
  /** changed draws again what is not drawn as before. */
  const changed = () => {
    scene.current = null;
    redraw();
  };

  useEffect(() => {
    const c = ref.current!,
      size = new ResizeObserver(() => {
        const b = c.getBoundingClientRect(),
          old = view.current;
        if (!b.width || !b.height) return;
        // A map that was not moved since is filled again, unless the panel of a node takes or gives
        // back the room: that moves nothing.
        const f = fitted.current,
          still = old && old === f?.view,
          panel = now.current.selected.size > 0;
        if (!old || (still && (innerWidth !== f!.window || (!panel && !f!.panel))))
          fill(b.width, b.height);
        else {
          view.current = { ...old, width: b.width, height: b.height };
          if (still) Object.assign(f!, { view: view.current, panel });
        }
        redraw();
      });
    // What tests read: places on the screen, the names that are written, and what is folded where.
    Object.defineProperty(c, 'ctl', {
      value: {
        get places() {
          const p = now.current;
          return Object.fromEntries(
            [...p.g.nodes.keys()].map(id => [id, screen(p.at.get(id)!, view.current!)]),
          );
        },
        get names() {
          return drawn.current.filter(b => !b.fold);
        },
        get folds() {
          return drawn.current.filter(b => b.fold);
        },
        get folded() {
          return Object.fromEntries(
            [...(now.current.hidden ?? [])].map(([id, l]) => [id, l.length]),
          );
        },
        get at() {
          return Object.fromEntries(now.current.at);
        },
        get layer() {
          return now.current.layer;
        },
        get small() {
          const s = small.current;
          return s && { left: s.left, top: s.top };
        },
        get missing() {
          return now.current.shape.missing;
        },
      },
    });
    size.observe(c);
    const themed = onTheme(() => {
      pen.current = null;
      changed();
    });
    return () => {
      size.disconnect();
      themed();
      cancelAnimationFrame(frame.current);
      frame.current = 0;
    };
  }, []);
  useEffect(changed, [
    props.g,
    props.shape,
    props.hidden,
    props.at,
    props.turn,
    props.layer,
    props.selected,
    props.found,
    props.hops,
    props.flash,
  ]);
  useEffect(() => {
    const v = view.current;
    if (v) {
      fill(v.width, v.height);
      redraw();
    }
  }, [props.fitTurn, props.g.id]);
  useEffect(() => {
    const p = props.at.get(props.found),
      v = view.current;
    if (p && v) {
      view.current = { ...v, x: p.x, y: p.y, zoom: Math.max(v.zoom, 1) };
      redraw();
    }
  }, [props.found]);

  const nodeAt = (x: number, y: number): string | null => {
    const { g, at } = now.current;
    let best: string | null = null,
      near = 18;
    for (const id of g.nodes.keys()) {
      const [px, py] = screen(at.get(id)!, view.current!),
        d = Math.hypot(px - x, py - y);
      if (d < near) {
        near = d;
        best = id;
      }
    }
    return best ?? boxAt(x, y, false);
  };
  /** boxAt is the node of the name, or of the fold, that is written there. */
  const boxAt = (x: number, y: number, fold: boolean) =>
    drawn.current.find(
      b =>
        b.fold === fold &&
        Math.abs(x - b.x - b.w / 2) <= Math.max(12, b.w / 2) &&
        Math.abs(y - b.y - b.h / 2) <= 12,
    )?.id ?? null;
  const zoomAt = (factor: number, x: number, y: number) => {
    const v = view.current!,
      zoom = Math.max(0.05, Math.min(6, v.zoom * factor)),
      px = (x - v.width / 2) / v.zoom + v.x,
      py = (y - v.height / 2) / v.zoom + v.y;
    view.current = {
      ...v,
      zoom,
      x: px - (x - v.width / 2) / zoom,
      y: py - (y - v.height / 2) / zoom,
    };
    redraw();
  };
  const fingers = useRef(new Map<number, [number, number]>()),
    grip = useRef<{
      id: string | null;
      unfold?: string | null;
      moved: boolean;
      small?: boolean;
    } | null>(null);
  const place = (e: PointerEvent): [number, number] => {
    const b = ref.current!.getBoundingClientRect();
    return [e.clientX - b.left, e.clientY - b.top];
  };

  /** toPlace shows the place that was pressed in the small map. */
  const toPlace = (x: number, y: number): boolean => {
    const o = small.current,
      v = view.current!;
    if (!o || x < o.left || y < o.top || x > o.left + o.all.width || y > o.top + o.all.height)
      return false;
    view.current = {
      ...v,
      x: (x - o.left - o.all.width / 2) / o.all.zoom + o.all.x,
      y: (y - o.top - o.all.height / 2) / o.all.zoom + o.all.y,
    };
    redraw();
    return true;
  };
  const down = (e: PointerEvent) => {
    ref.current!.setPointerCapture(e.pointerId);
    const at = place(e);
    fingers.current.set(e.pointerId, at);
    if (fingers.current.size === 1 && toPlace(...at)) {
      grip.current = { id: null, moved: true, small: true };
      return;
    }
    const one = fingers.current.size === 1,
      unfold = one ? boxAt(...at, true) : null;
    grip.current = { id: one && !unfold ? nodeAt(...at) : null, unfold, moved: false };
  };
  const move = (e: PointerEvent) => {
    const old = fingers.current.get(e.pointerId),
      v = view.current!;
    if (!old) {
      ref.current!.style.cursor =
        boxAt(...place(e), true) || nodeAt(...place(e)) ? 'pointer' : 'grab';
      return;
    }
    const at = place(e),
      dx = at[0] - old[0],
      dy = at[1] - old[1],
      g = grip.current!;
    if (g.small) toPlace(...at);
    else if (fingers.current.size === 2) {
      const other = [...fingers.current].find(([id]) => id !== e.pointerId)![1],
        before = Math.hypot(old[0] - other[0], old[1] - other[1]),
        after = Math.hypot(at[0] - other[0], at[1] - other[1]);
      zoomAt(after / Math.max(1, before), (at[0] + other[0]) / 2, (at[1] + other[1]) / 2);
    } else if (g.moved || Math.hypot(dx, dy) > 4) {
      g.moved = true;
      if (g.id) {
        const p = now.current.at.get(g.id)!;
        p.x += dx / v.zoom;
        p.y += dy / v.zoom;
        scene.current = null;
      } else view.current = { ...v, x: v.x - dx / v.zoom, y: v.y - dy / v.zoom };
      redraw();
    } else return;
    fingers.current.set(e.pointerId, at);
  };
  const up = (e: PointerEvent) => {
    const g = grip.current,
      p = now.current;
    fingers.current.delete(e.pointerId);
    if (!g || fingers.current.size) return;
    grip.current = null;
    if (g.moved && g.id) p.onMove(g.id, { ...p.at.get(g.id)!, pinned: true });
    else if (!g.moved && g.unfold) p.onUnfold(g.unfold);
    else if (!g.moved) {
      const s = new Set(e.shiftKey ? p.selected : []);
      if (g.id && !(e.shiftKey && s.delete(g.id))) s.add(g.id);
      p.onSelect(s);
    }
  };
  const arrow = (dx: number, dy: number) => {
    const { g, at, selected, onSelect } = now.current,
      from = [...selected][0] ?? [...g.nodes.keys()][0];
    if (!from) return;
    if (!selected.size) {
      onSelect(new Set([from]));
      return;
    }
    const p = at.get(from)!,
      adj = neighbours(g).get(from) ?? new Set<string>();
    let best = '',
      score = Infinity;
    for (const id of adj.size ? adj : g.nodes.keys()) {
      const q = at.get(id)!,
        long = Math.hypot(q.x - p.x, q.y - p.y),
        straight = ((q.x - p.x) * dx + (q.y - p.y) * dy) / (long || 1);
      if (id !== from && straight > 0.3 && long / straight < score) {
        score = long / straight;
        best = id;
      }
    }
    if (best) onSelect(new Set([best]));
  };
  const key = (e: KeyboardEvent) => {
    const v = view.current!,
      step: Record<string, () => void> = {
        ArrowLeft: () => arrow(-1, 0),
        ArrowRight: () => arrow(1, 0),
        ArrowUp: () => arrow(0, -1),
        ArrowDown: () => arrow(0, 1),
        '+': () => zoomAt(1.25, v.width / 2, v.height / 2),
        '-': () => zoomAt(0.8, v.width / 2, v.height / 2),
        Enter: () => {
          const id = [...now.current.selected][0];
          if (id) now.current.onOpen(id);
        },
        Escape: () => now.current.onSelect(new Set()),
      };
    const f = step[e.key];
    if (f) {
      e.preventDefault();
      f();
    } else if (!e.ctrlKey && !e.metaKey && now.current.onKey(e.key)) e.preventDefault();
  };
  const chosen = [...props.selected].map(id => props.g.nodes.get(id)).filter(n => n !== undefined);
  return (
    <>
      <canvas
        ref={ref}
        class="map"
        tabIndex={0}
        role="application"
        aria-roledescription="map"
        aria-label={
          `Map: ${props.g.nodes.size} nodes, ${props.g.links.size} links. ` +
          'Arrows go to a neighbour, Enter opens, the table below has the same.'
        }
        onPointerDown={down}
        onPointerMove={move}
        onPointerUp={up}
        onPointerCancel={up}
        onDblClick={e => {
          const id = nodeAt(...place(e as unknown as PointerEvent));
          if (id) props.onOpen(id);
        }}
        onWheel={e => {
          e.preventDefault();
          const b = e.currentTarget.getBoundingClientRect();
          zoomAt(e.deltaY < 0 ? 1.15 : 1 / 1.15, e.clientX - b.left, e.clientY - b.top);
        }}
        onKeyDown={key}
      />
      <p class="hidden" role="status">
        {chosen.map(n => `${n.name}, ${n.state}`).join('; ')}
      </p>
    </>
  );
}
