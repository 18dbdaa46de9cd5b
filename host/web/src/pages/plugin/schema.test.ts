import assert from 'node:assert';
import { test } from 'node:test';
import { cellOf, format, inputOf, rowsOf, valuesAt } from './schema';

const machines = {
  title: 'machine',
  tree: 'racks:racks',
  path: ['racks', 'rack', 'machine'],
  columns: [
    { key: 'name', title: 'rack', above: 1 },
    { key: 'name', title: 'name' },
  ],
};

const document = {
  'racks:racks': {
    rack: [{ name: 'r1', machine: [{ name: 'a' }, { name: 'b' }] }, { name: 'r2' }],
  },
};

test('entries of lists in lists are rows', () => {
  const rows = rowsOf(document, machines);
  assert.deepEqual(
    rows.map(r => machines.columns.map(c => cellOf(c, r))),
    [
      ['r1', 'a'],
      ['r1', 'b'],
    ],
  );
  assert.deepEqual(rowsOf({}, machines), []);
  assert.deepEqual(rowsOf(undefined, machines), []);
});

test('values are written by their format', () => {
  const as = (f: string, v: unknown) => format({ key: '', title: '', format: f }, v);
  assert.equal(as('mac', '00-1A-2b-3c-4d-5e'), '00:1a:2b:3c:4d:5e');
  assert.equal(as('bytes', 1536), '1.5 KiB');
  assert.equal(as('rate', '2500000000'), '2.5 Gbit/s');
  assert.equal(as('age', 3700), '1h1m');
  assert.equal(as('age', 'never'), 'never');
  assert.equal(format({ key: '', title: '', unit: 'W' }, 7), '7 W');
  assert.equal(format({ key: '', title: '' }, [1, 2]), '1 2');
  assert.equal(format({ key: '', title: '' }, undefined), '');
});

test('what is typed is the input', () => {
  const field = (name: string, type: string, more = {}) =>
    ({ name, title: name, type, ...more }) as Parameters<typeof inputOf>[0][0];
  const fields = [
    field('n', 'number'),
    field('b', 'boolean'),
    field('e', 'empty'),
    field('t', 'text'),
    field('l', 'number', { several: true }),
    field('j', 'json'),
    field('left', 'text'),
  ];
  assert.deepEqual(
    inputOf(fields, { n: '7', b: 'false', e: 'true', t: 'x', l: '1, 2', j: '{"a":1}', left: '' }),
    { n: 7, b: false, e: [null], t: 'x', l: [1, 2], j: { a: 1 } },
  );
  assert.throws(() => inputOf(fields, { n: 'x' }), /n: “x” is no number/);
  assert.throws(() => inputOf(fields, { j: '{' }), /no JSON/);
});

test('a leafref has the values of its list', () => {
  const ref = { plugin: 'racks', tree: 'racks:racks', path: 'racks/rack/machine', key: 'name' },
    page = { plugin: 'racks', tables: [machines], operations: [], streams: [] };
  assert.deepEqual(
    valuesAt({ name: 'm', title: 'm', type: 'text', ref }, page, { 'racks:racks': document }),
    ['a', 'b'],
  );
});
