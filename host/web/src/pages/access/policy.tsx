// The dialog that adds or changes a policy.
import { useState } from 'preact/hooks';
import { methods } from './paths';
import { Dialog, Field } from '../../core/ui';

interface Permission {
  role: string;
  actions?: string[];
}

export interface Policy {
  resource: string;
  index?: number;
  description?: string;
  permissions?: Permission[];
}

/** PolicyDialog takes the resource, the roles and the methods of a policy. */
export function PolicyDialog({
  p,
  onSave,
  onClose,
}: {
  p: Policy;
  onSave: (p: Policy) => void;
  onClose: () => void;
}) {
  const [now, set] = useState(p),
    list = now.permissions ?? [],
    put = (i: number, x: Permission) =>
      set({ ...now, permissions: list.map((o, k) => (k === i ? x : o)) });
  return (
    <Dialog title={p.index ? 'Change the policy' : 'New policy'} onClose={onClose}>
      <Field
        label="Resource"
        value={now.resource}
        onInput={e => set({ ...now, resource: e.currentTarget.value })}
        hint="a path; * within a segment, ** any number of segments"
      />
      <Field
        label="Description"
        value={now.description ?? ''}
        onInput={e => set({ ...now, description: e.currentTarget.value })}
      />
      {list.map((x, i) => (
        <fieldset key={i}>
          <legend>Allowed to</legend>
          <Field
            label="Role"
            value={x.role}
            onInput={e => put(i, { ...x, role: e.currentTarget.value })}
          />
          {methods.map(m => (
            <label key={m} class="check">
              <input
                type="checkbox"
                checked={x.actions?.includes(m) ?? false}
                onChange={() =>
                  put(i, {
                    ...x,
                    actions: methods.filter(o => (o === m) !== (x.actions?.includes(o) ?? false)),
                  })
                }
              />{' '}
              {m}
            </label>
          ))}
          <button
            class="plain"
            onClick={() => set({ ...now, permissions: list.filter((_, k) => k !== i) })}
          >
            Remove
          </button>
        </fieldset>
      ))}
      <p class="actions">
        <button
          class="plain"
          onClick={() =>
            set({ ...now, permissions: [...list, { role: 'user', actions: ['get'] }] })
          }
        >
          Another role
        </button>
        <button disabled={!now.resource || list.some(x => !x.role)} onClick={() => onSave(now)}>
          Save
        </button>
      </p>
    </Dialog>
  );
}
