// What the parts of the page ask, and the addresses that it is asked by.

export type Query = URLSearchParams;

export interface Part {
  label: string;
  /** The path below /repoinfo/git; empty: it is not asked there. */
  path: string;
  fields: string[];
  required: string[];
}

const span = ['project', 'branch', 'ref1', 'ref2', 'since', 'until', 'path'],
  ofReport = (label: string, more: string[] = [], path = 'report'): Part => ({
    label,
    path,
    fields: [...span, ...more],
    required: [],
  });

export const parts: Record<string, Part> = {
  overview: ofReport('Overview', ['interval']),
  projects: ofReport('Projects'),
  authors: ofReport('Authors'),
  organizations: ofReport('Organizations'),
  files: ofReport('Files', [], 'files'),
  new: {
    label: 'New in a release',
    path: 'new',
    fields: ['project', 'ref1', 'ref2', 'path'],
    required: ['ref2'],
  },
  backports: {
    label: 'Missed backports',
    path: 'backports',
    fields: ['project', 'branch', 'from', 'path'],
    required: ['branch'],
  },
  notes: {
    label: 'Release notes',
    path: 'notes',
    fields: ['project', 'ref1', 'ref2', 'group', 'title', 'template'],
    required: ['ref1', 'ref2'],
  },
  compare: {
    label: 'Releases compared',
    path: 'compare',
    fields: ['project', 'ref1', 'ref2', 'ref3', 'path'],
    required: ['ref1', 'ref2'],
  },
  reviews: { label: 'Reviews', path: '', fields: [], required: [] },
};

/** keyOf is the key of a table that an address asks for; another if the table does not have it. */
export const keyOf = (table: object, asked: string | null | undefined, other: string): string =>
  typeof asked === 'string' && Object.hasOwn(table, asked) ? asked : other;

/** fieldsOf are the fields of a part: a report has either a branch or two releases. */
export const fieldsOf = (p: Part, q: Query): string[] =>
  p.fields.filter(
    f => f !== 'branch' || p.required.includes(f) || !(q.get('ref1') && q.get('ref2')),
  );

/** isReady reports whether all that a part needs is given. */
export const isReady = (p: Part, q: Query): boolean =>
  p.required.every(f => q.get(f)) && (p.required.length > 0 || !q.get('ref1') === !q.get('ref2'));

/**
 * address is where a part is asked. One project is named in the path, where access rules see it.
 */
export function address(p: Part, q: Query, more: Record<string, string> = {}): string {
  const given = fieldsOf(p, q)
      .map(f => [f, (q.get(f) ?? '').trim()] as [string, string])
      .filter(([, v]) => v),
    asked = new URLSearchParams([...given, ...Object.entries(more)]),
    project = asked.get('project') ?? '';
  let path = '/repoinfo/git/' + p.path;
  if (project && !project.includes(',')) {
    const name = project.split('/').map(encodeURIComponent).join('/');
    asked.delete('project');
    path = `/repoinfo/projects/${name}/git/${p.path}`;
  }
  return asked.size ? `${path}?${asked}` : path;
}

export const day = (t: number): string => (t ? new Date(t * 1000).toISOString().slice(0, 10) : '');
