// Secrets in requests: they are sent, but neither shown nor kept in the storage of the browser.

/** mask is shown in place of a secret. */
export const mask = '**********';

const endings = [
  'password',
  'passphrase',
  'passwd',
  'secret',
  'community',
  'credential',
  'credentials',
  'token',
  '(private|auth|priv|pre-?shared|encrypt)-?key',
];

const secretName = new RegExp(`(${endings.join('|')})$`, 'i');

/** isSecretName reports whether a member of this name holds a secret. */
export const isSecretName = (name: string): boolean => secretName.test(name);

/** Secrets are the secrets of a request, by the path of their member. */
export type Secrets = Map<string, string>;

/** withoutSecrets is a value with masks in place of its secrets, which are added to found. */
export function withoutSecrets(v: unknown, found: Secrets = new Map(), at = ''): unknown {
  if (Array.isArray(v)) return v.map((x, i) => withoutSecrets(x, found, `${at}/${i}`));
  if (!v || typeof v !== 'object') return v;
  return Object.fromEntries(
    Object.entries(v).map(([name, x]) => {
      const path = `${at}/${name}`;
      if (!isSecretName(name) || typeof x === 'object' || x === undefined || x === '')
        return [name, withoutSecrets(x, found, path)];
      if (x !== mask) found.set(path, String(x));
      return [name, mask];
    }),
  );
}

/** withSecrets is a value with the secrets in place of their masks. */
export function withSecrets(v: unknown, secrets: Secrets, at = ''): unknown {
  if (Array.isArray(v)) return v.map((x, i) => withSecrets(x, secrets, `${at}/${i}`));
  if (!v || typeof v !== 'object') return v === mask ? (secrets.get(at) ?? v) : v;
  return Object.fromEntries(
    Object.entries(v).map(([name, x]) => [name, withSecrets(x, secrets, `${at}/${name}`)]),
  );
}

/** textWithoutSecrets masks the secrets of a text that is JSON or a form; other text stays. */
export function textWithoutSecrets(text: string, isForm: boolean, found?: Secrets): string {
  if (!text) return text;
  try {
    return writeText(withoutSecrets(readText(text, isForm), found), isForm);
  } catch {
    return text; // what is not complete yet is not changed while it is written
  }
}

/** textWithSecrets puts the secrets into a text in place of their masks. */
export function textWithSecrets(text: string, isForm: boolean, secrets: Secrets): string {
  if (!secrets.size || !text.includes('*')) return text;
  try {
    return writeText(withSecrets(readText(text, isForm), secrets), isForm);
  } catch {
    return text;
  }
}

/** keptText is what may be kept of a text: nothing where secrets cannot be found in it. */
export function keptText(text: string, isForm: boolean): string {
  try {
    return text && writeText(withoutSecrets(readText(text, isForm)), isForm);
  } catch {
    return '';
  }
}

/** readText reads JSON, or the members of a form. */
export const readText = (text: string, isForm: boolean): unknown =>
  isForm ? Object.fromEntries(new URLSearchParams(text)) : JSON.parse(text);

/** writeText writes JSON, or the members of a form. */
export const writeText = (v: unknown, isForm: boolean): string =>
  isForm
    ? new URLSearchParams(
        Object.entries((v ?? {}) as Record<string, unknown>).map(([k, x]) => [k, String(x)]),
      ).toString()
    : JSON.stringify(v ?? {}, null, 2);
