// What the chosen layer draws, in one line.
import { Mark } from '../../core/ui';

/** Key says in one line what the layer draws. */
export function Key({ kind }: { kind: string }) {
  return (
    <p class="small mapkey">
      {kind === 'vlan' ? (
        <>
          <Mark tone="good">has the VLAN</Mark> <Mark tone="soft">has not</Mark>; thick links carry
          it at both ends; ! one end of a link does not carry it.
        </>
      ) : kind === 'stp' ? (
        <>
          <Mark tone="good">root</Mark> <Mark tone="warn">has a blocked port</Mark>{' '}
          <Mark tone="soft">other switches</Mark>; thick links forward, dashed ones are blocked at
          one end.
        </>
      ) : kind === 'bier' ? (
        <>
          ▲ in: ingress, ▼ out: egress; ✓ applied, ! at risk, ? unverified, … pending, ⊘
          unreachable, ✕ failed; thick links carry the channel, with the bits that go over each: 0xc
          is the BFR-ids 3 and 4. A ring is a router in between.
        </>
      ) : (
        <>
          <Mark tone="good">answering</Mark> <Mark tone="warn">silent</Mark>{' '}
          <Mark tone="soft">gone, or not known</Mark> <Mark tone="info">outside of the list</Mark>;
          links: solid both ends report it, dashed one end, dotted inferred.
        </>
      )}
    </p>
  );
}
