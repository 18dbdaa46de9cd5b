// What a map is drawn on: the canvas of the page, or SVG.
import { Node } from './graph';
import { Palette, Type } from './palette';

export type Kind = Node['state'] | 'square' | 'hexagon' | 'ring';

export interface Stroke {
  colour: string;
  width: number;
  dash: number[];
  alpha: number;
}

/** Pen draws many things of one kind at once: points and ends of lines are x and y in turn. */
export interface Pen {
  lines(ends: number[], s: Stroke): void;
  shapes(kind: Kind, at: number[], r: number, colour: string, paper: string, alpha: number): void;
  area(points: number[], colour: string, alpha: number): void;
  /**
   * text is written on a ground of a width and height, so that no line goes through it; without one
   * when that is 0.
   */
  text(
    s: string,
    x: number,
    y: number,
    w: number,
    h: number,
    type: Type,
    colour: string,
    ground: string,
    bold: boolean,
  ): void;
  measure(s: string, type: Type): number;
}

/** corners are those of a hexagon. */
const corners = (x: number, y: number, r: number): [number, number][] =>
  [0, 1, 2, 3, 4, 5].map(k => [
    x + r * 1.05 * Math.cos((k * Math.PI) / 3),
    y + r * 1.05 * Math.sin((k * Math.PI) / 3),
  ]);

const hollow = (kind: Kind) => kind === 'gone' || kind === 'unknown' || kind === 'silent';

export class CanvasPen implements Pen {
  private widths = new Map<string, number>();
  private written = '';
  constructor(
    private x: CanvasRenderingContext2D,
    private c: Palette,
  ) {}
  lines(ends: number[], s: Stroke) {
    const x = this.x;
    x.globalAlpha = s.alpha;
    x.strokeStyle = s.colour;
    x.lineWidth = s.width;
    x.setLineDash(s.dash);
    x.beginPath();
    for (let i = 0; i < ends.length; i += 4) {
      x.moveTo(ends[i]!, ends[i + 1]!);
      x.lineTo(ends[i + 2]!, ends[i + 3]!);
    }
    x.stroke();
    x.globalAlpha = 1;
    x.setLineDash([]);
  }
  shapes(kind: Kind, at: number[], r: number, colour: string, paper: string, alpha: number) {
    const x = this.x,
      each = (f: (cx: number, cy: number) => void) => {
        x.beginPath();
        for (let i = 0; i < at.length; i += 2) f(at[i]!, at[i + 1]!);
      };
    x.globalAlpha = alpha;
    x.strokeStyle = colour;
    x.fillStyle = hollow(kind) ? paper : colour;
    x.lineWidth = 2;
    x.setLineDash(kind === 'gone' ? [3, 3] : []);
    each(
      kind === 'outside'
        ? (cx, cy) => {
            x.moveTo(cx, cy - r);
            x.lineTo(cx + r, cy);
            x.lineTo(cx, cy + r);
            x.lineTo(cx - r, cy);
            x.closePath();
          }
        : kind === 'hexagon'
          ? (cx, cy) => {
              corners(cx, cy, r).forEach(([px, py], k) =>
                k ? x.lineTo(px, py) : x.moveTo(px, py),
              );
              x.closePath();
            }
          : kind === 'square'
            ? (cx, cy) => x.rect(cx - r * 0.85, cy - r * 0.85, r * 1.7, r * 1.7)
            : (cx, cy) => {
                x.moveTo(cx + r, cy);
                x.arc(cx, cy, r, 0, 7);
              },
    );
    if (kind !== 'ring') x.fill();
    if (kind === 'ring' || hollow(kind)) x.stroke();
    if (kind === 'silent') {
      each((cx, cy) => {
        x.moveTo(cx, cy);
        x.arc(cx, cy, r, Math.PI / 2, Math.PI * 1.5);
      });
      x.fillStyle = colour;
      x.fill();
    }
    x.globalAlpha = 1;
    x.setLineDash([]);
  }
  area(points: number[], colour: string, alpha: number) {
    const x = this.x;
    x.globalAlpha = alpha;
    x.fillStyle = colour;
    x.beginPath();
    for (let i = 0; i < points.length; i += 2) x.lineTo(points[i]!, points[i + 1]!);
    x.fill();
    x.globalAlpha = 1;
  }
  private write(type: Type, bold: boolean) {
    const f = `${bold ? 'bold ' : ''}${this.c.sizes[type]}px ${this.c.family}`;
    if (f !== this.written) this.x.font = this.written = f;
  }
  text(
    s: string,
    x: number,
    y: number,
    w: number,
    h: number,
    type: Type,
    colour: string,
    ground: string,
    bold: boolean,
  ) {
    const c = this.x;
    this.write(type, bold);
    if (w) {
      c.fillStyle = ground;
      c.fillRect(x - w / 2, y + 1 - this.c.sizes[type], w, h);
    }
    c.textAlign = 'center';
    c.fillStyle = colour;
    c.fillText(s, x, y);
  }
  measure(s: string, type: Type) {
    const key = type + s;
    let w = this.widths.get(key);
    if (w === undefined) {
      if (this.widths.size > 20_000) this.widths.clear();
      this.write(type, false);
      this.widths.set(key, (w = this.x.measureText(s).width));
    }
    return w;
  }
  /** reset is needed when the size of the canvas has changed, which loses what was set. */
  reset() {
    this.written = '';
  }
}

const xml = (s: string) =>
  s.replace(/[&<>"]/g, c => ({ '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' })[c]!);

/** element writes an element of SVG with those of its attributes that have a value. */
function element(
  name: string,
  attributes: Record<string, string | number | undefined>,
  content = '',
): string {
  const text = Object.entries(attributes)
    .filter(([, value]) => value !== '' && value !== undefined)
    .map(([key, value]) => ` ${key}="${xml(String(value))}"`)
    .join('');
  return content ? `<${name}${text}>${content}</${name}>` : `<${name}${text}/>`;
}

/** SVGPen draws a map as a document of SVG. */
export class SVGPen implements Pen {
  private out: string[] = [];
  constructor(
    private measured: Pen,
    private c: Palette,
  ) {}
  lines(ends: number[], s: Stroke) {
    for (let i = 0; i < ends.length; i += 4) {
      const [x1, y1, x2, y2] = ends.slice(i, i + 4).map(n => n.toFixed(1));
      this.out.push(
        element('line', {
          x1,
          y1,
          x2,
          y2,
          stroke: s.colour,
          'stroke-width': s.width,
          'stroke-dasharray': s.dash.join(','),
          opacity: s.alpha,
        }),
      );
    }
  }
  shapes(kind: Kind, at: number[], r: number, colour: string, paper: string, alpha: number) {
    const style = {
      fill: kind === 'ring' ? 'none' : hollow(kind) ? paper : colour,
      stroke: colour,
      'stroke-width': 2,
      'stroke-dasharray': kind === 'gone' ? '3' : '',
      opacity: alpha,
    };
    for (let i = 0; i < at.length; i += 2) {
      const x = at[i]!,
        y = at[i + 1]!;
      if (kind === 'outside')
        this.out.push(
          element('path', { d: `M${x} ${y - r}l${r} ${r}l${-r} ${r}l${-r} ${-r}z`, ...style }),
        );
      else if (kind === 'hexagon')
        this.out.push(
          element('path', {
            d: `M${corners(x, y, r)
              .map(p => p.join(' '))
              .join('L')}z`,
            ...style,
          }),
        );
      else if (kind === 'square')
        this.out.push(
          element('rect', {
            x: x - r * 0.85,
            y: y - r * 0.85,
            width: r * 1.7,
            height: r * 1.7,
            ...style,
          }),
        );
      else this.out.push(element('circle', { cx: x, cy: y, r, ...style }));
      if (kind === 'silent')
        this.out.push(
          element('path', { d: `M${x} ${y - r}a${r} ${r} 0 0 0 0 ${2 * r}z`, fill: colour }),
        );
    }
  }
  area(points: number[], colour: string, alpha: number) {
    this.out.push(
      element('polygon', {
        points: points.map(n => n.toFixed(1)).join(' '),
        fill: colour,
        opacity: alpha,
      }),
    );
  }
  text(
    s: string,
    x: number,
    y: number,
    w: number,
    h: number,
    type: Type,
    colour: string,
    ground: string,
    bold: boolean,
  ) {
    if (w)
      this.out.push(
        element('rect', {
          x: (x - w / 2).toFixed(1),
          y: (y + 1 - this.c.sizes[type]).toFixed(1),
          width: w.toFixed(1),
          height: h,
          fill: ground,
        }),
      );
    this.out.push(
      element(
        'text',
        {
          x: x.toFixed(1),
          y: y.toFixed(1),
          'font-size': this.c.sizes[type],
          'font-weight': bold ? 'bold' : '',
          fill: colour,
        },
        xml(s),
      ),
    );
  }
  measure(s: string, type: Type) {
    return this.measured.measure(s, type);
  }
  document(v: { width: number; height: number }): string {
    const ground = element('rect', { width: '100%', height: '100%', fill: this.c.paper });
    const root = element(
      'svg',
      {
        xmlns: 'http://www.w3.org/2000/svg',
        width: v.width,
        height: v.height,
        viewBox: `0 0 ${v.width} ${v.height}`,
        'font-family': this.c.family,
        'text-anchor': 'middle',
      },
      ground + this.out.join(''),
    );
    return root + '\n';
  }
}
