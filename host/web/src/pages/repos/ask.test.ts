import assert from 'node:assert/strict';
import { test } from 'node:test';
import { address, isReady, keyOf, parts } from './ask';

const q = (text: string) => new URLSearchParams(text);

test('one project is named in the path, several in the query', () => {
  assert.equal(address(parts.overview!, q('')), '/repoinfo/git/report');
  assert.equal(
    address(parts.new!, q('project=odl/a b&ref1=v2&ref2=v1&since=2026-01-01')),
    '/repoinfo/projects/odl/a%20b/git/new?ref1=v2&ref2=v1',
  );
  assert.equal(
    address(parts.overview!, q('project=a,b&interval=week')),
    '/repoinfo/git/report?project=a%2Cb&interval=week',
  );
});

test('a report is of a branch or of a release', () => {
  assert.equal(
    address(parts.authors!, q('branch=master&ref1=v2&ref2=v1')),
    '/repoinfo/git/report?ref1=v2&ref2=v1',
  );
  assert.equal(
    address(parts.backports!, q('branch=stable&ref1=v2&ref2=v1')),
    '/repoinfo/git/backports?branch=stable',
  );
  assert.equal(isReady(parts.authors!, q('ref1=v2')), false);
  assert.equal(isReady(parts.authors!, q('')), true);
  assert.equal(isReady(parts.backports!, q('')), false);
});

test('names that every object has are no tabs', () => {
  assert.equal(keyOf(parts, 'new', 'overview'), 'new');
  for (const asked of ['constructor', 'toString', '__proto__', 'none', '', null, undefined])
    assert.equal(keyOf(parts, asked, 'overview'), 'overview');
});
