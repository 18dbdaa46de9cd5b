// The colours of BIER states.
import { Tone } from '../core/ui';

export const bierTone = (s: string): Tone =>
  s === 'applied' || s === 'ready' || s === 'clean'
    ? 'good'
    : s === 'failed' || s === 'unreachable'
      ? 'bad'
      : s === 'pending' || s === 'unverified' || s === 'at-risk'
        ? 'warn'
        : 'soft';
