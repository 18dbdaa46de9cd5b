// The parts of the page of a switch: what it says now, read when the part is opened, and what can be changed.
import { useState } from 'preact/hooks';
import { call, Fault, rpc } from '../core/api';
import { mac, natural, printable, stamp, useData } from '../core/data';
import { to } from '../core/route';
import {
  Code,
  Confirm,
  Dialog,
  Empty,
  Failure,
  Field,
  Loaded,
  Mark,
  Outcome,
  Table,
  useAct,
} from '../core/ui';
import { Graph, Node, portName, speedText } from '../map/graph';
import { Vlan, each } from '../map/layers';

const num = (n: Node) => Number(n.id);
const vlansOf = (n: Node, s?: AbortSignal) =>
  rpc<{ 'vlan-table-entry'?: Vlan[] }>(
    'vlan:get-vlan-table',
    { 'node-id': num(n) },
    s ? { signal: s } : {},
  ).then(t => (t['vlan-table-entry'] ?? []).sort((a, b) => a['vlan-id'] - b['vlan-id']));
/** spans writes ports as 1-4, 7. */
export function spans(list: number[] = []): string {
  const out: string[] = [],
    p = [...list].sort((a, b) => a - b);
  for (let i = 0; i < p.length; i++) {
    const from = p[i]!;
    while (p[i + 1] === p[i]! + 1) i++;
    out.push(from === p[i] ? `${from}` : `${from}-${p[i]}`);
  }
  return out.join(', ');
}
/** namedSpans writes names of ports that end with a number as eth1-4, 7; port1 is port 1. */
export function namedSpans(list: string[] = []): string {
  const by = new Map<string, number[]>(),
    other: string[] = [];
  for (const p of list) {
    const m = /^(.*?)(\d+)$/.exec(p);
    if (m) by.set(m[1]!, [...(by.get(m[1]!) ?? []), Number(m[2])]);
    else other.push(p);
  }
  return [
    ...[...by].map(([prefix, n]) => (prefix === 'port' ? '' : prefix) + spans(n)),
    ...other,
  ].join(', ');
}
/** shortPort is the name of a port in a column of ports, and after the word port. */
export const shortPort = (name: string): string => name.replace(/^port(?=\d+$)/, '');
/** portsOf reads 1-4, 7; it throws what is wrong in words. */
export function portsOf(text: string): number[] {
  return text
    .split(/[\s,]+/)
    .filter(Boolean)
    .flatMap(part => {
      const m = /^(\d+)(?:-(\d+))?$/.exec(part),
        from = Number(m?.[1]),
        end = Number(m?.[2] ?? m?.[1]);
      if (!m || from < 1 || end < from || end - from > 4096)
        throw new Fault(400, `“${part}” is no port: write ports as 1-4, 7`);
      return Array.from({ length: end - from + 1 }, (_, i) => from + i);
    });
}

interface SwitchPort {
  port?: string;
  number?: number;
  description?: string;
  'admin-state'?: string;
  state?: string;
  'speed-kbps'?: number | string;
  pvid?: number;
  'tagged-vlan'?: number[];
  'untagged-vlan'?: number[];
  'stp-state'?: string;
  neighbor?: string[];
}
interface Rate {
  number?: number;
  'in-bps'?: number | string;
  'out-bps'?: number | string;
  'new-errors'?: number | string;
}
const bits = (v: number | string | undefined) =>
  v === undefined ? '' : speedText(Math.round(Number(v) / 100) / 10) || '0';

const looks = {
  linked: 'to a neighbour',
  up: 'up',
  down: 'down',
  blocked: 'blocked',
  unknown: 'not known',
};

export function PortsPart({ g, n, real }: { g: Graph; n: Node; real: boolean }) {
  const [chosen, setChosen] = useState(''),
    said = useData(
      s =>
        real
          ? rpc<{ entry?: SwitchPort[]; partial?: string[] }>(
              'switch:ports',
              { switch: n.id },
              { signal: s },
            )
          : Promise.resolve({ entry: [], partial: [] }),
      [n.id, real],
    );
  const rates = useData(
    s =>
      real
        ? rpc<{ entry?: Rate[] }>(
            'switch:counters',
            { switch: n.id },
            { signal: s, background: true },
          ).then(
            r => r.entry ?? [],
            () => [] as Rate[],
          )
        : Promise.resolve([] as Rate[]),
    [n.id, real],
  );
  const link = (port: string) =>
    [...g.links.values()].find(
      l =>
        l.state !== 'gone' &&
        ((l.a === n.id && l.aPort === port) || (l.b === n.id && l.bPort === port)),
    );
  const known = new Map((said.value?.entry ?? []).map(e => [String(e.number), e])),
    ids = known.size ? [...known.keys()] : n.ports.map(p => portName(p.id));
  const rows = ids.map(short => {
    const p = n.ports.find(x => portName(x.id) === short),
      e = known.get(short),
      l = link(short),
      other = l && g.nodes.get(l.a === n.id ? l.b : l.a),
      rate = rates.value?.find(r => String(r.number) === short);
    return {
      short,
      e,
      other,
      rate,
      name: e?.port ?? p?.name ?? short,
      state: e?.state ?? p?.state ?? (l ? 'up' : 'not known'),
      speed: Number(e?.['speed-kbps'] ?? p?.speed ?? 0),
    };
  });
  const look = (r: (typeof rows)[0]) =>
    /block|discard/i.test(r.e?.['stp-state'] ?? '')
      ? 'blocked'
      : r.state === 'up'
        ? r.other
          ? 'linked'
          : 'up'
        : r.state === 'down'
          ? 'down'
          : 'unknown';
  return (
    <>
      {said.error && <Failure error={said.error} retry={said.reload} />}
      {(said.value?.partial ?? []).map(x => (
        <p key={x} class="note warn">
          {x}
        </p>
      ))}
      <div class="ports" role="group" aria-label="Ports">
        {rows.map(r => (
          <button
            key={r.short}
            class={'port ' + look(r)}
            aria-pressed={chosen === r.short}
            title={`${r.name}: ${r.state}${r.other ? ', to ' + r.other.name : ''}`}
            onClick={() => setChosen(chosen === r.short ? '' : r.short)}
          >
            {r.short}
            <span class="hidden">
              {' '}
              {r.state}
              {r.other ? ' to ' + r.other.name : ''}
            </span>
          </button>
        ))}
      </div>
      <p class="bar soft keys">
        {Object.entries(looks).map(([look, words]) => (
          <span key={look}>
            <span class={'port ' + look}>{'\u00a0'}</span> {words}
          </span>
        ))}
      </p>
      <Table
        name="Ports"
        tools={
          chosen && (
            <button class="plain" onClick={() => setChosen('')}>
              Show all ports
            </button>
          )
        }
        rows={rows.filter(r => !chosen || r.short === chosen)}
        id={r => r.short}
        empty={<Empty>The device names no ports.</Empty>}
        columns={[
          { name: 'Port', text: r => r.short },
          { name: 'Name', text: r => r.name },
          {
            name: 'State',
            text: r => r.state,
            cell: r => (
              <Mark tone={r.state === 'up' ? 'good' : 'soft'}>
                {r.state}
                {r.e?.['admin-state'] === 'down' && ', switched off'}
              </Mark>
            ),
          },
          { name: 'Speed', text: r => r.speed, cell: r => speedText(r.speed) },
          {
            name: 'In, bit/s',
            text: r => (r.state === 'down' ? '–' : Number(r.rate?.['in-bps'] ?? 0)),
            cell: r => (r.state === 'down' ? '–' : bits(r.rate?.['in-bps'])),
            right: true,
          },
          {
            name: 'Out, bit/s',
            text: r => (r.state === 'down' ? '–' : Number(r.rate?.['out-bps'] ?? 0)),
            cell: r => (r.state === 'down' ? '–' : bits(r.rate?.['out-bps'])),
            right: true,
          },
          {
            name: 'New errors',
            text: r => Number(r.rate?.['new-errors'] ?? 0),
            cell: r =>
              Number(r.rate?.['new-errors'] ?? 0) > 0 ? (
                <Mark tone="bad">{r.rate!['new-errors']}</Mark>
              ) : (
                '0'
              ),
            right: true,
          },
          { name: 'PVID', text: r => r.e?.pvid ?? '' },
          { name: 'Tagged', text: r => spans(r.e?.['tagged-vlan']) },
          { name: 'STP', text: r => (r.e?.['stp-state'] ?? '').toLowerCase() },
          {
            name: 'Neighbour',
            text: r => r.other?.name ?? (r.e?.neighbor ?? []).join(', '),
            cell: r =>
              r.other ? (
                <a href={to(['devices', g.id, r.other.id])}>{r.other.name}</a>
              ) : (
                printable((r.e?.neighbor ?? []).join(', '))
              ),
          },
        ]}
      />
    </>
  );
}

/** Why switches were read, as switch:history says it. */
const causes: Record<string, string> = {
  command: 'discovery, asked for',
  periodic: 'periodic discovery',
  list: 'discovery of a new list',
  trap: 'trap',
  counters: 'counters of traps',
  adopted: 'another controller',
};

export function HistoryPart({ n }: { n: Node }) {
  interface Change {
    time: string;
    change: string;
    'node-id'?: string;
    switch?: string;
    port?: string;
    peer?: string;
    'peer-port'?: string;
    'mac-address'?: string;
    source?: string;
    cause?: string;
  }
  const list = useData(
    s =>
      rpc<{ entry?: Change[] }>(
        'switch:history',
        { switch: n.id, limit: 1000 },
        { signal: s },
      ).then(r => (r.entry ?? []).map((e, i) => ({ ...e, i }))),
    [n.id],
  );
  const here = (e: Change) => !e['node-id'] || e['node-id'] === n.id; // one end of a link reports it, maybe the other one
  return (
    <Loaded data={list}>
      {v => (
        <Table
          name="History"
          newest
          rows={v}
          id={e => String(e.i)}
          empty={<Empty>Nothing has changed on this switch since it was added to the list.</Empty>}
          columns={[
            {
              name: 'Time',
              text: e => e.time,
              cell: e => <time title={e.time}>{stamp(e.time)}</time>,
            },
            {
              name: 'Change',
              text: e => e.change.replace('edge', 'link').replace('node', 'switch'),
            },
            { name: 'Port', text: e => shortPort((here(e) ? e.port : e['peer-port']) ?? '') },
            {
              name: 'Other end',
              text: e => {
                const [other, port] = here(e) ? [e.peer, e['peer-port']] : [e.switch, e.port];
                return [other, port && `port ${shortPort(port)}`, e['mac-address']]
                  .filter(Boolean)
                  .join(' ');
              },
            },
            { name: 'Known from', text: e => e.source ?? '' },
            { name: 'Cause', text: e => causes[e.cause ?? ''] ?? e.cause ?? '' },
          ]}
        />
      )}
    </Loaded>
  );
}

export function VlansPart({ n }: { n: Node }) {
  const list = useData(
      async s => {
        const [vlans, ports] = await Promise.all([
          vlansOf(n, s),
          rpc<{ entry?: SwitchPort[] }>('switch:ports', { switch: n.id }, { signal: s }),
        ]);
        const on = (leaf: 'tagged-vlan' | 'untagged-vlan', id: number) =>
          (ports.entry ?? []).filter(p => p.number && p[leaf]?.includes(id)).map(p => p.number!);
        return vlans.map(v => ({
          ...v,
          tagged: on('tagged-vlan', v['vlan-id']),
          untagged: on('untagged-vlan', v['vlan-id']),
        }));
      },
      [n.id],
    ),
    act = useAct(),
    [edit, setEdit] = useState<PortsOfVlan | null>(null),
    [gone, setGone] = useState<Vlan | null>(null);
  return (
    <>
      <Outcome act={act} />
      <Loaded data={list}>
        {v => (
          <Table
            name="VLANs"
            rows={v}
            id={r => String(r['vlan-id'])}
            empty={<Empty>The switch has no VLAN.</Empty>}
            columns={[
              { name: 'VLAN', text: r => r['vlan-id'] },
              { name: 'Name', text: r => r['vlan-name'] ?? '' },
              { name: 'Tagged', text: r => spans(r.tagged) },
              { name: 'Untagged', text: r => spans(r.untagged) },
              {
                name: 'Do',
                text: () => '',
                cell: r => (
                  <>
                    <button class="plain" onClick={() => setEdit(r)}>
                      Ports…
                    </button>{' '}
                    {r['vlan-id'] !== 1 && (
                      <button class="plain" onClick={() => setGone(r)}>
                        Delete…
                      </button>
                    )}
                  </>
                ),
              },
            ]}
          />
        )}
      </Loaded>
      {edit && (
        <VlanDialog
          targets={[n]}
          vlan={edit}
          onClose={() => {
            setEdit(null);
            list.reload();
          }}
        />
      )}
      {gone && (
        <Confirm
          title={`Delete VLAN ${gone['vlan-id']} on ${n.name}`}
          verb="Delete"
          onClose={() => setGone(null)}
          onDo={() =>
            act.run(async () => {
              await rpc('vlan:delete-vlan', { 'node-id': num(n), 'vlan-id': gone['vlan-id'] });
              list.reload();
              return `VLAN ${gone['vlan-id']} is deleted, as the switch read back.`;
            })
          }
        >
          {gone['port-list']?.length
            ? `Its ports ${spans(gone['port-list'])} leave it.`
            : 'It has no ports.'}
        </Confirm>
      )}
    </>
  );
}

/** PortsOfVlan is a VLAN of a switch with its ports as they are now. */
type PortsOfVlan = Vlan & { tagged: number[]; untagged: number[] };

/** VlanDialog is the wizard: what, on which ports, what will be sent, and what became of it on each switch. */
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
  const op = vlan ? 'set-vlan-ports' : 'add-vlan-and-set-ports';
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
        const text = await rpc<Record<string, string>>('vlan:' + op, input(n)).then(
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
                  `POST /restconf/operations/vlan:${op}\n${JSON.stringify({ input: input(n) }, null, 2)}`,
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

interface Fdb {
  'vlan-id'?: number;
  'dest-mac-addr': number;
  port: number;
  type?: string;
}
export function FdbPart({ n }: { n: Node }) {
  const list = useData(
    s =>
      rpc<{ 'fdb-table-entry'?: Fdb[] }>(
        'fdb:get-fdb-table',
        { 'node-id': num(n) },
        { signal: s },
      ).then(t => t['fdb-table-entry'] ?? []),
    [n.id],
  );
  return (
    <Loaded data={list}>
      {v => (
        <Table
          name="Forwarding table"
          rows={v}
          id={r => `${r['vlan-id']}|${r['dest-mac-addr']}|${r.port}`}
          empty={<Empty>The switch has learned no address.</Empty>}
          columns={[
            {
              name: 'MAC',
              text: r => mac(r['dest-mac-addr']),
              cell: r => (
                <a class="mono" href={to(['find'], { for: mac(r['dest-mac-addr']) })}>
                  {mac(r['dest-mac-addr'])}
                </a>
              ),
            },
            { name: 'Port', text: r => r.port },
            { name: 'VLAN', text: r => r['vlan-id'] || '' },
            { name: 'Type', text: r => (r.type ?? '').toLowerCase() },
          ]}
        />
      )}
    </Loaded>
  );
}

export function ArpPart({ n }: { n: Node }) {
  const list = useData(
    s =>
      rpc<{ 'arp-table-entry'?: { 'ip-address': string; 'mac-address': number }[] }>(
        'misc-config:get-arp-table',
        { 'node-id': num(n) },
        { signal: s },
      ).then(t => t['arp-table-entry'] ?? []),
    [n.id],
  );
  return (
    <Loaded data={list}>
      {v => (
        <Table
          name="ARP table"
          rows={v}
          id={r => r['ip-address']}
          empty={<Empty>The switch has no ARP entry.</Empty>}
          columns={[
            { name: 'IP', text: r => r['ip-address'] },
            {
              name: 'MAC',
              text: r => mac(r['mac-address']),
              cell: r => (
                <a class="mono" href={to(['find'], { for: mac(r['mac-address']) })}>
                  {mac(r['mac-address'])}
                </a>
              ),
            },
          ]}
        />
      )}
    </Loaded>
  );
}

export function StpPart({ n }: { n: Node }) {
  const ports = n.ports.map(p => portName(p.id)).filter(p => /^\d+$/.test(p));
  const root = useData(
    s =>
      rpc<{ 'root-node-id'?: number }>(
        'misc-config:get-stp-port-root',
        { 'node-id': num(n), port: Number(ports[0] ?? 1) },
        { signal: s },
      ),
    [n.id],
  );
  const list = useData(
    () =>
      each(ports, p =>
        rpc<{ 'stp-port-state'?: string }>('misc-config:get-stp-port-state', {
          'node-id': num(n),
          port: Number(p),
        }),
      ).then(r =>
        [
          ...r.done.map(([p, s]) => ({ p, s: s['stp-port-state'] ?? '' })),
          ...r.failed.map(([p, why]) => ({ p, s: why })),
        ].sort((a, b) => natural(a.p, b.p)),
      ),
    [n.id],
  );
  return (
    <>
      <Loaded data={root}>
        {r => (
          <p>
            Root: <span class="mono">{mac(r['root-node-id'])}</span>
            {r['root-node-id'] === num(n) && ' (this switch)'}
          </p>
        )}
      </Loaded>
      <Loaded data={list}>
        {v => (
          <Table
            name="Spanning tree"
            rows={v}
            id={r => r.p}
            columns={[
              { name: 'Port', text: r => r.p },
              {
                name: 'State',
                text: r => r.s,
                cell: r => (
                  <Mark
                    tone={
                      /forward/i.test(r.s) ? 'good' : /block|discard/i.test(r.s) ? 'warn' : 'soft'
                    }
                  >
                    {r.s.toLowerCase()}
                  </Mark>
                ),
              },
            ]}
            empty={<Empty>The switch names no ports.</Empty>}
          />
        )}
      </Loaded>
    </>
  );
}

export function AclPart({ n }: { n: Node }) {
  const act = useAct(),
    [sure, setSure] = useState(false),
    said = useData(
      async s => {
        const [list, drivers] = await Promise.all([
          rpc<{ entry?: { 'node-id': string; driver?: string[] }[] }>(
            'switch:switches',
            {},
            { signal: s },
          ),
          rpc<{ entry?: { driver: string; operations?: string[] }[] }>(
            'switch:drivers',
            {},
            { signal: s },
          ),
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

export function RawPart({ g, n }: { g: Graph; n: Node }) {
  const path = `/restconf/operational/network-topology:network-topology/topology/${encodeURIComponent(g.id)}/node/${encodeURIComponent(n.id)}`,
    raw = useData(s => call<unknown>(path, { signal: s }), [path]);
  return (
    <>
      <p class="mono soft wrap">GET {path}</p>
      <Loaded data={raw}>{v => <Code>{JSON.stringify(v, null, 2)}</Code>}</Loaded>
    </>
  );
}
