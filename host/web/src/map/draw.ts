// A map as it is drawn. What does not depend on the view is worked out once for a graph and how it is looked at; a
// frame only places what is in the view, with one stroke or fill for all that looks the same.
import { colours, token } from '../core/theme';
import { away, Graph, Link, neighbours, Node, Point, speedText } from './graph';
import type { Shape } from './layout';
import type { Kind, Pen, Stroke } from './pens';

export interface View {
  x: number;
  y: number;
  zoom: number;
  width: number;
  height: number;
}
export interface Layer {
  nodes?: Map<string, keyof Colours>;
  marks?: Map<string, string>;
  links?: Set<string>;
  stopped?: Set<string>;
  transit?: Set<string>;
  labels?: Map<string, string>;
  title?: string;
}
export interface Look {
  hidden?: Map<string, Node[]> | undefined;
  selected: Set<string>;
  found: string;
  layer: Layer | null;
  dim: Set<string> | null;
  flash: Set<string>;
  shape: Shape;
}
interface Colours {
  ink: string;
  soft: string;
  line: string;
  paper: string;
  answering: string;
  silent: string;
  gone: string;
  outside: string;
  unknown: string;
  accent: string;
  bad: string;
}
export type Type = 't0' | 't1';
export interface Palette extends Colours {
  sizes: Record<Type, number>;
  family: string;
}
/** Box is where a name, or what is folded into a node, is written. */
export interface Box {
  id: string;
  fold: boolean;
  x: number;
  y: number;
  w: number;
  h: number;
}

export function palette(): Palette {
  const v = colours();
  return {
    ink: v('ink'),
    soft: v('soft'),
    line: v('link'),
    paper: v('ground'),
    answering: v('good'),
    silent: v('warn'),
    gone: v('soft'),
    outside: v('info'),
    unknown: v('soft'),
    accent: v('accent'),
    bad: v('bad'),
    sizes: { t0: parseFloat(token('t0')), t1: parseFloat(token('t1')) },
    family: token('text'),
  };
}
const radius = (zoom: number) => 9 * Math.max(0.35, Math.min(1.3, zoom ** 0.6));
const dashes: Record<Link['state'], number[]> = {
  up: [],
  oneway: [8, 5],
  inferred: [2, 4],
  gone: [4, 6],
};
const width = (l: Link) =>
  1.4 +
  (l.speed >= 1e7 ? 2.2 : l.speed >= 1e6 ? 1.2 : l.speed >= 1e5 ? 0.5 : 0) +
  Math.min(2, (l.count - 1) * 0.6);
export const screen = (p: Point, v: View): [number, number] => [
  (p.x - v.x) * v.zoom + v.width / 2,
  (p.y - v.y) * v.zoom + v.height / 2,
];

interface Lines extends Stroke {
  ends: Point[];
}
interface Shapes {
  kind: Kind;
  colour: string;
  alpha: number;
  r: number;
  at: Point[];
}
interface Text {
  text: string;
  type: Type;
  colour: string;
  bold: boolean;
  box: Box;
}

/** Scene is a graph at its places, looked at in one way. When one of these changes, another is made. */
export class Scene {
  /** bounds are the least and greatest x and y of the nodes. */
  readonly bounds: [number, number, number, number] = [Infinity, Infinity, -Infinity, -Infinity];
  readonly shapes: Shapes[] = [];
  private lines: Lines[] = [];
  private rings: { r: number; gap: number; at: Point[] }[] = [];
  private areas: [number, number][][] = [];
  private ranked: Node[] = [];
  private texts: Text[] = [];
  private zoom = 0;

  constructor(
    private pen: Pen,
    private g: Graph,
    private at: Map<string, Point>,
    private look: Look,
    private c: Palette,
  ) {
    const { fabric, core, missing } = look.shape,
      many = g.links.size > 3 * g.nodes.size && g.links.size > 150,
      faint = Math.max(0.05, Math.min(0.3, 60 / g.links.size));
    const parts = new Map<number, [number, number][]>(),
      lines = new Map<string, Lines>(),
      shapes = new Map<string, Shapes>(),
      degree = new Map<string, number>();
    for (const [id, f] of fabric)
      if (g.nodes.has(id)) {
        const p = at.get(id)!;
        parts
          .set(f, parts.get(f) ?? [])
          .get(f)!
          .push([p.x, p.y]);
      }
    this.areas = [...parts.values()].map(hull);
    const line = (
      a: string,
      b: string,
      colour: string,
      w: number,
      dash: number[],
      alpha: number,
    ) => {
      const key = [colour, w, dash, alpha].join();
      let l = lines.get(key);
      if (!l) lines.set(key, (l = { colour, width: w, dash, alpha, ends: [] }));
      l.ends.push(at.get(a)!, at.get(b)!);
    };
    for (const l of g.links.values()) {
      degree.set(l.a, (degree.get(l.a) ?? 0) + 1);
      degree.set(l.b, (degree.get(l.b) ?? 0) + 1);
      const band = fabric.get(l.a),
        chosen = look.selected.has(l.a) || look.selected.has(l.b),
        on = look.layer?.links?.has(l.id) ?? false,
        stopped = look.layer?.stopped?.has(l.id) ?? false;
      if (
        band !== undefined &&
        l.state === 'up' &&
        band === fabric.get(l.b) &&
        !chosen &&
        !on &&
        !stopped
      )
        continue;
      line(
        l.a,
        l.b,
        stopped ? c.silent : on || chosen ? c.accent : l.state === 'gone' ? c.gone : c.line,
        on || stopped ? width(l) + 2 : width(l),
        stopped ? [6, 4] : dashes[l.state],
        chosen || on || stopped
          ? 1
          : (many ? faint : 0.75) * Math.min(this.dim(l.a), this.dim(l.b)),
      );
    }
    for (const [a, b] of missing)
      if (g.nodes.has(a) && g.nodes.has(b))
        line(a, b, c.bad, 2, [6, 4], Math.min(this.dim(a), this.dim(b)));
    this.lines = [...lines.values()];
    for (const n of g.nodes.values()) {
      const p = at.get(n.id)!,
        b = this.bounds,
        tint = look.layer?.nodes?.get(n.id),
        colour = tint
          ? c[tint]
          : c[n.state === 'answering' && away(look.hidden?.get(n.id) ?? []) ? 'silent' : n.state],
        alpha = this.dim(n.id);
      b[0] = Math.min(b[0], p.x);
      b[1] = Math.min(b[1], p.y);
      b[2] = Math.max(b[2], p.x);
      b[3] = Math.max(b[3], p.y);
      if (look.selected.has(n.id) || look.flash.has(n.id) || look.found === n.id)
        this.rings.push({ r: this.foldRadius(n.id), gap: 5, at: [p] });
      else if (look.layer?.transit?.has(n.id))
        this.rings.push({ r: this.foldRadius(n.id), gap: 3, at: [p] });
      const r = this.foldRadius(n.id),
        kind =
          n.kind === 'openflow' && n.state === 'answering'
            ? 'square'
            : n.kind === 'bier' && n.state === 'unknown'
              ? 'hexagon'
              : r && n.state === 'answering'
                ? 'unknown'
                : n.state,
        key = [kind, colour, alpha, r].join();
      let s = shapes.get(key);
      if (!s) shapes.set(key, (s = { kind, colour, alpha, r, at: [] }));
      s.at.push(p);
    }
    this.shapes = [...shapes.values()];
    const first = (n: Node) => Number(look.selected.has(n.id)) * 2 + Number(core.has(n.id));
    this.ranked = [...g.nodes.values()].sort(
      (a, b) => first(b) - first(a) || (degree.get(b.id) ?? 0) - (degree.get(a.id) ?? 0),
    );
  }
  /** foldRadius has room for the number of what is folded into a node; 0 when nothing is. */
  private foldRadius(id: string) {
    const f = this.foldText(id);
    return f ? Math.max(9, this.pen.measure(f, 't0') / 2 + 4) : 0;
  }
  /** foldText is how many nodes are folded into one, with a mark when some of them do not answer. */
  private foldText(id: string) {
    const f = this.look.hidden?.get(id);
    return f ? f.length + (away(f) && '!') : '';
  }
  /** free is how far the next link is from below, right, left and above of a node, as an angle. */
  private free(id: string): number[] {
    return [Math.PI / 2, 0, Math.PI, -Math.PI / 2].map(side =>
      Math.min(
        Math.PI,
        ...this.angles(id).map(a => Math.abs(Math.atan2(Math.sin(a - side), Math.cos(a - side)))),
      ),
    );
  }
  /** angles are those of the links of a node; of one with many there is no gap to look for. */
  private angles(id: string): number[] {
    const p = this.at.get(id)!,
      near = neighbours(this.g).get(id)!;
    return near.size > 12
      ? []
      : [...near].map(n => {
          const q = this.at.get(n)!;
          return Math.atan2(q.y - p.y, q.x - p.x);
        });
  }
  private dim(id: string) {
    return this.look.dim && !this.look.dim.has(id) ? 0.18 : 1;
  }

  /** paint draws what is in the view, and returns where names and folds are written: no two names overlap. */
  paint(pen: Pen, v: View): Box[] {
    const z = v.zoom,
      ox = v.width / 2 - v.x * z,
      oy = v.height / 2 - v.y * z,
      r = radius(z),
      c = this.c,
      out: number[] = [];
    for (const a of this.areas)
      pen.area(
        a.flatMap(([x, y]) => [x * z + ox, y * z + oy]),
        c.line,
        0.16,
      );
    for (const l of this.lines) {
      out.length = 0;
      for (let i = 0; i < l.ends.length; i += 2) {
        const a = l.ends[i]!,
          b = l.ends[i + 1]!,
          x1 = a.x * z + ox,
          y1 = a.y * z + oy,
          x2 = b.x * z + ox,
          y2 = b.y * z + oy;
        if (
          !(
            (x1 < 0 && x2 < 0) ||
            (y1 < 0 && y2 < 0) ||
            (x1 > v.width && x2 > v.width) ||
            (y1 > v.height && y2 > v.height)
          )
        )
          out.push(x1, y1, x2, y2);
      }
      if (out.length) pen.lines(out, l);
    }
    const put = (kind: Kind, at: Point[], size: number, colour: string, alpha: number) => {
      out.length = 0;
      for (const p of at) {
        const x = p.x * z + ox,
          y = p.y * z + oy;
        if (x > -20 && y > -20 && x < v.width + 20 && y < v.height + 20) out.push(x, y);
      }
      if (out.length) pen.shapes(kind, out, size, colour, c.paper, alpha);
    };
    for (const s of this.rings) put('ring', s.at, Math.max(r, s.r) + s.gap, c.accent, 1);
    for (const s of this.shapes) put(s.kind, s.at, Math.max(r, s.r), s.colour, s.alpha);
    const boxes: Box[] = [];
    for (const t of this.textsAt(z)) {
      const { id, fold, w, h } = t.box,
        x = t.box.x + ox,
        y = t.box.y + oy;
      if (x > v.width || y > v.height || x + w < 0 || y + h < 0) continue;
      pen.text(
        t.text,
        x + w / 2,
        y + c.sizes[t.type] - 1,
        fold ? 0 : w,
        h,
        t.type,
        t.colour,
        c.paper,
        t.bold,
      );
      if (id) boxes.push({ id, fold, x, y, w, h });
    }
    return boxes;
  }

  /** textsAt places all texts for a zoom, so that they stay the same while one moves over the map. */
  private textsAt(zoom: number): Text[] {
    if (this.zoom === zoom) return this.texts;
    const { g, at, look, c, pen } = this,
      r = radius(zoom),
      grid = new Map<number, Box[]>(),
      cells: number[] = [],
      out: Text[] = [];
    const clear = (b: Box, must: boolean) => {
      cells.length = 0;
      for (let i = Math.floor(b.x / 80); i <= Math.floor((b.x + b.w) / 80); i++)
        for (let j = Math.floor(b.y / 30); j <= Math.floor((b.y + b.h) / 30); j++)
          cells.push(i * 100_000 + j);
      for (const k of cells)
        for (const o of grid.get(k) ?? [])
          if (o.x < b.x + b.w && b.x < o.x + o.w && o.y < b.y + b.h && b.y < o.y + o.h)
            if (!must) return false;
      for (const k of cells) {
        const have = grid.get(k);
        if (have) have.push(b);
        else grid.set(k, [b]);
      }
      return true;
    };
    /** write places a text below y, if it is over no other one or must be there. */
    const write = (
      text: string,
      x: number,
      y: number,
      o: {
        id?: string;
        fold?: boolean;
        type?: Type;
        colour?: string;
        bold?: boolean;
        must?: boolean;
        least?: number;
      },
    ) => {
      const type = o.type ?? 't0',
        w = Math.max(o.least ?? 0, pen.measure(text, type) * (o.bold ? 1.08 : 1) + 2),
        box = { id: o.id ?? '', fold: o.fold ?? false, x: x - w / 2, y, w, h: c.sizes[type] + 3 };
      const ok = clear(box, !!o.must);
      if (ok) out.push({ text, type, colour: o.colour ?? c.soft, bold: o.bold ?? false, box });
      return ok;
    };
    const type = zoom > 1.5 ? 't1' : 't0';
    for (const n of this.ranked) {
      const p = at.get(n.id)!,
        fold = this.foldText(n.id),
        mark = look.layer?.marks?.get(n.id),
        top = p.y * zoom - Math.max(r, this.foldRadius(n.id)) - c.sizes.t0 - 4;
      if (fold)
        write(fold, p.x * zoom, p.y * zoom - c.sizes.t0 / 2 - 1, {
          least: this.foldRadius(n.id) * 2,
          id: n.id,
          fold: true,
          must: true,
          colour: c.ink,
        });
      if (mark) write(mark, p.x * zoom, top, { bold: true, colour: c.ink, must: true });
      else if (p.pinned) write('⌃', p.x * zoom, top, { must: true });
    }
    for (const n of this.ranked) {
      const p = at.get(n.id)!,
        x = p.x * zoom,
        y = p.y * zoom,
        bold = look.selected.has(n.id),
        text = n.name.length > 28 ? n.name.slice(0, 27) + '…' : n.name,
        away = Math.max(r, this.foldRadius(n.id)),
        o = { id: n.id, type, bold, colour: this.dim(n.id) < 1 ? c.soft : c.ink } as const;
      const side = away + 4 + pen.measure(text, type) / 2,
        middle = y - c.sizes[type] / 2 - 1;
      const free = side < 70 ? this.free(n.id) : [1, 1, 1, 1],
        sides = [0, 1, 2, 3].sort((a, b) => Math.min(1, free[b]!) - Math.min(1, free[a]!)); // below, right, left, above
      const put = (k: number, far: number) =>
        write(
          text,
          x + [0, side + far, -side - far, 0][k]!,
          [y + away + 1 + far, middle, middle, y - away - c.sizes[type] - 4 - far][k]!,
          o,
        );
      if (
        ![0, ...(look.shape.core.has(n.id) ? [12] : [])].some(far =>
          sides.some(k => put(k, far)),
        ) &&
        bold
      )
        write(text, x, y + away + 1, { ...o, must: true });
    }
    const all = zoom > 1.15 && g.links.size < 400;
    if (all || look.layer?.labels?.size || look.selected.size === 1)
      for (const l of g.links.values()) {
        const label = look.layer?.labels?.get(l.id) ?? '';
        if (
          !label &&
          !all &&
          !(look.selected.size === 1 && (look.selected.has(l.a) || look.selected.has(l.b)))
        )
          continue;
        const p = at.get(l.a)!,
          q = at.get(l.b)!,
          a = [p.x * zoom, p.y * zoom] as const,
          b = [q.x * zoom, q.y * zoom] as const,
          long = Math.hypot(b[0] - a[0], b[1] - a[1]),
          half = c.sizes.t0 / 2 + 1;
        if (long < 70 && !label) continue;
        for (const [id, from, to, port] of [
          [l.a, a, b, l.aPort],
          [l.b, b, a, l.bPort],
        ] as const) {
          const dx = (to[0] - from[0]) / long,
            dy = (to[1] - from[1]) / long,
            beside = (Math.abs(dy) * pen.measure(port, 't0') + Math.abs(dx) * 2 * half) / 2 + 4;
          // On the side of the line with the wider gap, else on the other, beyond a name that is there.
          const angles = this.angles(id),
            gap = (s: number) =>
              Math.min(
                7,
                ...angles
                  .map(x => ((x - Math.atan2(dy, dx)) * s + 4 * Math.PI) % (2 * Math.PI))
                  .filter(x => x > 0.01 && x < 2 * Math.PI - 0.01),
              ),
            sides = gap(1) < gap(-1) ? [-1, 1] : [1, -1];
          [r + 12, r + 20, r + 28, r + 38].some(
            away =>
              away <= long * 0.45 &&
              sides.some(s =>
                write(
                  port,
                  from[0] + dx * away - dy * beside * s,
                  from[1] + dy * away + dx * beside * s - half,
                  {},
                ),
              ),
          );
        }
        const middle =
          label ||
          [l.count > 1 ? `${l.count}×` : '', speedText(l.speed), l.state === 'gone' ? 'gone' : '']
            .filter(Boolean)
            .join(' ');
        if (middle)
          [0.5, 0.4, 0.6].some(f =>
            write(middle, a[0] + (b[0] - a[0]) * f, a[1] + (b[1] - a[1]) * f - half, {}),
          );
      }
    this.zoom = zoom;
    return (this.texts = out);
  }
}

/** hull is the smallest area without dents that has all points (Andrew's chain). */
function hull(points: [number, number][]): [number, number][] {
  const p = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list: [number, number][]) => {
    const out: [number, number][] = [];
    for (const q of list) {
      for (
        let a = out.at(-2), b = out.at(-1);
        a && b && (b[0] - a[0]) * (q[1] - a[1]) - (b[1] - a[1]) * (q[0] - a[0]) <= 0;
        a = out.at(-2), b = out.at(-1)
      )
        out.pop();
      out.push(q);
    }
    return out.slice(0, -1);
  };
  return [...half(p), ...half(p.reverse())];
}
