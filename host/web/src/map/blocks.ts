// Parts of a graph: islands, and the blocks (biconnected parts) of an island.
export type Adjacency = Map<string, Set<string>>;

export function islands(adj: Adjacency, order: string[]): string[][] {
  const seen = new Set<string>(),
    out: string[][] = [];
  for (const start of order) {
    if (seen.has(start)) continue;
    const part = [start];
    seen.add(start);
    for (let i = 0; i < part.length; i++)
      for (const n of adj.get(part[i]!)!)
        if (!seen.has(n)) {
          seen.add(n);
          part.push(n);
        }
    out.push(part);
  }
  return out;
}

/**
 * blocks are the biconnected parts of an island, each as its nodes (Hopcroft and Tarjan, without
 * recursion).
 */
export function blocks(adj: Adjacency, root: string): string[][] {
  const depth = new Map<string, number>([[root, 0]]),
    low = new Map<string, number>([[root, 0]]),
    out: string[][] = [],
    stack: [string, string][] = [];
  const work: { v: string; parent: string | null; rest: Iterator<string> }[] = [
    { v: root, parent: null, rest: adj.get(root)!.values() },
  ];
  while (work.length) {
    const top = work[work.length - 1]!,
      next = top.rest.next();
    if (next.done) {
      work.pop();
      const p = top.parent;
      if (p === null) continue;
      low.set(p, Math.min(low.get(p)!, low.get(top.v)!));
      if (low.get(top.v)! < depth.get(p)!) continue;
      const nodes = new Set<string>();
      for (;;) {
        const [a, b] = stack.pop()!;
        nodes.add(a).add(b);
        if (a === p && b === top.v) break;
      }
      out.push([...nodes]);
      continue;
    }
    const w = next.value;
    if (w === top.parent) continue;
    if (!depth.has(w)) {
      depth.set(w, depth.get(top.v)! + 1);
      low.set(w, depth.get(w)!);
      stack.push([top.v, w]);
      work.push({ v: w, parent: top.v, rest: adj.get(w)!.values() });
    } else if (depth.get(w)! < depth.get(top.v)!) {
      stack.push([top.v, w]);
      low.set(top.v, Math.min(low.get(top.v)!, depth.get(w)!));
    }
  }
  return out;
}

/**
 * sides are the two sides of a fabric, the smaller first: at least 60 % of the pairs between them
 * are linked; null for any other part.
 */
export function sides(nodes: string[], adj: Adjacency): [string[], string[]] | null {
  if (nodes.length < 5) return null;
  const inside = new Set(nodes),
    colour = new Map<string, number>([[nodes[0]!, 0]]),
    queue = [nodes[0]!];
  let links = 0;
  for (let i = 0; i < queue.length; i++) {
    for (const n of adj.get(queue[i]!)!) {
      if (!inside.has(n)) continue;
      links++;
      if (!colour.has(n)) {
        colour.set(n, 1 - colour.get(queue[i]!)!);
        queue.push(n);
      } else if (colour.get(n) === colour.get(queue[i]!)) return null;
    }
  }
  const a = nodes.filter(n => colour.get(n) === 0),
    b = nodes.filter(n => colour.get(n) === 1);
  if (a.length < 2 || b.length < 2 || links / 2 < 0.6 * a.length * b.length) return null;
  return a.length <= b.length ? [a, b] : [b, a];
}

/** around is a ring in its order, null for a part that is no ring. */
export function around(nodes: string[], adj: Adjacency): string[] | null {
  const inside = new Set(nodes),
    of = (v: string) => [...adj.get(v)!].filter(n => inside.has(n));
  if (nodes.length < 3 || nodes.some(v => of(v).length !== 2)) return null;
  const out = [nodes[0]!],
    seen = new Set(out);
  for (;;) {
    const next = of(out[out.length - 1]!).find(n => !seen.has(n));
    if (!next) return out;
    seen.add(next);
    out.push(next);
  }
}
