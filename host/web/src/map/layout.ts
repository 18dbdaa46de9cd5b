// Layout by pattern: trees, rings, fabrics, rings of rings; forces only for parts without a
// pattern. The same graph is always drawn in the same way.
import {
  SimulationNodeDatum,
  forceCollide,
  forceLink,
  forceManyBody,
  forceSimulation,
  forceX,
  forceY,
} from 'd3-force';
import { natural } from '../core/text';
import { Adjacency, around, blocks, islands, sides } from './blocks';
import { Graph, Net, Point, neighbours } from './graph';

export const unit = 90; // between the centres of neighbours, in points at zoom 1

export type Places = Map<string, Point>;

/** Piece is a laid out part: its places, and the circle that holds them. */
interface Piece {
  at: Places;
  x: number;
  y: number;
  r: number;
}

function piece(at: Places): Piece {
  const p = [...at.values()],
    xs = p.map(q => q.x),
    ys = p.map(q => q.y);
  const x = (Math.min(...xs) + Math.max(...xs)) / 2,
    y = (Math.min(...ys) + Math.max(...ys)) / 2;
  return { at, x, y, r: Math.max(...p.map(q => Math.hypot(q.x - x, q.y - y))) + unit * 0.4 };
}

function moved(from: Places, turn: number, dx: number, dy: number, into: Places): void {
  const c = Math.cos(turn),
    s = Math.sin(turn);
  for (const [id, p] of from)
    into.set(id, { x: p.x * c - p.y * s + dx, y: p.x * s + p.y * c + dy });
}

/** tree is a tidy tree: the centre above, children below in natural order. */
function tree(nodes: string[], adj: Adjacency, name: (id: string) => string): Places {
  const degree = new Map(nodes.map(n => [n, adj.get(n)!.size])),
    left = new Set(nodes);
  for (let edge = nodes.filter(n => degree.get(n)! <= 1); left.size > 2 && edge.length; ) {
    const next: string[] = [];
    for (const n of edge) {
      left.delete(n);
      for (const m of adj.get(n)!)
        if (left.has(m)) {
          degree.set(m, degree.get(m)! - 1);
          if (degree.get(m) === 1) next.push(m);
        }
    }
    edge = next;
  }
  const root = [...left].sort(
    (a, b) => adj.get(b)!.size - adj.get(a)!.size || natural(name(a), name(b)),
  )[0]!;
  const at: Places = new Map(),
    children = new Map<string, string[]>(),
    order = [root],
    seen = new Set(order),
    level = new Map([[root, 0]]);
  for (let i = 0; i < order.length; i++) {
    const v = order[i]!,
      below = [...adj.get(v)!].filter(n => !seen.has(n)).sort((a, b) => natural(name(a), name(b)));
    children.set(v, below);
    below.forEach(n => {
      seen.add(n);
      level.set(n, level.get(v)! + 1);
      order.push(n);
    });
  }
  // Many leaves of one parent are a block below it rather than a line.
  const width = new Map<string, number>(),
    columns = (v: string) => {
      const c = children.get(v)!;
      return c.length > 8 && c.every(n => !children.get(n)!.length)
        ? Math.ceil(Math.sqrt(c.length * 1.5))
        : 0;
    };
  for (const v of [...order].reverse())
    width.set(
      v,
      columns(v) ||
        Math.max(
          1,
          children.get(v)!.reduce((s, n) => s + width.get(n)!, 0),
        ),
    );
  const leftOf = new Map([[root, 0]]);
  for (const v of order) {
    const x0 = leftOf.get(v)!,
      c = children.get(v)!,
      w = columns(v);
    at.set(
      v,
      at.get(v) ?? { x: (x0 + width.get(v)! / 2) * unit * 1.1, y: level.get(v)! * unit * 1.1 },
    );
    let x = x0;
    c.forEach((n, i) => {
      leftOf.set(n, w ? x0 + (i % w) : x);
      if (w)
        at.set(n, {
          x: (x0 + (i % w) + 0.5) * unit * 1.1,
          y: (level.get(v)! + 1 + Math.floor(i / w) * 0.6) * unit * 1.1,
        });
      x += width.get(n)!;
    });
  }
  return at;
}

/** fabric is a row of spines over a grid of leaves in natural order. */
function fabric([spines, leaves]: [string[], string[]], name: (id: string) => string): Places {
  const by = (a: string, b: string) => natural(name(a), name(b)),
    at: Places = new Map();
  const columns =
      leaves.length <= 12
        ? leaves.length
        : Math.max(spines.length, Math.ceil(Math.sqrt(leaves.length * 2.4))),
    width = Math.max(columns - 1, spines.length - 1) * unit * 1.15;
  const row = (n: number, i: number) => (n < 2 ? width / 2 : (i * width) / (n - 1));
  spines.sort(by).forEach((id, i) =>
    at.set(id, {
      x: spines.length < columns ? ((i + 0.5) * width) / spines.length : row(spines.length, i),
      y: 0,
    }),
  );
  leaves.sort(by).forEach((id, i) =>
    at.set(id, {
      x: row(columns, i % columns),
      y: unit * 1.9 + Math.floor(i / columns) * unit * 0.75,
    }),
  );
  return at;
}

function force(nodes: string[], adj: Adjacency): Places {
  const inside = new Set(nodes),
    n = nodes.length,
    index = new Map(nodes.map((id, i) => [id, i]));
  const sim: SimulationNodeDatum[] = nodes.map((_, i) => ({
    x: Math.cos(i * 2.399) * unit * Math.sqrt(i + 1),
    y: Math.sin(i * 2.399) * unit * Math.sqrt(i + 1),
  }));
  const links = nodes.flatMap(a =>
    [...adj.get(a)!]
      .filter(b => inside.has(b) && index.get(a)! < index.get(b)!)
      .map(b => ({ source: index.get(a)!, target: index.get(b)! })),
  );
  const s = forceSimulation(sim)
    .force('link', forceLink(links).distance(unit).strength(0.6))
    .force('charge', forceManyBody().strength(-unit * 8))
    .force('collide', forceCollide(unit * 0.55))
    .force('x', forceX().strength(0.03))
    .force('y', forceY().strength(0.05))
    .stop();
  for (let i = 0; i < (n > 400 ? 120 : 300); i++) s.tick();
  return new Map(nodes.map((id, i) => [id, { x: sim[i]!.x!, y: sim[i]!.y! }]));
}

/**
 * island lays out one connected part by its blocks: the largest in the middle, what hangs on it
 * outside.
 */
function island(nodes: string[], adj: Adjacency, name: (id: string) => string): Places {
  const links = nodes.reduce((s, n) => s + adj.get(n)!.size, 0) / 2;
  if (nodes.length === 1) return new Map([[nodes[0]!, { x: 0, y: 0 }]]);
  if (links === nodes.length - 1) return tree(nodes, adj, name);
  const all = blocks(adj, nodes[0]!),
    of = new Map<string, number[]>(nodes.map(n => [n, []]));
  all.forEach((b, i) => b.forEach(n => of.get(n)!.push(i)));
  const largest = all.reduce((best, b, i) => (b.length > all[best]!.length ? i : best), 0),
    placed = new Set<number>();

  /**
   * hanging lays out what hangs on a node besides one block: the node at 0,0, the rest to the
   * right.
   */
  function hanging(v: string): Piece {
    const mine = of.get(v)!.filter(i => !placed.has(i));
    mine.forEach(i => placed.add(i));
    const parts = mine.map(i => block(i, v)).sort((a, b) => b.r - a.r),
      at: Places = new Map([[v, { x: 0, y: 0 }]]);
    const sector = parts.length < 2 ? Math.PI : Math.PI * 1.05;
    const angle = (p: Piece, push: number) =>
      2 * Math.asin(Math.min(0.98, (p.r * 0.92) / Math.max(p.r, Math.hypot(p.x, p.y) + push)));
    let push = 0;
    while (push < unit * 60 && parts.reduce((s, p) => s + angle(p, push), 0) > sector)
      push += unit * 0.25;
    let turn = -parts.reduce((s, p) => s + angle(p, push), 0) / 2;
    for (const p of parts) {
      const a = angle(p, push);
      moved(p.at, turn + a / 2, Math.cos(turn + a / 2) * push, Math.sin(turn + a / 2) * push, at);
      turn += a;
    }
    at.set(v, { x: 0, y: 0 });
    return piece(at);
  }

  /**
   * block lays out a block and what hangs on it; entry, if any, is at 0,0 and the rest to the
   * right.
   */
  function block(i: number, entry: string | null): Piece {
    const nodes = all[i]!,
      at: Places = new Map(),
      others = nodes.filter(n => n !== entry);
    if (nodes.length === 2) {
      const far = others[0]!,
        h = hanging(far);
      moved(h.at, 0, unit, 0, at);
      const out = piece(at);
      at.set(entry!, { x: 0, y: 0 });
      return { ...out, at };
    }
    const ring = around(nodes, adj),
      hung = new Map(others.map(n => [n, hanging(n)]));
    if (ring) {
      const start = entry ? ring.indexOf(entry) : 0,
        order = ring.map((_, k) => ring[(k + start) % ring.length]!);
      const need = order.map(n =>
          n === entry
            ? unit
            : Math.max(unit * 0.95, hung.get(n)!.at.size > 1 ? hung.get(n)!.r * 2 : 0),
        ),
        sum = need.reduce((a, b) => a + b, 0);
      // What hangs on the ring is farther out than the ring, where there is more room.
      const out = order
          .filter(n => n !== entry && hung.get(n)!.at.size > 1)
          .map(n => Math.hypot(hung.get(n)!.x, hung.get(n)!.y)),
        round = sum / (2 * Math.PI);
      const R = Math.max(
        unit * 0.8,
        round - (out.length ? Math.min(...out) * 0.9 : 0),
        round * 0.6,
        (order.length * unit * 0.7) / (2 * Math.PI),
      );
      let turn = entry
        ? Math.PI - (need[0]! / sum) * Math.PI
        : -Math.PI / 2 - (need[0]! / sum) * Math.PI;
      order.forEach((n, k) => {
        const a = turn + (need[k]! / sum) * Math.PI;
        turn += (need[k]! / sum) * 2 * Math.PI;
        const x = Math.cos(a) * R + (entry ? R : 0),
          y = Math.sin(a) * R;
        if (n === entry) at.set(n, { x: 0, y: 0 });
        else moved(hung.get(n)!.at, a, x, y, at);
      });
    } else {
      const two = sides(nodes, adj),
        own = two ? fabric(two, name) : force(nodes, adj),
        c = piece(own),
        e = entry ? own.get(entry)! : { x: c.x, y: c.y };
      const turn = entry ? -Math.atan2(c.y - e.y, c.x - e.x) : 0;
      for (const n of others) {
        const p = own.get(n)!,
          cos = Math.cos(turn),
          sin = Math.sin(turn),
          x = (p.x - e.x) * cos - (p.y - e.y) * sin,
          y = (p.x - e.x) * sin + (p.y - e.y) * cos;
        moved(
          hung.get(n)!.at,
          two ? (Math.PI / 2) * (p.y > 0 ? 1 : -1) : Math.atan2(p.y - c.y, p.x - c.x) + turn,
          x,
          y,
          at,
        );
      }
      if (entry) at.set(entry, { x: 0, y: 0 });
    }
    if (!entry) return piece(at);
    const rest = new Map([...at].filter(([n]) => n !== entry));
    return { ...piece(rest), at };
  }

  placed.add(largest);
  return block(largest, null).at;
}

/**
 * layout places all nodes: islands apart, the largest first, packed in rows of about the shape of
 * the window, ratio times as wide as high.
 */
export function layout(g: Net, ratio: number): Places {
  const adj: Adjacency = new Map(),
    name = (id: string) => g.nodes.get(id)!.name,
    order = [...g.nodes.keys()].sort((a, b) => natural(name(a), name(b)));
  for (const [id, set] of neighbours(g))
    adj.set(id, new Set([...set].sort((a, b) => natural(name(a), name(b)))));
  const alone = order.filter(n => !adj.get(n)!.size),
    parts = islands(
      adj,
      order.filter(n => adj.get(n)!.size),
    ).map(nodes => island(nodes, adj, name));
  if (alone.length) {
    // nodes without links are one grid
    const columns = Math.ceil(Math.sqrt(alone.length * ratio));
    parts.push(
      new Map(
        alone.map((id, i) => [
          id,
          { x: (i % columns) * unit * 1.1, y: Math.floor(i / columns) * unit * 0.75 },
        ]),
      ),
    );
  }
  const boxes = parts
    .map(at => {
      const p = [...at.values()],
        x = Math.min(...p.map(q => q.x)),
        y = Math.min(...p.map(q => q.y));
      return {
        at,
        x,
        y,
        w: Math.max(...p.map(q => q.x)) - x + unit * 1.4,
        h: Math.max(...p.map(q => q.y)) - y + unit * 1.2,
      };
    })
    .sort((a, b) => b.w * b.h - a.w * a.h);
  /** pack sets the boxes in rows of at most a width. */
  const pack = (width: number) => {
    let x = 0,
      y = 0,
      high = 0,
      widest = 0;
    const at = boxes.map(b => {
      if (x > 0 && x + b.w > width) {
        x = 0;
        y += high;
        high = 0;
      }
      const place = { x, y };
      x += b.w;
      widest = Math.max(widest, x);
      high = Math.max(high, b.h);
      return place;
    });
    return { at, zoom: Math.min(ratio / widest, 1 / (y + high)) };
  };
  let sum = 0;
  const best = boxes
      .map(b => pack(Math.max((sum += b.w), boxes[0]!.w)))
      .reduce((a, b) => (b.zoom > a.zoom * 1.001 ? b : a), {
        at: [] as { x: number; y: number }[],
        zoom: 0,
      }),
    out: Places = new Map();
  boxes.forEach((b, i) => {
    for (const [id, p] of b.at)
      out.set(id, { x: p.x - b.x + best.at[i]!.x, y: p.y - b.y + best.at[i]!.y });
  });
  return out;
}

/**
 * Shape is what stands out in a graph: the core, which is the block that the rest of its island
 * hangs on; links that a fabric lacks; and of each node the number of its fabric, where that has
 * too many links to draw each.
 */
export interface Shape {
  core: Set<string>;
  missing: [string, string][];
  fabric: Map<string, number>;
}

const manyLinks = 1000;

export function shape(g: Graph): Shape {
  const adj = neighbours(g),
    core = new Set<string>(),
    missing: [string, string][] = [],
    fabric = new Map<string, number>();
  let count = 0;
  for (const nodes of islands(adj, [...g.nodes.keys()])) {
    const all = nodes.length < 5 ? [] : blocks(adj, nodes[0]!),
      largest = all.reduce((a, b) => (b.length > a.length ? b : a), [] as string[]);
    if (largest.length < nodes.length / 2) largest.forEach(n => core.add(n));
    for (const b of all) {
      const two = sides(b, adj),
        lacks = two
          ? two[0].flatMap(x =>
              two[1].filter(y => !adj.get(x)!.has(y)).map((y): [string, string] => [x, y]),
            )
          : [];
      // More than a tenth is a pattern, no fault.
      if (!two || lacks.length > (two[0].length * two[1].length) / 10) continue;
      missing.push(...lacks);
      if (two[0].length * two[1].length > manyLinks) {
        b.forEach(n => fabric.set(n, count));
        count++;
      }
    }
  }
  return { core, missing, fabric };
}

/** beside places nodes that are new next to a neighbour, all others stay. */
export function beside(g: Graph, have: Places): Places {
  const adj = neighbours(g),
    out: Places = new Map([...have].filter(([id]) => g.nodes.has(id))),
    fresh = [...g.nodes.keys()].filter(id => !out.has(id));
  const free = (x: number, y: number) =>
    [...out.values()].every(p => Math.hypot(p.x - x, p.y - y) > unit * 0.6);
  for (const id of fresh) {
    const near = [...adj.get(id)!].map(n => out.get(n)).find(Boolean) ?? { x: 0, y: -unit };
    for (let k = 0; ; k++) {
      const x = near.x + Math.cos(k * 2.399) * unit * (0.9 + k * 0.12),
        y = near.y + Math.sin(k * 2.399) * unit * (0.9 + k * 0.12);
      if (free(x, y)) {
        out.set(id, { x, y });
        break;
      }
    }
  }
  return out;
}
