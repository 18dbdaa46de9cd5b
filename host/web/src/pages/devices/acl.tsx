// The access lists of a switch.
import { useState } from 'preact/hooks';
import { rpc } from '../../core/api';
import { useData } from '../../core/data';
import { to } from '../../core/route';
import { Node } from '../../map/graph';
import { num } from '../../switches/vlan';
import { Confirm, Outcome, useAct } from '../../core/ui';

/** AclPart leads to the operations that write access lists, and clears them all. */
export function AclPart({ n }: { n: Node }) {
  const act = useAct(),
    [sure, setSure] = useState(false),
    said = useData(
      async s => {
        const [list, drivers] = await Promise.all([
          rpc('switch:switches', {}, { signal: s }),
          rpc('switch:drivers', {}, { signal: s }),
        ]);
        const own = list.entry?.find(e => e['node-id'] === n.id)?.driver ?? [],
          does = (d: string) => drivers.entry?.find(x => x.driver === d)?.operations,
          can = own.find(d => does(d)?.includes('ApplyAcl'));
        return can
          ? `Its driver ${can} writes ACLs.`
          : own.length && own.every(does)
            ? `Its driver ${own.join(', ')} cannot write ACLs.`
            : '';
      },
      [n.id],
    );
  return (
    <>
      <section class="card">
        {said.value && <p>{said.value}</p>}
        <p>
          ACLs are written by drivers that can; switch:acls at the console shows them where the
          driver can read them. First a profile says which fields are matched, then rules use it.
        </p>
        <p class="actions">
          <a
            class="button plain"
            href={to(['api', 'POST /restconf/operations/acl:create-acl-profile'])}
          >
            Make a profile in the API page
          </a>{' '}
          <a class="button plain" href={to(['api', 'POST /restconf/operations/acl:set-acl-rule'])}>
            Make a rule in the API page
          </a>{' '}
          <button class="plain" onClick={() => setSure(true)}>
            Clear all…
          </button>
        </p>
        <Outcome act={act} />
      </section>
      {sure && (
        <Confirm
          title={`Clear the ACLs of ${n.name}`}
          verb="Clear"
          onClose={() => setSure(false)}
          onDo={() =>
            act.run(async () => {
              await rpc('acl:clear-acl-table', { nodeId: num(n) });
              return 'Cleared.';
            })
          }
        >
          All profiles and rules of the switch are removed.
        </Confirm>
      )}
    </>
  );
}
