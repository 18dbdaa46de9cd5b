import assert from 'node:assert/strict';
import { test } from 'node:test';
import {
  Secrets,
  isSecretName,
  keptText,
  mask,
  textWithSecrets,
  textWithoutSecrets,
} from './secrets';

test('names of secrets are recognized, whatever module they are of', () => {
  for (const name of ['community', 'cli-password', 'switchdb:community', 'privateKey', 'auth-key'])
    assert.ok(isSecretName(name), name);
  for (const name of ['community-id', 'user', 'host-key', 'password-age'])
    assert.ok(!isSecretName(name), name);
});

test('a text is shown and kept without its secrets, and sent with them', () => {
  const found: Secrets = new Map(),
    text = '{"input":{"list":[{"community":"public","node-ip":"10.0.0.1"},{"cli-password":7}]}}',
    shown = textWithoutSecrets(text, false, found);
  assert.ok(!shown.includes('public'));
  assert.equal(JSON.parse(shown).input.list[0].community, mask);
  assert.equal(keptText(shown, false), shown);
  assert.deepEqual(JSON.parse(textWithSecrets(shown, false, found)), {
    input: { list: [{ community: 'public', 'node-ip': '10.0.0.1' }, { 'cli-password': '7' }] },
  });
});

test('a form is masked, too', () => {
  const shown = textWithoutSecrets('username=bob&password=a+b', true);
  assert.equal(new URLSearchParams(shown).get('password'), mask);
  assert.equal(new URLSearchParams(shown).get('username'), 'bob');
});

test('of a text that cannot be read nothing is kept', () => {
  assert.equal(keptText('<community>public</community>', false), '');
});
