// The rules of etc/sec.ini.
import { show } from '../../core/api';
import { useData } from '../../core/data';
import { Empty, Loaded, Table } from '../../core/ui';

interface Rule {
  line: number;
  pattern: string;
  filters: string[];
}

/** Rules lists the rules of addresses, in the order in which they are asked. */
export function Rules() {
  const data = useData(() => show<Rule[] | null>('access:rules').then(r => r.value ?? []), []);
  return (
    <>
      <p class="soft">
        The lines of [urls] in etc/sec.ini, in their order: the first whose pattern matches decides.
        They are changed in the file.
      </p>
      <Loaded data={data}>
        {v => (
          <Table
            name="URL rules"
            rows={v}
            id={r => String(r.line)}
            empty={<Empty>etc/sec.ini has no rule.</Empty>}
            columns={[
              { name: 'Line', text: r => r.line },
              { name: 'Pattern', text: r => r.pattern, cell: r => <code>{r.pattern}</code> },
              { name: 'Filters', text: r => r.filters.join(', ') },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}
