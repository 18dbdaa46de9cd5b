// Draws a graph: to the canvas of the page, and to SVG for export. Both are the same picture.
import { colours } from '../core/theme';
import { Graph, Link, Node, Point, speedText } from './graph';
import type { Shape } from './layout';

export interface View { x: number; y: number; zoom: number; width: number; height: number }
export interface Layer { nodes?: Map<string, keyof Palette>; marks?: Map<string, string>; links?: Set<string>; labels?: Map<string, string>; title?: string }
export interface Look { hidden?: Map<string, number>; selected: Set<string>; found: string; layer: Layer | null; dim: Set<string> | null; flash: Set<string>; shape: Shape }
export interface Palette { ink: string; soft: string; line: string; paper: string; answering: string; silent: string; gone: string; outside: string; unknown: string; accent: string; bad: string }

export function palette(): Palette {
  const v = colours();
  return { ink: v('ink'), soft: v('soft'), line: v('link'), paper: v('ground'), answering: v('good'), silent: v('warn'), gone: v('soft'), outside: v('info'), unknown: v('accent'), accent: v('accent'), bad: v('bad') };
}
const radius = 9;
const dashes: Record<Link['state'], number[]> = { up: [], oneway: [8, 5], inferred: [2, 4], gone: [4, 6] };
const width = (l: Link) => 1.4 + (l.speed >= 1e7 ? 2.2 : l.speed >= 1e6 ? 1.2 : l.speed >= 1e5 ? 0.5 : 0) + Math.min(2, (l.count - 1) * 0.6);
export const screen = (p: Point, v: View): [number, number] => [(p.x - v.x) * v.zoom + v.width / 2, (p.y - v.y) * v.zoom + v.height / 2];

/** Pen is what is drawn on: a canvas, or SVG. */
export interface Pen {
  line(x1: number, y1: number, x2: number, y2: number, colour: string, width: number, dash: number[], alpha: number): void;
  shape(kind: Node['state'] | 'square' | 'hexagon' | 'ring', x: number, y: number, r: number, colour: string, paper: string, alpha: number): void;
  area(points: [number, number][], colour: string, alpha: number): void;
  text(s: string, x: number, y: number, size: number, colour: string, halo: string, middle: boolean, bold: boolean): void;
  measure(s: string, size: number): number;
}

/** paint draws all that is in the view, and returns the boxes of the names that it wrote: no two of them overlap. */
export function paint(pen: Pen, g: Graph, at: Map<string, Point>, v: View, look: Look, c: Palette): { id: string; x: number; y: number; w: number; h: number }[] {
  const inside = (x: number, y: number) => x > -60 && y > -60 && x < v.width + 60 && y < v.height + 60, r = radius * Math.max(0.35, Math.min(1.3, v.zoom ** 0.6));
  const dim = (id: string) => look.dim && !look.dim.has(id) ? 0.18 : 1, many = g.links.size > 3 * g.nodes.size && g.links.size > 150, faint = Math.max(0.05, Math.min(0.3, 60 / g.links.size));
  const fabrics = new Map<number, [number, number][]>();
  for (const [id, f] of look.shape.fabric) {
    const points = fabrics.get(f) ?? [];
    if (g.nodes.has(id)) points.push(screen(at.get(id)!, v));
    fabrics.set(f, points);
  }
  for (const points of fabrics.values()) pen.area(hull(points), c.line, 0.16);
  for (const l of g.links.values()) {
    const band = look.shape.fabric.get(l.a);
    if (band !== undefined && l.state === 'up' && band === look.shape.fabric.get(l.b) && !look.selected.has(l.a) && !look.selected.has(l.b) && !look.layer?.links?.has(l.id)) continue;
    const [x1, y1] = screen(at.get(l.a)!, v), [x2, y2] = screen(at.get(l.b)!, v);
    if (!inside(x1, y1) && !inside(x2, y2) && (Math.max(x1, x2) < 0 || Math.min(x1, x2) > v.width || Math.max(y1, y2) < 0 || Math.min(y1, y2) > v.height)) continue;
    const chosen = look.selected.has(l.a) || look.selected.has(l.b), on = look.layer?.links?.has(l.id) ?? false;
    const alpha = (many && !chosen && !on ? faint : 0.75) * Math.min(dim(l.a), dim(l.b));
    pen.line(x1, y1, x2, y2, on || chosen ? c.accent : l.state === 'gone' ? c.gone : c.line, on ? width(l) + 2 : width(l), dashes[l.state], chosen || on ? 1 : alpha);
  }
  for (const [a, b] of look.shape.missing) if (g.nodes.has(a) && g.nodes.has(b)) pen.line(...screen(at.get(a)!, v), ...screen(at.get(b)!, v), c.bad, 2, [6, 4], Math.min(dim(a), dim(b)));
  const boxes: { id: string; x: number; y: number; w: number; h: number }[] = [], grid = new Map<number, typeof boxes>();
  const clear = (b: (typeof boxes)[0]) => {
    const cells: number[] = [];
    for (let i = Math.floor(b.x / 80); i <= Math.floor((b.x + b.w) / 80); i++) for (let j = Math.floor(b.y / 30); j <= Math.floor((b.y + b.h) / 30); j++) cells.push(i * 10_000 + j);
    if (cells.some(k => grid.get(k)?.some(o => o.x < b.x + b.w && b.x < o.x + o.w && o.y < b.y + b.h && b.y < o.y + o.h))) return false;
    cells.forEach(k => grid.set(k, [...grid.get(k) ?? [], b]));
    boxes.push(b);
    return true;
  };
  const degree = new Map<string, number>();
  for (const l of g.links.values()) { degree.set(l.a, (degree.get(l.a) ?? 0) + 1); degree.set(l.b, (degree.get(l.b) ?? 0) + 1); }
  const visible: [Node, number, number][] = [];
  for (const n of g.nodes.values()) {
    const p = at.get(n.id)!, [x, y] = screen(p, v);
    if (!inside(x, y)) continue;
    visible.push([n, x, y]);
    const tint = look.layer?.nodes?.get(n.id), alpha = dim(n.id);
    if (look.selected.has(n.id) || look.flash.has(n.id) || look.found === n.id) pen.shape('ring', x, y, r + 5, c.accent, c.paper, 1);
    pen.shape(n.kind === 'openflow' && n.state === 'answering' ? 'square' : n.kind === 'bier' && n.state === 'unknown' ? 'hexagon' : n.state, x, y, r, tint ? c[tint] : c[n.state], c.paper, alpha);
    const fold = look.hidden?.get(n.id), mark = [look.layer?.marks?.get(n.id), fold && `+${fold}`].filter(Boolean).join(' ');
    if (mark) { const w = pen.measure(mark, 13) * 1.08; clear({ id: '', x: x - w / 2, y: y - r - 19, w, h: 16 }); pen.text(mark, x, y - r - 6, 13, c.ink, c.paper, true, true); }
    else if (p.pinned) pen.text('⌃', x, y - r - 3, 10, c.soft, c.paper, true, false);
  }
  const first = (n: Node) => Number(look.selected.has(n.id)) * 2 + Number(look.shape.core.has(n.id));
  visible.sort((a, b) => first(b[0]) - first(a[0]) || (degree.get(b[0].id) ?? 0) - (degree.get(a[0].id) ?? 0));
  const size = v.zoom > 1.5 ? 14 : 12;
  for (const [n, x, y] of visible) {
    const text = n.name.length > 28 ? n.name.slice(0, 27) + '…' : n.name, w = pen.measure(text, size);
    if (clear({ id: n.id, x: x - w / 2 - 2, y: y + r + 1, w: w + 4, h: size + 4 }) || look.selected.has(n.id)) pen.text(text, x, y + r + size, size, dim(n.id) < 1 ? c.soft : c.ink, c.paper, true, look.selected.has(n.id));
  }
  for (const l of g.links.values()) {
    const chosen = look.selected.has(l.a) || look.selected.has(l.b), label = look.layer?.labels?.get(l.id) ?? '';
    if (!label && !(v.zoom > 1.15 && g.links.size < 400) && !(chosen && look.selected.size === 1)) continue;
    const a = screen(at.get(l.a)!, v), b = screen(at.get(l.b)!, v), long = Math.hypot(b[0] - a[0], b[1] - a[1]);
    if (long < 70 && !label) continue;
    for (const [from, to, port] of [[a, b, l.aPort], [b, a, l.bPort]] as const) {
      for (const away of [r + 14, r + 22, r + 30]) { // beyond a name that is there
        const f = away / long, x = from[0] + (to[0] - from[0]) * f, y = from[1] + (to[1] - from[1]) * f, w = pen.measure(port, 10);
        if (f > 0.45 || !inside(x, y) || !clear({ id: '', x: x - w / 2, y: y - 6, w, h: 12 })) continue;
        pen.text(port, x, y + 4, 10, c.soft, c.paper, true, false);
        break;
      }
    }
    const middle = label || [l.count > 1 ? `${l.count}×` : '', speedText(l.speed), l.state === 'gone' ? 'gone' : ''].filter(Boolean).join(' ');
    if (middle) { const x = (a[0] + b[0]) / 2, y = (a[1] + b[1]) / 2, w = pen.measure(middle, 10); if (clear({ id: '', x: x - w / 2, y: y - 6, w, h: 12 })) pen.text(middle, x, y + 4, 10, c.soft, c.paper, true, false); }
  }
  return boxes.filter(b => b.id);
}

/** hull is the smallest area without dents that has all points (Andrew's chain). */
function hull(points: [number, number][]): [number, number][] {
  const p = [...points].sort((a, b) => a[0] - b[0] || a[1] - b[1]);
  const half = (list: [number, number][]) => {
    const out: [number, number][] = [];
    for (const q of list) {
      for (let a = out.at(-2), b = out.at(-1); a && b && (b[0] - a[0]) * (q[1] - a[1]) - (b[1] - a[1]) * (q[0] - a[0]) <= 0; a = out.at(-2), b = out.at(-1)) out.pop();
      out.push(q);
    }
    return out.slice(0, -1);
  };
  return [...half(p), ...half(p.reverse())];
}

/** corners are those of a hexagon. */
const corners = (x: number, y: number, r: number): [number, number][] => [0, 1, 2, 3, 4, 5].map(k => [x + r * 1.05 * Math.cos(k * Math.PI / 3), y + r * 1.05 * Math.sin(k * Math.PI / 3)]);

const font = (size: number, bold: boolean) => `${bold ? 600 : 400} ${size}px system-ui, sans-serif`;

export class CanvasPen implements Pen {
  constructor(private x: CanvasRenderingContext2D) {}
  line(x1: number, y1: number, x2: number, y2: number, colour: string, w: number, dash: number[], alpha: number) {
    const x = this.x;
    x.globalAlpha = alpha; x.strokeStyle = colour; x.lineWidth = w; x.setLineDash(dash);
    x.beginPath(); x.moveTo(x1, y1); x.lineTo(x2, y2); x.stroke();
    x.globalAlpha = 1; x.setLineDash([]);
  }
  shape(kind: Node['state'] | 'square' | 'hexagon' | 'ring', cx: number, cy: number, r: number, colour: string, paper: string, alpha: number) {
    const x = this.x;
    x.globalAlpha = alpha; x.strokeStyle = colour; x.fillStyle = colour; x.lineWidth = 2;
    x.beginPath();
    if (kind === 'outside') { x.moveTo(cx, cy - r); x.lineTo(cx + r, cy); x.lineTo(cx, cy + r); x.lineTo(cx - r, cy); x.closePath(); } else if (kind === 'hexagon') { corners(cx, cy, r).forEach(([px, py]) => x.lineTo(px, py)); x.closePath(); } else if (kind === 'square') x.rect(cx - r * 0.85, cy - r * 0.85, r * 1.7, r * 1.7); else x.arc(cx, cy, r, 0, 7);
    if (kind === 'gone' || kind === 'ring') { if (kind === 'gone') { x.fillStyle = paper; x.fill(); x.setLineDash([3, 3]); } x.stroke(); x.setLineDash([]); } else if (kind === 'silent') {
      x.fillStyle = paper; x.fill(); x.stroke(); x.beginPath(); x.arc(cx, cy, r, Math.PI / 2, Math.PI * 1.5); x.fillStyle = colour; x.fill();
    } else if (kind === 'unknown') { x.fillStyle = paper; x.fill(); x.stroke(); } else x.fill();
    x.globalAlpha = 1;
  }
  area(points: [number, number][], colour: string, alpha: number) {
    const x = this.x;
    x.globalAlpha = alpha; x.fillStyle = colour;
    x.beginPath(); points.forEach(p => x.lineTo(...p)); x.fill();
    x.globalAlpha = 1;
  }
  text(s: string, x: number, y: number, size: number, colour: string, halo: string, middle: boolean, bold: boolean) {
    const c = this.x;
    c.font = font(size, bold); c.textAlign = middle ? 'center' : 'left'; c.lineJoin = 'round'; c.lineWidth = 3.5; c.strokeStyle = halo; c.fillStyle = colour;
    c.strokeText(s, x, y); c.fillText(s, x, y);
  }
  private widths = new Map<string, number>();
  measure(s: string, size: number) {
    const key = size + s;
    let w = this.widths.get(key);
    if (w === undefined) { this.x.font = font(size, false); w = this.x.measureText(s).width; this.widths.set(key, w); }
    return w;
  }
}

const xml = (s: string) => s.replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);
export class SVGPen implements Pen {
  private out: string[] = [];
  constructor(private measured: Pen) {}
  line(x1: number, y1: number, x2: number, y2: number, colour: string, w: number, dash: number[], alpha: number) {
    this.out.push(`<line x1="${x1.toFixed(1)}" y1="${y1.toFixed(1)}" x2="${x2.toFixed(1)}" y2="${y2.toFixed(1)}" stroke="${colour}" stroke-width="${w}"${dash.length ? ` stroke-dasharray="${dash}"` : ''} opacity="${alpha}"/>`);
  }
  shape(kind: string, x: number, y: number, r: number, colour: string, paper: string, alpha: number) {
    const fill = kind === 'ring' ? 'none' : kind === 'gone' || kind === 'unknown' || kind === 'silent' ? paper : colour, style = `fill="${fill}" stroke="${colour}" stroke-width="2"${kind === 'gone' ? ' stroke-dasharray="3"' : ''} opacity="${alpha}"`;
    if (kind === 'outside') this.out.push(`<path d="M${x} ${y - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z" ${style}/>`);
    else if (kind === 'hexagon') this.out.push(`<path d="M${corners(x, y, r).map(p => p.join(' ')).join('L')}z" ${style}/>`);
    else if (kind === 'square') this.out.push(`<rect x="${x - r * 0.85}" y="${y - r * 0.85}" width="${r * 1.7}" height="${r * 1.7}" ${style}/>`);
    else this.out.push(`<circle cx="${x}" cy="${y}" r="${r}" ${style}/>`);
    if (kind === 'silent') this.out.push(`<path d="M${x} ${y - r}a${r} ${r} 0 0 0 0 ${2 * r}z" fill="${colour}"/>`);
  }
  area(points: [number, number][], colour: string, alpha: number) { this.out.push(`<polygon points="${points.map(p => p.map(n => n.toFixed(1)).join()).join(' ')}" fill="${colour}" opacity="${alpha}"/>`); }
  text(s: string, x: number, y: number, size: number, colour: string, halo: string, middle: boolean, bold: boolean) {
    this.out.push(`<text x="${x.toFixed(1)}" y="${y.toFixed(1)}" font-family="system-ui, sans-serif" font-size="${size}"${bold ? ' font-weight="600"' : ''} fill="${colour}" stroke="${halo}" stroke-width="3.5" paint-order="stroke" text-anchor="${middle ? 'middle' : 'start'}">${xml(s)}</text>`);
  }
  measure(s: string, size: number) { return this.measured.measure(s, size); }
  document(v: View, paper: string): string {
    return `<svg xmlns="http://www.w3.org/2000/svg" width="${v.width}" height="${v.height}" viewBox="0 0 ${v.width} ${v.height}"><rect width="100%" height="100%" fill="${paper}"/>${this.out.join('')}</svg>\n`;
  }
}
