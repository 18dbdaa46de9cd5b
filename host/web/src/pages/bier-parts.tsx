// Parts of the BIER page: forwarding tables, what is wrong, and the routers of a sub-domain made at once.
import { useState } from 'preact/hooks';
import { rpc, show, word } from '../core/api';
import { age, count, useData } from '../core/data';
import { route, setQuery, to } from '../core/route';
import {
  Choice,
  Dialog,
  Empty,
  Field,
  Loaded,
  Mark,
  Outcome,
  Table,
  Tone,
  useAct,
} from '../core/ui';
import { Bift, biftOf } from '../map/layers';
import { titleOf } from '../map/store';
import { configure, Known, Named, named } from './bier';

/** BiftPart shows the forwarding table (RFC 8279 section 6.4) that a node should have. */
export function BiftPart({
  id,
  known,
  name,
}: {
  id: string;
  known: Known;
  name: (n: string) => string;
}) {
  const q = route.value.query,
    node = q.get('node') ?? known.nodes[0] ?? '',
    domain = q.get('domain') ?? String(known.domains[0]?.id ?? 1),
    sub = q.get('sub') ?? '0';
  const data = useData(
    () =>
      known.domains.length
        ? biftOf(id, node, Number(domain), Number(sub))
        : Promise.resolve([] as Bift[]),
    [id, node, domain, sub, known.domains.length],
  );
  const text = (b: Bift) => (b.tunnel && b.tunnel.length ? [b.tunnel].flat().join(' ') : '');
  return (
    <>
      <div class="row">
        <Choice
          label="Node"
          value={node}
          options={known.nodes.map(n => [n, name(n)])}
          onChange={n => setQuery({ node: n })}
        />
        <Choice
          label="Sub-domain"
          value={`${domain}/${sub}`}
          options={known.domains.flatMap(d =>
            d.subs.map(s => [`${d.id}/${s}`, `${s} of domain ${d.id}`] as [string, string]),
          )}
          onChange={v => setQuery({ domain: v.split('/')[0]!, sub: v.split('/')[1]! })}
        />
      </div>
      <Loaded data={data}>
        {v => (
          <Table
            name="Forwarding table"
            rows={v.map((b, i) => ({ ...b, i }))}
            id={b => String(b.i)}
            empty={<Empty>Without routers in the sub-domain there is no forwarding table.</Empty>}
            columns={[
              { name: 'BFR-id', text: b => b['bfr-id'] },
              { name: 'Router', text: b => name(b['node-id']) },
              { name: 'Next hop', text: b => name(b['bfr-nbr']) },
              { name: 'Tunnel over', text: text },
              { name: 'SI', text: b => b.si },
              { name: 'Length', text: b => b.bitstringlength },
              { name: 'BIFT-id', text: b => b['bift-id'] },
              {
                name: 'F-BM',
                text: b => b['f-bm'],
                cell: b => <code class="wrap">{b['f-bm']}</code>,
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}

interface Finding {
  'topology-id': string;
  severity: string;
  where: string;
  text: string;
}
interface Alarm {
  resource: string;
  'alarm-type': string;
  severity: string;
  text: string;
  raised: string;
}
interface Verified {
  'node-id': string;
  result: string;
  reason?: string;
  tables?: number;
  difference?: string[];
}
/** channelOf is the topology and the name of the channel that an alarm is about; other alarms are about routers. */
const channelOf = (a: Alarm) => /^channel (\S+) (.+)$/.exec(a.resource);
const textOf = (a: Alarm) =>
  a.text.replace(/\begress (\d+):/, (_, n) => count(Number(n), 'egress', 'egresses') + ':');
const severe: Record<string, Tone> = {
  critical: 'bad',
  major: 'bad',
  error: 'bad',
  minor: 'warn',
  warning: 'warn',
};
const equal: Record<string, Tone> = { equal: 'good', different: 'bad', unknown: 'soft' };

/** CheckPart shows what is wrong with what is stored, in the network now, and in the tables that routers made. */
export function CheckPart({ id, name }: { id: string; name: (n: string) => string }) {
  const found = useData(
      () => show<Finding[] | null>('bier:check --topology ' + word(id)).then(r => r.value ?? []),
      [id],
    ),
    alarms = useData(
      () => rpc<{ alarm?: Alarm[] }>('bier-service-api:get-alarms').then(r => r.alarm ?? []),
      [id],
    ),
    act = useAct(),
    [tables, setTables] = useState<Verified[] | null>(null);
  return (
    <>
      <p class="bar">
        <button
          class="plain"
          onClick={() => {
            found.reload();
            alarms.reload();
          }}
        >
          Check again
        </button>
        <button
          class="plain"
          disabled={act.busy}
          onClick={() =>
            act.run(async () => {
              setTables(
                (await rpc<{ router?: Verified[] }>('bier-service-api:verify')).router ?? [],
              );
            })
          }
        >
          Compare the routers’ tables
        </button>
      </p>
      <Outcome act={act} />
      <h2>Configuration</h2>
      <Loaded data={found}>
        {v => (
          <Table
            name="Findings"
            rows={v.map((f, i) => ({ ...f, i }))}
            id={f => String(f.i)}
            empty={
              <p class="note good" data-state="done">
                No problems: the stored configuration is consistent.
              </p>
            }
            columns={[
              {
                name: 'Severity',
                text: f => f.severity,
                cell: f => <Mark tone={severe[f.severity] ?? 'soft'}>{f.severity}</Mark>,
              },
              { name: 'Where', text: f => named(f.where), cell: f => <Named text={f.where} /> },
              { name: 'What', text: f => named(f.text), cell: f => <Named text={f.text} /> },
            ]}
          />
        )}
      </Loaded>
      <h2>Alarms of all topologies</h2>
      <Loaded data={alarms}>
        {v => (
          <Table
            name="Alarms"
            rows={v}
            id={a => a.resource + a['alarm-type']}
            empty={<p class="note good">There is no alarm.</p>}
            columns={[
              {
                name: 'Severity',
                text: a => a.severity,
                cell: a => <Mark tone={severe[a.severity] ?? 'soft'}>{a.severity}</Mark>,
              },
              {
                name: 'Topology',
                text: a => channelOf(a)?.[1] ?? '',
                cell: a => titleOf(channelOf(a)?.[1] ?? ''),
              },
              {
                name: 'What',
                text: a => named(a.resource),
                cell: a => {
                  const [, topology, channel] = channelOf(a) ?? [];
                  return (
                    <a href={to(['bier', topology ?? id, topology ? 'channels' : 'routers'])}>
                      {channel ? `channel ${channel}` : <Named text={a.resource} />}
                    </a>
                  );
                },
              },
              { name: 'Alarm', text: a => a['alarm-type'] },
              { name: 'Text', text: a => named(textOf(a)), cell: a => <Named text={textOf(a)} /> },
              { name: 'Since', text: a => a.raised, cell: a => age(a.raised) },
            ]}
          />
        )}
      </Loaded>
      {tables && (
        <>
          <h2>Tables of the routers</h2>
          <Table
            name="Tables of routers"
            rows={tables}
            id={r => r['node-id']}
            empty={<Empty>No router is mounted.</Empty>}
            columns={[
              {
                name: 'Router',
                text: r => name(r['node-id']),
                cell: r => <Named text={r['node-id']} as={name(r['node-id'])} />,
              },
              {
                name: 'Result',
                text: r => r.result,
                cell: r => <Mark tone={equal[r.result] ?? 'soft'}>{r.result}</Mark>,
              },
              { name: 'Tables', text: r => r.tables ?? 0, right: true },
              {
                name: 'Because',
                text: r => named([r.reason, ...(r.difference ?? [])].filter(Boolean).join('; ')),
              },
            ]}
          />
        </>
      )}
    </>
  );
}

const lengths = ['64', '128', '256', '512', '1024', '2048', '4096'];
/** labelsFor is how many labels a router needs for a sub-domain: one a set of BFR-ids. */
const labelsFor = (routers: number, bits: number) =>
  Math.max(1, 2 ** Math.ceil(Math.log2(Math.ceil(routers / bits))));

/** Prepare makes nodes of a topology routers of a sub-domain: BFR-ids, prefixes and labels by a rule, shown before they are sent. */
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
        await configure('bier-topology-api:configure-node', input(n, i + 1));
        setDone(d => [...d, n]);
      }
      return `${count(nodes.length, 'router is', 'routers are')} in sub-domain ${f.sub} of domain ${f.domain}.`;
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
