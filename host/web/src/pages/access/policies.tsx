// The policies in their order.
import { useState } from 'preact/hooks';
import { Fault, call } from '../../core/api';
import { useData } from '../../core/data';
import { methods, policyPath } from './paths';
import { Policy, PolicyDialog } from './policy';
import { Confirm, Empty, Loaded, Outcome, useAct } from '../../core/ui';

/** Policies lists the policies; one adds, moves, changes and deletes them here. */
export function Policies() {
  const data = useData(
    s =>
      call<Record<string, { policies?: Policy[] }>>(policyPath, { signal: s }).then(
        r => (Object.values(r)[0]?.policies ?? []).sort((a, b) => (a.index ?? 0) - (b.index ?? 0)),
        (e: Fault) => {
          if (e.status === 404) return [] as Policy[];
          throw e;
        },
      ),
    [],
  );
  const act = useAct(),
    [edit, setEdit] = useState<{ at: number; p: Policy } | null>(null),
    [gone, setGone] = useState<Policy | null>(null);
  const save = (list: Policy[], text: string) =>
    act.run(async () => {
      await call(policyPath, {
        method: 'PUT',
        body: { 'aaa:policies': { policies: list.map((p, i) => ({ ...p, index: i + 1 })) } },
      });
      data.reload();
      return text;
    });
  return (
    <>
      <p class="soft">
        The first policy whose resource matches decides; a request that matches no policy is
        allowed. Policies apply where a line of etc/sec.ini has dynamicAuthorization.
      </p>
      <Outcome act={act} />
      <Loaded data={data}>
        {v => (
          <>
            <p class="actions">
              <button
                onClick={() =>
                  setEdit({
                    at: v.length,
                    p: {
                      resource: '/restconf/**',
                      description: '',
                      permissions: [{ role: 'admin', actions: [...methods] }],
                    },
                  })
                }
              >
                New policy…
              </button>
            </p>
            {!v.length && (
              <Empty>
                There is no policy: all users who are logged in may do what etc/sec.ini leaves to
                the policies.
              </Empty>
            )}
            <ol class="policies">
              {v.map((p, i) => (
                <li key={p.resource} class="card">
                  <b class="mono">{p.resource}</b> <span class="soft">{p.description}</span>
                  <ul>
                    {(p.permissions ?? []).map((x, k) => (
                      <li key={k}>
                        {x.role}: {(x.actions ?? []).join(', ')}
                      </li>
                    ))}
                    {!p.permissions?.length && <li>denied to all</li>}
                  </ul>
                  <p class="actions">
                    <button
                      class="plain"
                      disabled={i === 0}
                      aria-label={`Move ${p.resource} up`}
                      onClick={() => {
                        const l = [...v];
                        [l[i - 1], l[i]] = [l[i]!, l[i - 1]!];
                        save(l, 'Moved up.');
                      }}
                    >
                      ↑
                    </button>
                    <button
                      class="plain"
                      disabled={i === v.length - 1}
                      aria-label={`Move ${p.resource} down`}
                      onClick={() => {
                        const l = [...v];
                        [l[i + 1], l[i]] = [l[i]!, l[i + 1]!];
                        save(l, 'Moved down.');
                      }}
                    >
                      ↓
                    </button>
                    <button class="plain" onClick={() => setEdit({ at: i, p })}>
                      Change…
                    </button>
                    <button class="plain" onClick={() => setGone(p)}>
                      Delete…
                    </button>
                  </p>
                </li>
              ))}
            </ol>
            {gone && (
              <Confirm
                title={`Delete the policy of ${gone.resource}`}
                verb="Delete"
                onClose={() => setGone(null)}
                onDo={() =>
                  save(
                    v.filter(x => x !== gone),
                    `${gone.resource} is deleted.`,
                  )
                }
              >
                Requests that match no other policy are then allowed for all users who are logged
                in.
              </Confirm>
            )}
            {edit && (
              <PolicyDialog
                p={edit.p}
                onClose={() => setEdit(null)}
                onSave={p => {
                  const l = [...v];
                  l[edit.at] = p;
                  setEdit(null);
                  save(l, `${p.resource} is saved.`);
                }}
              />
            )}
          </>
        )}
      </Loaded>
    </>
  );
}
