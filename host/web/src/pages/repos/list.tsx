// A whole list of a report.
import { Total } from '../../api/repoinfo';
import { Empty, Table } from '../../core/ui';
import { day } from './ask';

/** List shows all entries of a list, with their sums. */
export function List({ name, list }: { name: string; list: Total[] }) {
  type Sum = 'commits' | 'insertions' | 'deletions';
  const text = (name: string, leaf: 'email' | 'organization' | 'project') =>
      list.some(t => t[leaf]) ? [{ name, text: (t: Total) => t[leaf] ?? '' }] : [],
    sum = (name: string, leaf: Sum) => ({
      name,
      text: (t: Total) => t[leaf],
      cell: (t: Total) => t[leaf].toLocaleString('en'),
      right: true,
    });
  return (
    <Table
      name={name}
      rows={list}
      id={t => t.name + (t.email ?? '') + (t.project ?? '')}
      empty={<Empty>No entries in this period.</Empty>}
      columns={[
        { name: 'Name', text: t => t.name },
        ...text('E-mail', 'email'),
        ...text('Organization', 'organization'),
        ...text('Project', 'project'),
        sum('Commits', 'commits'),
        sum('Insertions', 'insertions'),
        sum('Deletions', 'deletions'),
        { name: 'First', text: t => day(t.first_commit) },
        { name: 'Last', text: t => day(t.last_commit) },
      ]}
    />
  );
}
