// A map as it is drawn. What does not depend on the view is worked out once for a graph and how it
// is looked at; a frame only places what is in the view, with one stroke or fill for all that looks
// the same.
import { stamp } from '../core/data';
import { colours, token } from '../core/theme';
import { Graph, Link, Node, Point, away, neighbours, speedText } from './graph';
import { Shape } from './layout';
import { Colours, Palette, Type } from './palette';
import { Kind, Pen, Stroke } from './pens';

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
    gone: v('bad'),
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

type Bounds = [number, number, number, number];

/** isInView reports whether a part of a line may be in the view. */
function isInView(v: View, x1: number, y1: number, x2: number, y2: number): boolean {
  if (x1 < 0 && x2 < 0) return false;
  if (y1 < 0 && y2 < 0) return false;
  if (x1 > v.width && x2 > v.width) return false;
  return !(y1 > v.height && y2 > v.height);
}

/** boundsOf are the least and greatest x and y of points. */
function boundsOf(points: Point[]): Bounds {
  const b: Bounds = [Infinity, Infinity, -Infinity, -Infinity];
  for (const p of points) {
    b[0] = Math.min(b[0], p.x);
    b[1] = Math.min(b[1], p.y);
    b[2] = Math.max(b[2], p.x);
    b[3] = Math.max(b[3], p.y);
  }
  return b;
}

/** kindOf is the shape of a node; one that others are folded into is hollow, for their number. */
function kindOf(n: Node, hollow: boolean): Kind {
  if (n.kind === 'openflow' && n.state === 'answering') return 'square';
  if (n.kind === 'bier' && n.state === 'unknown') return 'hexagon';
  return hollow && n.state === 'answering' ? 'unknown' : n.state;
}

/** Writing is how a text is written, and whether it must be there. */
interface Writing {
  id?: string;
  fold?: boolean;
  type?: Type;
  colour?: string;
  bold?: boolean;
  must?: boolean;
  least?: number;
}

/** Writer places texts so that none is over another. */
class Writer {
  readonly out: Text[] = [];
  private grid = new Map<number, Box[]>();
  constructor(
    private pen: Pen,
    private c: Palette,
  ) {}
  /** write places a text below y, if it is over no other one or must be there. */
  write(text: string, x: number, y: number, o: Writing): boolean {
    const type = o.type ?? 't0',
      w = Math.max(o.least ?? 0, this.pen.measure(text, type) * (o.bold ? 1.08 : 1) + 2),
      h = this.c.sizes[type] + 3,
      box = { id: o.id ?? '', fold: o.fold ?? false, x: x - w / 2, y, w, h };
    if (!this.claim(box, !!o.must)) return false;
    this.out.push({ text, type, colour: o.colour ?? this.c.soft, bold: o.bold ?? false, box });
    return true;
  }
  /** claim takes the room of a box; false when another text is there. */
  private claim(b: Box, must: boolean): boolean {
    const cells: number[] = [];
    for (let i = Math.floor(b.x / 80); i <= Math.floor((b.x + b.w) / 80); i++)
      for (let j = Math.floor(b.y / 30); j <= Math.floor((b.y + b.h) / 30); j++)
        cells.push(i * 100_000 + j);
    const over = (o: Box) =>
      o.x < b.x + b.w && b.x < o.x + o.w && o.y < b.y + b.h && b.y < o.y + o.h;
    if (!must && cells.some(k => this.grid.get(k)?.some(over))) return false;
    for (const k of cells) {
      const have = this.grid.get(k);
      if (have) have.push(b);
      else this.grid.set(k, [b]);
    }
    return true;
  }
}

/**
 * Scene is a graph at its places, looked at in one way. When one of these changes, another is made.
 */
export class Scene {
  /** bounds are the least and greatest x and y of the nodes. */
  readonly bounds: Bounds;
  readonly shapes: Shapes[];
  private lines: Lines[];
  private rings: { r: number; gap: number; at: Point[] }[];
  private areas: [number, number][][];
  private ranked: Node[];
  private texts: Text[] = [];
  private zoom = 0;

  constructor(
    private pen: Pen,
    private g: Graph,
    private at: Map<string, Point>,
    private look: Look,
    private c: Palette,
  ) {
    this.areas = this.fabricAreas();
    this.lines = this.linesOfLinks();
    this.rings = this.ringsOfNodes();
    this.shapes = this.shapesOfNodes();
    this.ranked = this.rankedNodes();
    this.bounds = boundsOf([...g.nodes.keys()].map(id => at.get(id)!));
  }
  /** fabricAreas are the areas behind the fabrics whose links are not drawn each. */
  private fabricAreas(): [number, number][][] {
    const parts = new Map<number, [number, number][]>();
    for (const [id, fabric] of this.look.shape.fabric) {
      if (!this.g.nodes.has(id)) continue;
      const p = this.at.get(id)!,
        part = parts.get(fabric) ?? [];
      part.push([p.x, p.y]);
      parts.set(fabric, part);
    }
    return [...parts.values()].map(hull);
  }
  /** linesOfLinks are the links, and those that a fabric lacks; what looks the same is together. */
  private linesOfLinks(): Lines[] {
    const { g, c } = this,
      lines = new Map<string, Lines>();
    const add = (a: string, b: string, s: Stroke) => {
      const key = [s.colour, s.width, s.dash, s.alpha].join();
      let l = lines.get(key);
      if (!l) lines.set(key, (l = { ...s, ends: [] }));
      l.ends.push(this.at.get(a)!, this.at.get(b)!);
    };
    for (const l of g.links.values()) {
      const stroke = this.strokeOf(l);
      if (stroke) add(l.a, l.b, stroke);
    }
    for (const [a, b] of this.look.shape.missing)
      if (g.nodes.has(a) && g.nodes.has(b))
        add(a, b, {
          colour: c.bad,
          width: 2,
          dash: [6, 4],
          alpha: Math.min(this.dim(a), this.dim(b)),
        });
    return [...lines.values()];
  }
  /** strokeOf is how a link is drawn; null when it is a part of an area. */
  private strokeOf(l: Link): Stroke | null {
    const { g, c, look } = this,
      many = g.links.size > 3 * g.nodes.size && g.links.size > 150,
      faint = Math.max(0.05, Math.min(0.3, 60 / g.links.size)),
      band = look.shape.fabric.get(l.a);
    if (look.layer?.stopped?.has(l.id))
      return { colour: c.silent, width: width(l) + 2, dash: [6, 4], alpha: 1 };
    const dash = dashes[l.state];
    if (look.layer?.links?.has(l.id))
      return { colour: c.accent, width: width(l) + 2, dash, alpha: 1 };
    if (look.selected.has(l.a) || look.selected.has(l.b))
      return { colour: c.accent, width: width(l), dash, alpha: 1 };
    if (band !== undefined && l.state === 'up' && band === look.shape.fabric.get(l.b)) return null;
    return {
      colour: l.state === 'gone' ? c.gone : c.line,
      width: width(l),
      dash,
      alpha: (many ? faint : 0.75) * Math.min(this.dim(l.a), this.dim(l.b)),
    };
  }
  /** ringsOfNodes are around what is selected, found or just changed, and around transit nodes. */
  private ringsOfNodes(): { r: number; gap: number; at: Point[] }[] {
    const { look } = this,
      rings = [];
    for (const id of this.g.nodes.keys()) {
      const marked = look.selected.has(id) || look.flash.has(id) || look.found === id;
      if (marked || look.layer?.transit?.has(id))
        rings.push({ r: this.foldRadius(id), gap: marked ? 5 : 3, at: [this.at.get(id)!] });
    }
    return rings;
  }
  /** shapesOfNodes are the nodes; what looks the same is together. */
  private shapesOfNodes(): Shapes[] {
    const { c, look } = this,
      shapes = new Map<string, Shapes>();
    for (const n of this.g.nodes.values()) {
      const tint = look.layer?.nodes?.get(n.id),
        partly = n.state === 'answering' && away(look.hidden?.get(n.id) ?? []),
        colour = c[tint ?? (partly ? 'silent' : n.state)],
        alpha = this.dim(n.id),
        r = this.foldRadius(n.id),
        kind = kindOf(n, r > 0),
        key = [kind, colour, alpha, r].join();
      let s = shapes.get(key);
      if (!s) shapes.set(key, (s = { kind, colour, alpha, r, at: [] }));
      s.at.push(this.at.get(n.id)!);
    }
    return [...shapes.values()];
  }
  /** rankedNodes are the nodes in the order in which their names get room. */
  private rankedNodes(): Node[] {
    const { look } = this,
      degree = new Map<string, number>();
    for (const l of this.g.links.values())
      for (const id of [l.a, l.b]) degree.set(id, (degree.get(id) ?? 0) + 1);
    const first = (n: Node) =>
      Number(look.selected.has(n.id)) * 2 + Number(look.shape.core.has(n.id));
    return [...this.g.nodes.values()].sort(
      (a, b) => first(b) - first(a) || (degree.get(b.id) ?? 0) - (degree.get(a.id) ?? 0),
    );
  }
  /** foldRadius has room for the number of what is folded into a node; 0 when nothing is. */
  private foldRadius(id: string) {
    const f = this.foldText(id);
    return f ? Math.max(9, this.pen.measure(f, 't0') / 2 + 4) : 0;
  }
  /**
   * foldText is how many nodes are folded into one, with a mark when some of them do not answer.
   */
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

  /**
   * paint draws what is in the view, and returns where names and folds are written: no two names
   * overlap.
   */
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
        if (isInView(v, x1, y1, x2, y2)) out.push(x1, y1, x2, y2);
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

  /**
   * textsAt places all texts for a zoom, so that they stay the same while one moves over the map.
   */
  private textsAt(zoom: number): Text[] {
    if (this.zoom === zoom) return this.texts;
    const writer = new Writer(this.pen, this.c);
    for (const n of this.ranked) this.writeMarks(writer, n, zoom);
    for (const n of this.ranked) this.writeName(writer, n, zoom);
    for (const l of this.g.links.values())
      if (this.isLabelled(l, zoom)) this.writeLabels(writer, l, zoom);
    this.zoom = zoom;
    return (this.texts = writer.out);
  }
  /** writeMarks writes how many are folded into a node, its mark, and whether it is pinned. */
  private writeMarks(writer: Writer, n: Node, zoom: number): void {
    const { c } = this,
      p = this.at.get(n.id)!,
      fold = this.foldText(n.id),
      mark = this.look.layer?.marks?.get(n.id),
      top = p.y * zoom - Math.max(radius(zoom), this.foldRadius(n.id)) - c.sizes.t0 - 4;
    if (fold)
      writer.write(fold, p.x * zoom, p.y * zoom - c.sizes.t0 / 2 - 1, {
        least: this.foldRadius(n.id) * 2,
        id: n.id,
        fold: true,
        must: true,
        colour: c.ink,
      });
    if (mark) writer.write(mark, p.x * zoom, top, { bold: true, colour: c.ink, must: true });
    else if (p.pinned) writer.write('⌃', p.x * zoom, top, { must: true });
  }
  /** writeName writes the name of a node on the side with the most room. */
  private writeName(writer: Writer, n: Node, zoom: number): void {
    const { c, look, pen } = this,
      type = zoom > 1.5 ? 't1' : 't0',
      p = this.at.get(n.id)!,
      x = p.x * zoom,
      y = p.y * zoom,
      bold = look.selected.has(n.id),
      text = n.name.length > 28 ? n.name.slice(0, 27) + '…' : n.name,
      beyond = Math.max(radius(zoom), this.foldRadius(n.id)),
      o = { id: n.id, type, bold, colour: this.dim(n.id) < 1 ? c.soft : c.ink } as const,
      side = beyond + 4 + pen.measure(text, type) / 2,
      middle = y - c.sizes[type] / 2 - 1,
      free = side < 70 ? this.free(n.id) : [1, 1, 1, 1];
    // Below, right, left, above.
    const sides = [0, 1, 2, 3].sort((a, b) => Math.min(1, free[b]!) - Math.min(1, free[a]!));
    const put = (k: number, far: number) =>
      writer.write(
        text,
        x + [0, side + far, -side - far, 0][k]!,
        [y + beyond + 1 + far, middle, middle, y - beyond - c.sizes[type] - 4 - far][k]!,
        o,
      );
    const distances = look.shape.core.has(n.id) ? [0, 12] : [0],
      written = distances.some(far => sides.some(k => put(k, far)));
    if (!written && bold) writer.write(text, x, y + beyond + 1, { ...o, must: true });
  }
  /** isLabelled reports whether ports and speed are written at a link. */
  private isLabelled(l: Link, zoom: number): boolean {
    const { look } = this;
    if (zoom > 1.15 && this.g.links.size < 400) return true;
    if (look.layer?.labels?.get(l.id)) return true;
    return look.selected.size === 1 && (look.selected.has(l.a) || look.selected.has(l.b));
  }
  /** writeLabels writes the ports at the ends of a link, and between them its speed or label. */
  private writeLabels(writer: Writer, l: Link, zoom: number): void {
    const p = this.at.get(l.a)!,
      q = this.at.get(l.b)!,
      a = { x: p.x * zoom, y: p.y * zoom },
      b = { x: q.x * zoom, y: q.y * zoom },
      label = this.look.layer?.labels?.get(l.id) ?? '';
    if (Math.hypot(b.x - a.x, b.y - a.y) < 70 && !label) return;
    this.writePort(writer, l.a, a, b, l.aPort, zoom);
    this.writePort(writer, l.b, b, a, l.bPort, zoom);
    const middle = label || textOf(l),
      half = this.c.sizes.t0 / 2 + 1;
    if (middle)
      [0.5, 0.4, 0.6].some(f =>
        writer.write(middle, a.x + (b.x - a.x) * f, a.y + (b.y - a.y) * f - half, {}),
      );
  }
  /**
   * writePort writes a port beside its end of a link: on the side of the line with the wider gap,
   * else on the other, beyond a name that is there.
   */
  private writePort(
    writer: Writer,
    id: string,
    from: Point,
    to: Point,
    port: string,
    zoom: number,
  ): void {
    const long = Math.hypot(to.x - from.x, to.y - from.y),
      half = this.c.sizes.t0 / 2 + 1,
      dx = (to.x - from.x) / long,
      dy = (to.y - from.y) / long,
      beside = (Math.abs(dy) * this.pen.measure(port, 't0') + Math.abs(dx) * 2 * half) / 2 + 4,
      angles = this.angles(id),
      r = radius(zoom);
    const gap = (s: number) =>
      Math.min(
        7,
        ...angles
          .map(x => ((x - Math.atan2(dy, dx)) * s + 4 * Math.PI) % (2 * Math.PI))
          .filter(x => x > 0.01 && x < 2 * Math.PI - 0.01),
      );
    const sides = gap(1) < gap(-1) ? [-1, 1] : [1, -1];
    const put = (far: number, s: number) =>
      writer.write(
        port,
        from.x + dx * far - dy * beside * s,
        from.y + dy * far + dx * beside * s - half,
        {},
      );
    [r + 12, r + 20, r + 28, r + 38].some(
      far => far <= long * 0.45 && sides.some(s => put(far, s)),
    );
  }
}

/** lostText says since when a link, or one of a bundle, is lost. */
const lostText = (l: Link): string =>
  l.lost ? `lost ${stamp(l.lost).slice(11, 16)}` : l.state === 'gone' ? 'gone' : '';

/** textOf is what is written in the middle of a link. */
function textOf(l: Link): string {
  return [l.count > 1 ? `${l.count}×` : '', speedText(l.speed), lostText(l)]
    .filter(Boolean)
    .join(' ');
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
