// The dialog that makes nodes routers of a sub-domain.
import { InputOf } from '../../api/rows';
import { useState } from 'preact/hooks';
import { configure } from '../../bier/configure';
import { count } from '../../core/data';
import { Known } from './known';
import { Choice, Dialog, Field, Outcome, useAct } from '../../core/ui';

const lengths = ['64', '128', '256', '512', '1024', '2048', '4096'];

/** labelsFor is how many labels a router needs for a sub-domain: one a set of BFR-ids. */
const labelsFor = (routers: number, bits: number) =>
  Math.max(1, 2 ** Math.ceil(Math.log2(Math.ceil(routers / bits))));

type NodeInput = InputOf<'bier-topology-api:configure-node'>;

/**
 * Prepare makes nodes of a topology routers of a sub-domain: BFR-ids, prefixes and labels by a
 * rule, shown before they are sent.
 */
export function Prepare({
  id,
  known,
  name,
  onClose,
}: {
  id: string;
  known: Known;
  name: (n: string) => string;
  onClose: () => void;
}) {
  const act = useAct(),
    [f, setF] = useState({
      domain: String(known.domains[0]?.id ?? 1),
      sub: '0',
      bits: '256',
      prefix: '10.0.0.0',
      label: '100',
    }),
    [chosen, setChosen] = useState(new Set(known.nodes)),
    [done, setDone] = useState<string[]>([]);
  const set = (k: keyof typeof f) => (e: { currentTarget: HTMLInputElement }) =>
      setF({ ...f, [k]: e.currentTarget.value }),
    base = f.prefix.split('.').reduce((n, p) => n * 256 + Number(p), 0),
    range = labelsFor(chosen.size, Number(f.bits));
  const address = (n: number) =>
    [24, 16, 8, 0].map(s => Math.floor((base + n) / 2 ** s) % 256).join('.');
  const input = (node: string, bfr: number) => ({
    'topology-id': id,
    'node-id': node,
    domain: [
      {
        'domain-id': Number(f.domain),
        'bier-global': {
          'encapsulation-type': 'bier-encapsulation-mpls',
          bitstringlength: `${f.bits}-bit`,
          'bfr-id': bfr,
          'ipv4-bfr-prefix': `${address(bfr)}/32`,
          'sub-domain': [
            {
              'sub-domain-id': Number(f.sub),
              'igp-type': 'ISIS',
              'bfr-id': bfr,
              bitstringlength: `${f.bits}-bit`,
              af: {
                ipv4: [
                  {
                    bitstringlength: Number(f.bits),
                    'bier-mpls-label-base': Number(f.label) * bfr,
                    'bier-mpls-label-range-size': range,
                  },
                ],
              },
            },
          ],
        },
      },
    ],
  });
  const nodes = known.nodes.filter(n => chosen.has(n)),
    bad = !/^(\d{1,3}\.){3}\d{1,3}$/.test(f.prefix)
      ? 'Prefixes begin with an IPv4 address'
      : !nodes.length
        ? 'Choose a node'
        : Number(f.label) < 16
          ? 'Labels below 16 are reserved'
          : '';
  const send = () =>
    act.run(async () => {
      setDone([]);
      if (!known.domains.some(d => String(d.id) === f.domain))
        await configure('bier-topology-api:configure-domain', {
          'topology-id': id,
          domain: [Number(f.domain)],
        });
      if (f.sub !== '0')
        await configure('bier-topology-api:configure-subdomain', {
          'topology-id': id,
          'domain-id': Number(f.domain),
          'sub-domain': [Number(f.sub)],
        });
      for (const [i, n] of nodes.entries()) {
        await configure('bier-topology-api:configure-node', input(n, i + 1) as NodeInput);
        setDone(d => [...d, n]);
      }
      const routers = count(nodes.length, 'router is', 'routers are');
      return `${routers} in sub-domain ${f.sub} of domain ${f.domain}.`;
    });
  return (
    <Dialog title="Set up routers of a sub-domain" onClose={onClose}>
      <div class="row">
        <Field
          label="Domain"
          inputMode="numeric"
          value={f.domain}
          onInput={set('domain')}
          hint="1..255, created if it does not exist"
        />
        <Field
          label="Sub-domain"
          inputMode="numeric"
          value={f.sub}
          onInput={set('sub')}
          hint="0..255"
        />
        <Choice
          label="Bit string length"
          value={f.bits}
          options={lengths.map(l => [l, `${l} bits`])}
          onChange={bits => setF({ ...f, bits })}
        />
      </div>
      <div class="row">
        <Field
          label="BFR-prefixes after"
          value={f.prefix}
          onInput={set('prefix')}
          hint={`the first is ${address(1)}/32`}
        />
        <Field
          label="MPLS label step"
          inputMode="numeric"
          value={f.label}
          onInput={set('label')}
          hint={`BFR-id times this, ${range} each`}
        />
      </div>
      <fieldset>
        <legend>Nodes, with the BFR-id that each gets</legend>
        {known.nodes.map(n => (
          <label key={n} class="check">
            <input
              type="checkbox"
              checked={chosen.has(n)}
              onChange={() => {
                const s = new Set(chosen);
                if (!s.delete(n)) s.add(n);
                setChosen(s);
              }}
            />{' '}
            {name(n)}{' '}
            {chosen.has(n) && (
              <small class="soft">
                {nodes.indexOf(n) + 1}
                {done.includes(n) && ' ✓'}
              </small>
            )}
          </label>
        ))}
      </fieldset>
      <details>
        <summary>What will be sent</summary>
        <pre class="code" tabIndex={0}>
          {nodes
            .map(
              (n, i) =>
                'POST …/bier-topology-api:configure-node\n' +
                JSON.stringify({ input: input(n, i + 1) }),
            )
            .join('\n')}
        </pre>
      </details>
      {bad && (
        <p class="bad" role="status">
          {bad}.
        </p>
      )}
      <Outcome act={act} />
      <p class="actions">
        <button disabled={act.busy || bad !== ''} onClick={send}>
          Configure {count(nodes.length, 'node')}
        </button>
      </p>
    </Dialog>
  );
}
