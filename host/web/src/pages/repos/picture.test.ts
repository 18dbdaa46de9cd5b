import assert from 'node:assert/strict';
import { test } from 'node:test';
import { draw, step, svg } from './picture';

test('the numbers at an axis are round and at most six', () => {
  assert.deepEqual([1, 5, 6, 40, 101, 4_999].map(step), [1, 1, 2, 10, 50, 1_000]);
});

test('a picture has a bar for each value, as high as its value, and no markup of names', () => {
  const shapes = draw({
      title: 'Commits <b>',
      names: ['2026-01', '2026-02', '2026-03'],
      series: [{ label: 'commits', values: [10, 0, 5] }],
    }),
    bars = shapes.filter(s => s.kind === 'bar').slice(1);
  assert.equal(bars.length, 3);
  assert.equal(bars[0]!.h, 2 * bars[2]!.h);
  assert.equal(bars[1]!.h, 0);
  const file = svg(shapes, c => '#' + c);
  assert.match(file, /Commits &#60;b&#62;/);
  assert.match(file, />10<\/text>/);
  assert.match(file, /<title>2026-03: 5 commits<\/title>/);
});
