// Channels of BIER and their states.
import { RowOf } from '../api/rows';
import { rpc } from '../core/api';

export const signs: Record<string, string> = {
  applied: '✓',
  'at-risk': '!',
  unverified: '?',
  pending: '…',
  unreachable: '⊘',
  failed: '✕',
};

/** signOf is the sign of a state, and the state itself where there is none. */
export const signOf = (state: string | undefined): string => signs[state ?? ''] ?? state ?? '';

/** channelsOf names the channels of a topology; none while BIER is not installed. */
export const channelsOf = (topology: string): Promise<string[]> =>
  rpc('bier-channel-api:get-channel', { 'topology-id': topology }, { background: true }).then(
    r => (r['channel-name'] ?? []).map(c => c.name),
    () => [],
  );

/** channelState is the worst of its routers. */
export function channelState(c: Channel): string {
  if (!c['ingress-node']) return 'not deployed';
  return (
    c.state ??
    Object.keys(signs)
      .reverse()
      .find(s => c.deployment?.some(d => d.state === s)) ??
    'deployed'
  );
}

/** Deployment is the state of a channel on a router. */
export type Deployment = NonNullable<Channel['deployment']>[number];

/** Channel is a channel as it was made, and what became of it. */
export type Channel = RowOf<'bier-channel-api:query-channel', 'channel'>;
