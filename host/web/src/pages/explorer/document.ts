// The description of the API, as a list of operations.
import { natural } from '../../core/text';
import { Schema } from './schema';

interface Parameter {
  name: string;
  in: string;
  required?: boolean;
  description?: string;
  schema?: Schema;
  $ref?: string;
}

export interface Operation {
  summary?: string;
  description?: string;
  tags?: string[];
  parameters?: Parameter[];
  requestBody?: { content?: Record<string, { schema?: Schema }> };
  responses?: Record<string, { content?: Record<string, unknown> }>;
}

export interface Document {
  paths: Record<string, Record<string, Operation> & { parameters?: Parameter[] }>;
  components?: { schemas?: Record<string, Schema>; parameters?: Record<string, Parameter> };
}

export interface Entry {
  id: string;
  twin?: string;
  verb: string;
  path: string;
  op: Operation;
  group: string;
  parameters: Parameter[];
}

const verbs = ['get', 'post', 'put', 'patch', 'delete'] as const;

export function entries(doc: Document): Entry[] {
  const out: Entry[] = [];
  for (const [path, item] of Object.entries(doc.paths))
    for (const verb of verbs) {
      const op = item[verb];
      if (!op) continue;
      const parameters = [...(item.parameters ?? []), ...(op.parameters ?? [])].map(p =>
        p.$ref ? (doc.components?.parameters?.[p.$ref.split('/').pop()!] ?? p) : p,
      );
      out.push({
        id: `${verb.toUpperCase()} ${path}`,
        verb: verb.toUpperCase(),
        path,
        op,
        group: op.tags?.[0] ?? '',
        parameters,
      });
    }
  // The same thing is at /restconf (RFC 8040 of before) and /rests: the list shows it once.
  const ids = new Set(out.map(e => e.id));
  for (const e of out) {
    const m = /^(\w+) \/rests\/(operations|data|streams)(.*)$/.exec(e.id),
      twin =
        m &&
        (m[2] === 'data' ? ['config', 'operational', 'data'] : [m[2]!])
          .map(k => `${m[1]} /restconf/${k}${m[3]}`)
          .find(i => ids.has(i));
    if (twin) e.twin = twin;
  }
  return out.sort((a, b) => natural(a.group, b.group) || natural(a.path, b.path));
}
