import assert from 'node:assert/strict';
import { test } from 'node:test';
import { snippet } from './snippet';

const request = {
  verb: 'POST',
  url: "http://127.0.0.1/it's",
  body: '{"a":"it\'s"}',
  type: 'application/json',
  stream: false,
};

test('a request in a shell is one word for each argument', () => {
  assert.equal(
    snippet('curl', request),
    "curl -u USER -H 'Content-Type: application/json' -d '{\"a\":\"it'\\''s\"}'" +
      " 'http://127.0.0.1/it'\\''s'",
  );
  assert.match(snippet('curl', { ...request, verb: 'DELETE', body: '' }), /-X DELETE/);
  assert.match(snippet('curl', { ...request, verb: 'GET', body: '', stream: true }), / -N -H /);
});

test('a request in Go quotes what has backquotes', () => {
  assert.match(snippet('go', { ...request, body: 'a`b' }), /NewReader\("a`b"\)/);
  assert.match(snippet('go', { ...request, body: '' }), /, nil\)/);
});
