import assert from 'node:assert/strict';
import { test } from 'node:test';
import { Net } from './graph';
import { layout } from './layout';

/** net makes a graph of pairs of nodes. */
const net = (pairs: [number, number][]): Net => ({
  nodes: new Map(pairs.flat().map(n => [String(n), { name: `n${n}` }])),
  links: new Map(pairs.map(([a, b]) => [`${a}|${b}`, { a: String(a), b: String(b) }])),
});

const ring = (from: number, n: number): [number, number][] =>
  Array.from({ length: n }, (_, i) => [from + i, from + ((i + 1) % n)]);

test('a graph is always laid out in the same way, with a finite place for each node', () => {
  const g = net([...ring(0, 8), ...ring(100, 5), [3, 50], [50, 51], [200, 201]]),
    places = layout(g, 1.6);
  assert.equal(places.size, g.nodes.size);
  for (const p of places.values()) assert.ok(Number.isFinite(p.x) && Number.isFinite(p.y));
  assert.deepEqual([...places], [...layout(g, 1.6)]);
});

test('no two nodes are at one place, and islands are apart', () => {
  const places = [...layout(net([...ring(0, 6), ...ring(10, 6)]), 1.6)];
  for (const [a, p] of places)
    for (const [b, q] of places) if (a !== b) assert.ok(Math.hypot(p.x - q.x, p.y - q.y) > 20);
  const right = (from: number) =>
    places.filter(([id]) => Number(id) >= from && Number(id) < from + 6).map(([, p]) => p.x);
  const first = right(0),
    second = right(10);
  assert.ok(Math.max(...first) < Math.min(...second) || Math.max(...second) < Math.min(...first));
});
