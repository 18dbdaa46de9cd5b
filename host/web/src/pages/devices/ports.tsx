// The ports of a device.
import { useState } from 'preact/hooks';
import { Operations } from '../../api/types';
import { rpc } from '../../core/api';
import { age, stamp, useData } from '../../core/data';
import { to } from '../../core/route';
import { printable } from '../../core/text';
import { Graph, Node, portName, speedText } from '../../map/graph';
import { Rate, spans } from '../../switches/ports';
import { Empty, Failure, Mark, Table } from '../../core/ui';

/** rateOf is a rate as a number; a port that is down has none, and one not measured is blank. */
const rateOf = (state: string, bps: number | string | undefined): number | '–' | undefined =>
  state === 'down' ? '–' : bps === undefined ? undefined : Number(bps);

/** bits writes a rate. */
const bits = (bps: number | '–' | undefined): string =>
  typeof bps === 'number' ? speedText(Math.round(bps / 100) / 10) || '0' : (bps ?? '');

/** errorsOf shows new errors; blank where they are not known. */
function errorsOf(n: number | string | undefined) {
  if (n === undefined) return '';
  return Number(n) > 0 ? <Mark tone="bad">{n}</Mark> : '0';
}

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
          : Promise.resolve({} as Operations['switch:ports']['output']),
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
  // Of a switch that does not answer all is old; of a stopped plugin what the topology has.
  const old =
    said.value?.answering === false ? (said.value.observed ?? n.seen) : said.error && n.seen;
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
      {old && (
        <p class="note warn" data-state="old">
          {n.name} does not answer: its ports are as they were {age(old)} ({stamp(old)}).
        </p>
      )}
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
              <Mark tone={r.state === 'up' && !old ? 'good' : 'soft'}>
                {r.state}
                {old && r.state !== 'not known' && `, as of ${age(old)}`}
                {r.e?.['admin-state'] === 'down' && ', switched off'}
              </Mark>
            ),
          },
          { name: 'Speed', text: r => r.speed, cell: r => speedText(r.speed) },
          {
            name: 'In, bit/s',
            text: r => rateOf(r.state, r.rate?.['in-bps']),
            cell: r => bits(rateOf(r.state, r.rate?.['in-bps'])),
            right: true,
          },
          {
            name: 'Out, bit/s',
            text: r => rateOf(r.state, r.rate?.['out-bps']),
            cell: r => bits(rateOf(r.state, r.rate?.['out-bps'])),
            right: true,
          },
          {
            name: 'New errors',
            text: r => r.rate?.['new-errors'],
            cell: r => errorsOf(r.rate?.['new-errors']),
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
