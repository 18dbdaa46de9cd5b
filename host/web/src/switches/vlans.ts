// The VLANs of all switches, and what does not match at the ends of links: one reading for the map
// and the page.
import { rpc } from '../core/api';
import { Operations } from '../api/types';

type Output = Operations['switch:vlans']['output'];

/** VlanEntry is a VLAN of a switch. */
export type VlanEntry = NonNullable<Output['entry']>[number];

/** Mismatch is a VLAN that does not match at the ends of a link, or that has several names. */
export type Mismatch = NonNullable<Output['mismatch']>[number];

/** CarriedLink is a link of which both ends have the VLAN. */
export type CarriedLink = NonNullable<Output['link']>[number];

export interface Vlans {
  entries: VlanEntry[];
  mismatches: Mismatch[];
  links: CarriedLink[];
  partial: string[];
}

/** readVlans asks all switches for one VLAN, or for all. */
export async function readVlans(o: {
  vlan?: number;
  background?: boolean;
  signal?: AbortSignal;
}): Promise<Vlans> {
  const r = await rpc('switch:vlans', o.vlan ? { 'vlan-id': o.vlan } : {}, {
    ...(o.background ? { background: true } : {}),
    ...(o.signal ? { signal: o.signal } : {}),
  });
  return {
    entries: r.entry ?? [],
    mismatches: r.mismatch ?? [],
    links: r.link ?? [],
    partial: r.partial ?? [],
  };
}

/** kindText says in words how a VLAN does not match. */
export const kindText: Record<NonNullable<Mismatch['kind']>, string> = {
  'one-end': 'one end of a link only',
  tagging: 'tagged at one end of a link, untagged at the other',
  name: 'has several names',
};
