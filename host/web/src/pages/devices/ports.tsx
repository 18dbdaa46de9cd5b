// The ports of a device.
import { useState } from 'preact/hooks';
import { rpc } from '../../core/api';
import { useData } from '../../core/data';
import { to } from '../../core/route';
import { printable } from '../../core/text';
import { Graph, Node, portName, speedText } from '../../map/graph';
import { Rate, spans } from '../../switches/ports';
import { Empty, Failure, Mark, Table } from '../../core/ui';

const bits = (v: number | string | undefined) =>
  v === undefined ? '' : speedText(Math.round(Number(v) / 100) / 10) || '0';

const looks = {
  linked: 'to a neighbour',
  up: 'up',
  down: 'down',
  blocked: 'blocked',
  unknown: 'not known',
};

/** PortsPart shows what each port does now: state, speed, rates, VLANs, neighbour. */
export function PortsPart({ g, n, real }: { g: Graph; n: Node; real: boolean }) {
  const [chosen, setChosen] = useState(''),
    said = useData(
      s =>
        real
          ? rpc('switch:ports', { switch: n.id }, { signal: s })
          : Promise.resolve({ entry: [], partial: [] }),
      [n.id, real],
    );
  const rates = useData(
    s =>
      real
        ? rpc('switch:counters', { switch: n.id }, { signal: s, background: true }).then(
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
