import assert from 'node:assert/strict';
import { test } from 'node:test';
import { namedSpans, portsOf, spans } from './ports';

test('ports are written as spans, and read back', () => {
  for (const [list, text] of [
    [[1, 2, 3, 7], '1-3, 7'],
    [[5], '5'],
    [[], ''],
  ] as [number[], string][]) {
    assert.equal(spans(list), text);
    assert.deepEqual(portsOf(text), list);
  }
});

test('what is not a port is refused', () => {
  for (const text of ['0', '4-2', 'x', '1-99999']) assert.throws(() => portsOf(text));
});

test('names of ports that end with a number are spans, too', () => {
  assert.equal(namedSpans(['port1', 'port2', 'eth0', 'eth1', 'uplink']), '1-2, eth0-1, uplink');
});
