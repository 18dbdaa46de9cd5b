// Names of nodes in the place of their ids.
import { printable } from '../core/text';
import { graphs } from '../map/store';

/** nameOf is the name of a node, in the topology that is shown or else in any. */
export function nameOf(n: string, topology = ''): string {
  const names = [graphs.value?.get(topology), ...(graphs.value?.values() ?? [])].map(
    g => g?.nodes.get(n)?.name,
  );
  return names.find(x => x && x !== n) ?? n;
}

/** named is a text with the names of the switches that it has by their ids. */
export const named = (text: string): string => text.replace(/\b\d{5,}\b/g, n => nameOf(n));

/** Named shows names, and has the ids in its title. */
export const Named = ({ text, as = named(text) }: { text: string; as?: string }) => (
  <span title={as === text ? undefined : text}>{printable(as)}</span>
);
