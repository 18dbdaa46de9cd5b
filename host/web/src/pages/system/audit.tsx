// The audit: who changed what.
import { show } from '../../core/api';
import { stamp, useData } from '../../core/data';
import { route, setQuery } from '../../core/route';
import { printable } from '../../core/text';
import { Choice, Empty, Loaded, Mark, Table, Words } from '../../core/ui';

interface AuditRecord {
  seq: number;
  time: string;
  who: string;
  what: string;
  object: string;
  outcome: string;
  address: string;
}

/** Audit lists who changed what, and what was refused. */
export function Audit() {
  const since = route.value.query.get('since') ?? '24h';
  const data = useData(
    () =>
      show<AuditRecord[] | null>('audit:show --since ' + since).then(r => ({
        records: r.value ?? [],
        findings: r.findings,
      })),
    [since],
  );
  const tools = (
    <span class="side">
      <button class="plain" onClick={data.reload}>
        Read again
      </button>
      <Choice
        label="Of the last"
        value={since}
        options={[
          ['1h', 'hour'],
          ['24h', 'day'],
          ['168h', 'week'],
          ['8760h', 'year'],
        ]}
        onChange={v => setQuery({ since: v })}
      />
    </span>
  );
  return (
    <Loaded data={data}>
      {v => (
        <>
          {v.findings && <p class="note bad">{v.findings}</p>}
          <Table
            name="Audit"
            newest
            tools={tools}
            rows={v.records}
            id={r => String(r.seq)}
            empty={<Empty>Nothing was changed or refused in this time.</Empty>}
            columns={[
              { name: 'Number', text: r => r.seq },
              {
                name: 'Time',
                text: r => r.time,
                cell: r => <time title={r.time}>{stamp(r.time)}</time>,
              },
              { name: 'Who', text: r => r.who || 'the controller' },
              { name: 'What', text: r => r.what },
              {
                name: 'Object',
                text: r => r.object,
                cell: r =>
                  r.what === 'command' ? (
                    <code>
                      <Words>{printable(r.object)}</Words>
                    </code>
                  ) : (
                    printable(r.object)
                  ),
              },
              {
                name: 'Outcome',
                text: r => r.outcome,
                cell: r => <Mark tone={r.outcome === 'ok' ? 'good' : 'bad'}>{r.outcome}</Mark>,
              },
              { name: 'From', text: r => r.address },
            ]}
          />
        </>
      )}
    </Loaded>
  );
}
