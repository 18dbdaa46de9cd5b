// What has changed on a switch.
import { RowOf } from '../../api/rows';
import { rpc } from '../../core/api';
import { stamp, useData } from '../../core/data';
import { Node } from '../../map/graph';
import { shortPort } from '../../switches/ports';
import { Empty, Loaded, Table } from '../../core/ui';

/** Why switches were read, as switch:history says it. */
const causes: Record<string, string> = {
  command: 'discovery, asked for',
  periodic: 'periodic discovery',
  list: 'discovery of a new list',
  trap: 'trap',
  counters: 'counters of traps',
  adopted: 'another controller',
};

/** HistoryPart lists the changes of a switch, the newest first. */
export function HistoryPart({ n }: { n: Node }) {
  type Change = RowOf<'switch:history', 'entry'>;
  const list = useData(
    s =>
      rpc('switch:history', { switch: n.id, limit: 1000 }, { signal: s }).then(r =>
        (r.entry ?? []).map((e, i) => ({ ...e, i })),
      ),
    [n.id],
  );
  // One end of a link reports it, maybe the other one.
  const here = (e: Change) => !e['node-id'] || e['node-id'] === n.id;
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
              text: e => (e.change ?? '').replace('edge', 'link').replace('node', 'switch'),
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
