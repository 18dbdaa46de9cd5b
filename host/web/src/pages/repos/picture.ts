// Bars beside each other, with axes and numbers: what is drawn on the page and what is saved.
import { colours } from '../../core/theme';

export interface Bars {
  title: string;
  names: string[];
  series: { label: string; values: number[] }[];
}

export type Shape =
  | { kind: 'bar'; x: number; y: number; w: number; h: number; colour: string; text: string }
  | { kind: 'line'; x: number; y: number; x2: number; y2: number; colour: string }
  | { kind: 'text'; x: number; y: number; anchor: string; colour: string; text: string };

export const width = 960,
  height = 320,
  letters = 12;
const left = 70,
  right = width - 10,
  top = 50,
  bottom = height - 30,
  hues = ['accent', 'info', 'good'];

/** step is the distance of the numbers at an axis: 1, 2 or 5 times a power of ten, at most five. */
export function step(most: number): number {
  for (let power = 1; ; power *= 10)
    for (const factor of [1, 2, 5]) if (factor * power * 5 >= most) return factor * power;
}

/** draw places the bars, the axes and the texts. */
export function draw(b: Bars): Shape[] {
  const most = Math.max(1, ...b.series.flatMap(s => s.values)),
    tick = step(most),
    scale = (bottom - top) / (Math.ceil(most / tick) * tick),
    wide = (right - left) / Math.max(1, b.names.length);
  return [
    { kind: 'text', x: 10, y: 18, anchor: 'start', colour: 'ink', text: b.title },
    ...drawLegend(b),
    ...drawScale(most, tick, scale),
    ...b.series.flatMap((s, i) => drawSeries(b, s, i, wide, scale)),
    ...drawNames(b.names, wide),
  ];
}

function drawLegend(b: Bars): Shape[] {
  return b.series.flatMap((s, i): Shape[] => {
    const x = left + (i * (right - left)) / Math.max(2, b.series.length),
      colour = hues[i % hues.length]!;
    return [
      { kind: 'bar', x, y: 28, w: letters, h: letters, colour, text: s.label },
      { kind: 'text', x: x + 18, y: 38, anchor: 'start', colour: 'soft', text: s.label },
    ];
  });
}

function drawScale(most: number, tick: number, scale: number): Shape[] {
  const out: Shape[] = [];
  for (let v = 0; v < most + tick; v += tick) {
    const y = bottom - v * scale,
      text = v.toLocaleString('en');
    out.push({ kind: 'line', x: left, y, x2: right, y2: y, colour: v ? 'line' : 'soft' });
    out.push({ kind: 'text', x: left - 8, y: y + 4, anchor: 'end', colour: 'soft', text });
  }
  return out;
}

function drawSeries(
  b: Bars,
  s: Bars['series'][number],
  index: number,
  wide: number,
  scale: number,
): Shape[] {
  const w = (wide * 0.85) / b.series.length;
  return s.values.map((v, i) => ({
    kind: 'bar',
    x: left + i * wide + wide * 0.075 + index * w,
    y: bottom - v * scale,
    w,
    h: v * scale,
    colour: hues[index % hues.length]!,
    text: `${b.names[i]}: ${v.toLocaleString('en')} ${s.label}`,
  }));
}

/** drawNames writes as many names as have room. */
function drawNames(names: string[], wide: number): Shape[] {
  const longest = Math.min(20, Math.max(1, ...names.map(n => n.length))),
    every = Math.max(1, Math.ceil((longest * 7 + 10) / wide));
  return names.flatMap((n, i): Shape[] => {
    const x = left + (i + 0.5) * wide,
      text = n.length > 20 ? n.slice(0, 19) + '…' : n;
    return i % every
      ? []
      : [{ kind: 'text', x, y: bottom + 18, anchor: 'middle', colour: 'soft', text }];
  });
}

const escape = (s: string): string =>
  s
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g, '')
    .replace(/[&<>"]/g, c => `&#${c.charCodeAt(0)};`);

/** svg writes a picture as a file that needs no other; colour says what a name of a colour is. */
export function svg(shapes: Shape[], colour: (name: string) => string): string {
  const body = shapes.map(s => {
    const c = colour(s.colour);
    if (s.kind === 'line')
      return `<line x1="${s.x}" y1="${s.y}" x2="${s.x2}" y2="${s.y2}" stroke="${c}"/>`;
    if (s.kind === 'text')
      return (
        `<text x="${s.x}" y="${s.y}" text-anchor="${s.anchor}" ` +
        `fill="${c}">${escape(s.text)}</text>`
      );
    return (
      `<rect x="${s.x}" y="${s.y}" width="${s.w}" height="${s.h}" fill="${c}">` +
      `<title>${escape(s.text)}</title></rect>`
    );
  });
  return (
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" ` +
    `font-family="sans-serif" font-size="${letters}">\n` +
    `<rect width="${width}" height="${height}" fill="${colour('paper')}"/>\n` +
    body.join('\n') +
    '\n</svg>\n'
  );
}

/** png paints a picture at twice its size. */
export async function png(shapes: Shape[]): Promise<Blob> {
  const canvas = document.createElement('canvas'),
    x = canvas.getContext('2d')!,
    colour = colours();
  canvas.width = width * 2;
  canvas.height = height * 2;
  x.scale(2, 2);
  x.fillStyle = colour('paper');
  x.fillRect(0, 0, width, height);
  x.font = `${letters}px sans-serif`;
  for (const s of shapes) {
    x.fillStyle = x.strokeStyle = colour(s.colour);
    if (s.kind === 'bar') x.fillRect(s.x, s.y, s.w, s.h);
    else if (s.kind === 'text') {
      x.textAlign = s.anchor === 'middle' ? 'center' : (s.anchor as CanvasTextAlign);
      x.fillText(s.text, s.x, s.y);
    } else {
      x.beginPath();
      x.moveTo(s.x, s.y);
      x.lineTo(s.x2, s.y2);
      x.stroke();
    }
  }
  const blob = await new Promise<Blob | null>(done => {
    canvas.toBlob(done);
  });
  if (!blob) throw new Error('The browser cannot write a PNG of this size.');
  return blob;
}
