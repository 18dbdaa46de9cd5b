// The dialog that adds a VLAN to switches, or changes the ports of one.
import { useState } from 'preact/hooks';
import { Fault, rpc } from '../core/api';
import { useData } from '../core/data';
import { each } from '../core/each';
import { Node } from '../map/graph';
import { portsOf, spans } from './ports';
import { PortsOfVlan, num, vlansOf } from './vlan';
import { Dialog, Field, Outcome, useAct } from '../core/ui';

/**
 * VlanDialog is the wizard: what, on which ports, what will be sent, and what became of it on each
 * switch.
 */
export function VlanDialog({
  targets,
  vlan,
  onClose,
}: {
  targets: Node[];
  vlan?: PortsOfVlan;
  onClose: () => void;
}) {
  const [id, setID] = useState(String(vlan?.['vlan-id'] ?? '')),
    [name, setName] = useState(vlan?.['vlan-name'] ?? ''),
    [tagged, setTagged] = useState(spans(vlan?.tagged)),
    [untagged, setUntagged] = useState(spans(vlan?.untagged)),
    [step, setStep] = useState(1),
    [results, setResults] = useState<Map<string, string>>(new Map()),
    act = useAct();
  const before = useData(() => each(targets, n => vlansOf(n)), [targets.map(n => n.id)]);
  const op = vlan ? 'vlan:set-vlan-ports' : 'vlan:add-vlan-and-set-ports';
  const input = (n: Node) => ({
    'node-id': num(n),
    'vlan-id': Number(id),
    ...(vlan ? {} : { 'vlan-name': name }),
    'tagged-port-list': portsOf(tagged).join(','),
    'untagged-port-list': portsOf(untagged).join(','),
  });
  const check = () =>
    act.run(async () => {
      if (!/^\d+$/.test(id) || Number(id) < 1 || Number(id) > 4094)
        throw new Fault(400, 'VLAN is a number from 1 to 4094');
      const both = portsOf(tagged).filter(p => portsOf(untagged).includes(p));
      if (both.length)
        throw new Fault(400, `Port ${both.join(', ')} cannot be tagged and untagged at once`);
      setStep(2);
    });
  const send = (list: Node[]) =>
    act.run(async () => {
      for (const n of list) {
        setResults(r => new Map(r).set(n.id, '…'));
        const text = await rpc(op, input(n)).then(
          async () => {
            const now = (await vlansOf(n)).find(v => v['vlan-id'] === Number(id));
            return `✓ read back: ports ${spans(now?.['port-list']) || 'none'}`;
          },
          (e: Fault) => '✕ ' + e.message,
        );
        setResults(r => new Map(r).set(n.id, text));
      }
    });
  const warnings = (before.value?.done ?? []).flatMap(([n, list]) => {
      const has = list.find(v => v['vlan-id'] === Number(id));
      return !vlan && has ? [`${id} exists on ${n.name} as “${has['vlan-name']}”`] : [];
    }),
    failed = targets.filter(n => results.get(n.id)?.startsWith('✕'));
  return (
    <Dialog title={vlan ? `Ports of VLAN ${vlan['vlan-id']}` : 'Add a VLAN'} onClose={onClose}>
      {step === 1 && (
        <>
          <p class="soft">On {targets.map(n => n.name).join(', ')}.</p>
          {!vlan && (
            <>
              <Field
                label="VLAN"
                inputMode="numeric"
                required
                value={id}
                onInput={e => setID(e.currentTarget.value)}
                hint="1..4094"
              />
              <Field
                label="Name"
                maxLength={32}
                required
                value={name}
                onInput={e => setName(e.currentTarget.value)}
                hint="at most 32 characters of ASCII"
              />
            </>
          )}
          <Field
            label="Tagged ports"
            value={tagged}
            onInput={e => setTagged(e.currentTarget.value)}
            hint="such as 1-4, 7"
          />
          <Field
            label="Untagged ports"
            value={untagged}
            onInput={e => setUntagged(e.currentTarget.value)}
            hint="such as 5; their PVID becomes this VLAN"
          />
          <Outcome act={act} />
          <p class="actions">
            <button onClick={check}>Preview</button>
          </p>
        </>
      )}
      {step === 2 && (
        <>
          <h3>What will be sent</h3>
          {warnings.map(w => (
            <p key={w} class="note warn">
              {w}
            </p>
          ))}
          {(before.value?.failed ?? []).map(([n, why]) => (
            <p key={n.id} class="note warn">
              {n.name} could not be read: {why}
            </p>
          ))}
          <pre class="code">
            {targets
              .map(
                n =>
                  `POST /restconf/operations/${op}\n` +
                  JSON.stringify({ input: input(n) }, null, 2),
              )
              .join('\n')}
          </pre>
          <ul class="plainlist" aria-live="polite">
            {targets
              .filter(n => results.has(n.id))
              .map(n => (
                <li key={n.id} data-result={results.get(n.id)?.[0]}>
                  {n.name}: {results.get(n.id)}
                </li>
              ))}
          </ul>
          <p class="actions">
            <button
              class="plain"
              onClick={() => {
                setStep(1);
                setResults(new Map());
              }}
            >
              Back
            </button>
            {results.size === 0 ? (
              <button disabled={act.busy} onClick={() => send(targets)}>
                {vlan ? 'Set the ports' : 'Add the VLAN'}
              </button>
            ) : (
              failed.length > 0 &&
              !act.busy && <button onClick={() => send(failed)}>Retry {failed.length}</button>
            )}
          </p>
        </>
      )}
    </Dialog>
  );
}
