// The events since the page was opened.
import { stamp } from '../../core/data';
import { recent } from '../../core/events';
import { Empty, Table } from '../../core/ui';

/** Events lists what happened since the page was opened. */
export function Events() {
  return recent.value.length ? (
    <Table
      name="Events"
      newest
      rows={recent.value.map((e, i) => ({ ...e, i }))}
      id={e => String(e.i)}
      columns={[
        { name: 'Time', text: e => e.time, cell: e => <time title={e.time}>{stamp(e.time)}</time> },
        { name: 'Stream', text: e => e.stream },
        { name: 'What', text: e => e.name },
        {
          name: 'Content',
          text: e => JSON.stringify(e.data),
          cell: e => <code class="wrap">{JSON.stringify(e.data)}</code>,
        },
      ]}
    />
  ) : (
    <Empty>
      No events since this page was opened. Events of all installed streams are shown here as they
      happen.
    </Empty>
  );
}
