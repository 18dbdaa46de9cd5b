// The report of repositories.
export interface Total {
  name: string;
  email?: string;
  organization?: string;
  commits: number;
  insertions: number;
  deletions: number;
  lines: number;
  first_commit: number;
  last_commit: number;
  projects?: number;
  authors?: number;
}

export interface Point {
  start: string;
  commits: number;
  insertions: number;
  deletions: number;
  authors: number;
  new_authors: number;
}

export interface Report {
  commits: number;
  machine_commits: number;
  merges: number;
  insertions: number;
  deletions: number;
  lines: number;
  people: number;
  organization_count: number;
  projects?: Total[];
  authors?: Total[];
  organizations?: Total[];
  contributors?: { new: Total[]; lost: Total[] };
  timeline?: { interval: string; points: Point[] };
  compared: number;
  failed: { project: string; error: string }[];
}

export const day = (t: number) => (t ? new Date(t * 1000).toISOString().slice(0, 10) : '');
