// The state of a node, as it is shown everywhere.
import { Node } from './graph';
import { Mark, Tone } from '../core/ui';

export const nodeTones: Record<Node['state'], Tone> = {
  answering: 'good',
  silent: 'warn',
  gone: 'soft',
  outside: 'info',
  unknown: 'soft',
};

/** StateOf shows the state of a node. */
export const StateOf = ({ n }: { n: Node }) => <Mark tone={nodeTones[n.state]}>{n.state}</Mark>;
