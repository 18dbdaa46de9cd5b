import assert from 'node:assert/strict';
import { test } from 'node:test';
import { merge, pairOf, read, withLost } from './graph';

const link = (a: string, ap: string, b: string, bp: string, more = {}) => ({
  source: { 'source-node': a, 'source-tp': ap },
  destination: { 'dest-node': b, 'dest-tp': bp },
  ...more,
});

const topology = (links: object[], nodes = ['1', '2', '10']) => ({
  'topology-id': 'switch:1',
  node: nodes.map(id => ({ 'node-id': id, 'ctl-topology:answering': id !== '10' })),
  link: links,
});

test('both directions of a link are one, links of a pair a bundle', () => {
  const g = read(
    topology([
      link('1', '1:1', '2', '2:1'),
      link('2', '2:1', '1', '1:1'),
      link('1', '1:2', '2', '2:2'),
      link('2', '2:2', '1', '1:2'),
      link('1', '1:3', '10', '10:1'),
    ]),
  );
  assert.equal(g.links.size, 2);
  assert.equal(g.links.get(pairOf('2', '1'))?.count, 2);
  assert.equal(g.links.get(pairOf('1', '2'))?.state, 'up');
  assert.equal(g.links.get(pairOf('1', '10'))?.state, 'oneway');
  assert.equal(g.nodes.get('10')?.state, 'silent');
});

test('links to unknown nodes, and of a node to itself, are left out', () => {
  assert.equal(
    read(topology([link('1', '1:1', '7', '7:1'), link('1', 'a', '1', 'b')])).links.size,
    0,
  );
});

test('what went is shown as gone', () => {
  const old = read(topology([link('1', '1:1', '2', '2:1')])),
    now = merge(old, read(topology([], ['1'])));
  assert.equal(now.nodes.get('2')?.state, 'gone');
  assert.equal(now.links.get(pairOf('1', '2'))?.state, 'gone');
});

test('what the controller knows to be lost is there after a load, with its time', () => {
  const since = '2026-11-28T10:00:00Z',
    ends = (...at: string[]) => at.map(node => ({ node, port: node + ':1' })),
    lost = [
      { topology: 'switch:1', ends: ends('1', '2'), since, name: 'a – b' },
      { topology: 'switch:1', ends: ends('7'), since, name: 'seven' },
      { topology: 'switch:2', ends: ends('8'), since, name: 'of another' },
    ],
    observed = { 'ctl-topology:source': 'x', 'ctl-topology:source-state': 'observing' };
  const g = withLost(read({ ...topology([]), ...observed }), lost);
  assert.equal(g.links.get(pairOf('1', '2'))?.state, 'gone');
  assert.equal(g.links.get(pairOf('1', '2'))?.lost, since);
  assert.equal(g.nodes.get('7')?.state, 'gone');
  assert.equal(g.nodes.get('7')?.name, 'seven');
  assert.equal(g.nodes.has('8'), false);
  const back = withLost(
    read({ ...topology([link('1', '1:1', '2', '2:1')]), ...observed }),
    lost.slice(1),
  );
  assert.equal(back.links.get(pairOf('1', '2'))?.lost, undefined);
});
