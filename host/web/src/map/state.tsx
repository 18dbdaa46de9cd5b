// The state of a node, as it is shown everywhere.
import { age, stamp } from '../core/data';
import { Node } from './graph';
import { Mark, Tone } from '../core/ui';

export const nodeTones: Record<Node['state'], Tone> = {
  answering: 'good',
  silent: 'warn',
  gone: 'bad',
  outside: 'info',
  unknown: 'soft',
};

/** StateOf shows the state of a node, and when it was seen last if it does not answer now. */
export const StateOf = ({ n }: { n: Node }) => (
  <Mark tone={nodeTones[n.state]}>
    {n.state}
    {n.seen && n.state !== 'answering' && (
      <span title={stamp(n.seen)}>, last seen {age(n.seen)}</span>
    )}
  </Mark>
);
