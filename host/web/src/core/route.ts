// What is shown is in the address, after the #: it can be linked to, reloaded and gone back to.
import { signal } from '@preact/signals';

export interface Route {
  path: string[];
  query: URLSearchParams;
}

function read(): Route {
  const [path = '', query = ''] = location.hash.replace(/^#\/?/, '').split('?');
  return {
    path: path
      .split('/')
      .filter(Boolean)
      .map(s => {
        try {
          return decodeURIComponent(s);
        } catch {
          return s;
        }
      }),
    query: new URLSearchParams(query),
  };
}

export const route = signal<Route>(read());

addEventListener('hashchange', () => {
  route.value = read();
});

/** to writes the address of a page. */
export function to(path: (string | number)[], query: Record<string, string> = {}): string {
  const q = new URLSearchParams(Object.entries(query).filter(([, v]) => v !== '')).toString();
  return '#/' + path.map(p => encodeURIComponent(String(p))).join('/') + (q ? '?' + q : '');
}

export function go(path: (string | number)[], query: Record<string, string> = {}): void {
  location.hash = to(path, query);
}

/** setQuery changes parameters of the address without a step in the history. */
export function setQuery(change: Record<string, string>): void {
  const all = Object.fromEntries(route.value.query);
  history.replaceState(null, '', to(route.value.path, { ...all, ...change }));
  route.value = read();
}
