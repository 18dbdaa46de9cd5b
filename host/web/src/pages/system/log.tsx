// The newest records of the log.
import { rpc } from '../../core/api';
import { stamp, useData } from '../../core/data';
import { printable } from '../../core/text';
import { Loaded, Mark, Table, Words, Tone } from '../../core/ui';

/** moreOf is what a record of the log says besides its message. */
function moreOf(record = '{}'): string {
  return Object.entries(JSON.parse(record) as Record<string, unknown>)
    .filter(([k]) => !['time', 'level', 'msg', 'logger'].includes(k))
    .map(([k, v]) => `${k}=${typeof v === 'string' ? printable(v) : JSON.stringify(v)}`)
    .join(' ');
}

/** toneOf is how a level of the log is shown. */
function toneOf(level: string): Tone {
  if (level.includes('ERROR')) return 'bad';
  return level.includes('WARN') ? 'warn' : 'soft';
}

/** Log lists the newest records of the log. */
export function Log() {
  const data = useData(
    () =>
      rpc('ctl-system:get-log', { limit: 500 }, { background: true }).then(r =>
        (r.entry ?? []).reverse().map((e, i) => ({ ...e, i })),
      ),
    [],
  );
  return (
    <Loaded data={data}>
      {v => (
        <Table
          name="Log"
          newest
          tools={
            <button class="plain" onClick={data.reload}>
              Read again
            </button>
          }
          rows={v}
          id={e => String(e.i)}
          columns={[
            {
              name: 'Time',
              text: e => e.time && new Date(e.time).toISOString(),
              cell: e => <time title={e.time}>{stamp(e.time)}</time>,
            },
            {
              name: 'Level',
              text: e => e.level,
              cell: e => <Mark tone={toneOf(e.level ?? '')}>{e.level}</Mark>,
            },
            { name: 'Logger', text: e => e.logger },
            { name: 'Message', text: e => e.message },
            {
              name: 'More',
              text: e => moreOf(e.record),
              cell: e => (
                <span class="soft wrap small">
                  <Words>{moreOf(e.record)}</Words>
                </span>
              ),
            },
          ]}
        />
      )}
    </Loaded>
  );
}
