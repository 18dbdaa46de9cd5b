// Whether packets of a channel arrive: pings and traces.
import { RowOf } from '../../api/rows';
import { useState } from 'preact/hooks';
import { Channel } from '../../bier/channel';
import { Named, named } from '../../bier/names';
import { bierTone } from '../../bier/tone';
import { rpc, show, word } from '../../core/api';
import { Empty, Mark, Outcome, Table, useAct } from '../../core/ui';

type Pinged = RowOf<'bier-service-api:ping', 'egress-node'>;

/** Traced is the way of packets to an egress node, as bier:trace shows it. */
interface Traced {
  'node-id': string;
  way: string[];
  result: string;
}

/** Delivery pings and traces the egress nodes of a channel. */
export function Delivery({
  id,
  channel,
  name,
}: {
  id: string;
  channel: Channel;
  name: (n: string) => string;
}) {
  const act = useAct(),
    [pinged, setPinged] = useState<Pinged[] | null>(null),
    [traced, setTraced] = useState<Traced[] | null>(null);
  const ping = async () => {
    const out = await rpc('bier-service-api:ping', {
      'topology-id': id,
      'channel-name': channel.name,
      count: 3,
    });
    setPinged(out['egress-node'] ?? []);
  };
  const trace = async () => {
    const out = await show<Traced[] | null>(
      `bier:trace ${word(channel.name)} --topology ${word(id)}`,
    );
    setTraced(out.value ?? []);
  };
  return (
    <>
      <p class="bar">
        <button class="plain" disabled={act.busy} onClick={() => act.run(ping)}>
          Ping the egress nodes
        </button>
        <button class="plain" disabled={act.busy} onClick={() => act.run(trace)}>
          Trace the packets
        </button>
      </p>
      <Outcome act={act} />
      {pinged && (
        <Table
          name={`Ping of ${channel.name}`}
          rows={pinged}
          id={p => p['node-id']}
          empty={<Empty>No egress node was pinged.</Empty>}
          columns={[
            { name: 'Egress', text: p => name(p['node-id']) },
            { name: 'Sent', text: p => p.sent ?? 0 },
            { name: 'Received', text: p => p.received ?? 0 },
            {
              name: 'State',
              text: p => p.state ?? '',
              cell: p => <Mark tone={bierTone(p.state ?? '')}>{p.state}</Mark>,
            },
          ]}
        />
      )}
      {traced && (
        <Table
          name={`Trace of ${channel.name}`}
          rows={traced}
          id={t => t['node-id']}
          empty={<Empty>No egress node was traced.</Empty>}
          columns={[
            { name: 'Egress', text: t => name(t['node-id']) },
            { name: 'Way', text: t => t.way.map(name).join(' → ') },
            { name: 'Result', text: t => named(t.result), cell: t => <Named text={t.result} /> },
          ]}
        />
      )}
    </>
  );
}
