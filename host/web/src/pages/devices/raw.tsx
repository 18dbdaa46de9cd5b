// A device as the API has it.
import { call } from '../../core/api';
import { useData } from '../../core/data';
import { Graph, Node } from '../../map/graph';
import { Code, Loaded } from '../../core/ui';

/** RawPart shows the node as RESTCONF has it, to copy. */
export function RawPart({ g, n }: { g: Graph; n: Node }) {
  const path =
      '/restconf/operational/network-topology:network-topology' +
      `/topology/${encodeURIComponent(g.id)}/node/${encodeURIComponent(n.id)}`,
    raw = useData(s => call<unknown>(path, { signal: s }), [path]);
  return (
    <>
      <p class="mono soft wrap">GET {path}</p>
      <Loaded data={raw}>{v => <Code>{JSON.stringify(v, null, 2)}</Code>}</Loaded>
    </>
  );
}
