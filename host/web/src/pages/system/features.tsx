// The features, to install and uninstall them.
import { useState } from 'preact/hooks';
import { Fault, isAdmin, rpc } from '../../core/api';
import { Feature, need } from './status';
import { Dialog, Mark, Outcome, Table, useAct } from '../../core/ui';

const operations = {
  install: 'ctl-system:install-feature',
  uninstall: 'ctl-system:uninstall-feature',
} as const;

/** Features lists what can be installed; a change is shown before it is made. */
export function Features({ list, reload }: { list: Feature[]; reload: () => void }) {
  const [plan, setPlan] = useState<{
      what: 'install' | 'uninstall';
      name: string;
      lines: string[];
      wants?: string;
    } | null>(null),
    act = useAct();
  const ask = (what: 'install' | 'uninstall', name: string) =>
    act.run(async () => {
      const r = await rpc(operations[what], {
        name: [name],
        simulate: true,
      });
      setPlan({ what, name, lines: r.change ?? [] });
    });
  const carryOut = () => {
    const p = plan!;
    setPlan(null);
    act.run(async () => {
      const input = { name: [p.name], ...(p.wants ? { grant: true } : {}) },
        r = await rpc(operations[p.what], input).catch((e: Fault) => {
          if (e.status === 403 && !p.wants && p.what === 'install') {
            setPlan({ ...p, wants: e.message });
            return null;
          }
          throw e;
        });
      if (!r) return;
      reload();
      return `${p.name}: ${(r.change ?? ['nothing to do']).join('; ')}`;
    });
  };
  const installed = (f: Feature) => f.state !== 'Uninstalled',
    stays = plan?.what === 'uninstall' && plan.lines.every(l => l.includes(' stays: '));
  return (
    <>
      {act.busy && (
        <p class="note" role="status">
          In progress: plugins are started and stopped…
        </p>
      )}
      <Outcome act={act} />
      <Table
        name="Features"
        rows={list}
        id={f => f.name + f.version}
        columns={[
          { name: 'Name', text: f => f.name },
          {
            name: 'State',
            text: f => f.state,
            cell: f => (
              <Mark
                tone={
                  f.state === 'Started'
                    ? 'good'
                    : f.state === 'Unresolved'
                      ? 'bad'
                      : f.state === 'Resolved'
                        ? 'warn'
                        : 'soft'
                }
              >
                {f.state}
              </Mark>
            ),
          },
          {
            name: 'Description',
            text: f => f.description ?? '',
            cell: f => (
              <>
                {f.description}
                {f.note && <small class="soft"> {f.note}</small>}
              </>
            ),
          },
          { name: 'Needed by', text: f => (f['needed-by'] ?? []).join(', ') },
          {
            name: 'Do',
            text: () => '',
            cell: f =>
              installed(f) ? (
                f.required ? (
                  <button
                    class="plain"
                    {...need()}
                    disabled={act.busy || !isAdmin()}
                    onClick={() => ask('uninstall', f.name)}
                  >
                    {f['needed-by']?.length ? 'No longer wanted…' : 'Uninstall…'}
                  </button>
                ) : (
                  <small class="soft">needed by others</small>
                )
              ) : f.available ? (
                <button
                  class="plain"
                  {...need()}
                  disabled={act.busy || !isAdmin()}
                  onClick={() => ask('install', f.name)}
                >
                  Install…
                </button>
              ) : (
                ''
              ),
          },
        ]}
      />
      {plan && (
        <Dialog
          title={
            plan.what === 'install'
              ? `Install ${plan.name}`
              : stays
                ? `No longer wanted: ${plan.name}`
                : `Uninstall ${plan.name}`
          }
          onClose={() => setPlan(null)}
        >
          <ul>
            {plan.lines.map(l => (
              <li key={l}>
                {l}
                {l.includes('. ') && '.'}
              </li>
            ))}
            {!plan.lines.length && <li>nothing to do</li>}
          </ul>
          {plan.wants && (
            <p class="note warn" data-state="grants">
              {plan.wants}
            </p>
          )}
          <p class="actions">
            <button class={plan.what === 'install' || stays ? '' : 'danger'} onClick={carryOut}>
              {plan.wants
                ? 'Grant and install'
                : plan.what === 'install'
                  ? 'Install'
                  : stays
                    ? 'No longer wanted'
                    : 'Uninstall'}
            </button>
          </p>
        </Dialog>
      )}
    </>
  );
}
