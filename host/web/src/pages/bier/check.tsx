// What is wrong: with the configuration, in the network, in the tables of routers.
import { RowOf } from '../../api/rows';
import { useState } from 'preact/hooks';
import { Named, named } from '../../bier/names';
import { rpc, show, word } from '../../core/api';
import { age, count, useData } from '../../core/data';
import { to } from '../../core/route';
import { titleOf } from '../../map/store';
import { Empty, Loaded, Mark, Outcome, Table, Tone, useAct } from '../../core/ui';

interface Finding {
  'topology-id': string;
  severity: string;
  where: string;
  text: string;
}

type Alarm = RowOf<'bier-service-api:get-alarms', 'alarm'>;

type Verified = RowOf<'bier-service-api:verify', 'router'>;

/**
 * channelOf is the topology and the name of the channel that an alarm is about; other alarms are
 * about routers.
 */
const channelOf = (a: Alarm) => /^channel (\S+) (.+)$/.exec(a.resource);

const textOf = (a: Alarm) =>
  (a.text ?? '').replace(/\begress (\d+):/, (_, n) => count(Number(n), 'egress', 'egresses') + ':');

const severe: Record<string, Tone> = {
  critical: 'bad',
  major: 'bad',
  error: 'bad',
  minor: 'warn',
  warning: 'warn',
};

const equal: Record<string, Tone> = { equal: 'good', different: 'bad', unknown: 'soft' };

/**
 * CheckPart shows what is wrong with what is stored, in the network now, and in the tables that
 * routers made.
 */
export function CheckPart({ id, name }: { id: string; name: (n: string) => string }) {
  const found = useData(
      () => show<Finding[] | null>('bier:check --topology ' + word(id)).then(r => r.value ?? []),
      [id],
    ),
    alarms = useData(() => rpc('bier-service-api:get-alarms').then(r => r.alarm ?? []), [id]),
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
              setTables((await rpc('bier-service-api:verify')).router ?? []);
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
                cell: a => <Mark tone={severe[a.severity ?? ''] ?? 'soft'}>{a.severity}</Mark>,
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
                cell: r => <Mark tone={equal[r.result ?? ''] ?? 'soft'}>{r.result}</Mark>,
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
