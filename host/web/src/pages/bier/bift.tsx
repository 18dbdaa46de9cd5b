// The forwarding table (RFC 8279 section 6.4) that a node should have.
import { Bift, biftOf } from '../../bier/forwarding';
import { useData } from '../../core/data';
import { route, setQuery } from '../../core/route';
import { Known } from './known';
import { Choice, Empty, Loaded, Table } from '../../core/ui';

/** BiftPart shows the forwarding table (RFC 8279 section 6.4) that a node should have. */
export function BiftPart({
  id,
  known,
  name,
}: {
  id: string;
  known: Known;
  name: (n: string) => string;
}) {
  const q = route.value.query,
    node = q.get('node') ?? known.nodes[0] ?? '',
    domain = q.get('domain') ?? String(known.domains[0]?.id ?? 1),
    sub = q.get('sub') ?? '0';
  const data = useData(
    () =>
      known.domains.length
        ? biftOf(id, node, Number(domain), Number(sub))
        : Promise.resolve([] as Bift[]),
    [id, node, domain, sub, known.domains.length],
  );
  const text = (b: Bift) => (b.tunnel && b.tunnel.length ? [b.tunnel].flat().join(' ') : '');
  return (
    <>
      <div class="row">
        <Choice
          label="Node"
          value={node}
          options={known.nodes.map(n => [n, name(n)])}
          onChange={n => setQuery({ node: n })}
        />
        <Choice
          label="Sub-domain"
          value={`${domain}/${sub}`}
          options={known.domains.flatMap(d =>
            d.subs.map(s => [`${d.id}/${s}`, `${s} of domain ${d.id}`] as [string, string]),
          )}
          onChange={v => setQuery({ domain: v.split('/')[0]!, sub: v.split('/')[1]! })}
        />
      </div>
      <Loaded data={data}>
        {v => (
          <Table
            name="Forwarding table"
            rows={v.map((b, i) => ({ ...b, i }))}
            id={b => String(b.i)}
            empty={<Empty>Without routers in the sub-domain there is no forwarding table.</Empty>}
            columns={[
              { name: 'BFR-id', text: b => b['bfr-id'] },
              { name: 'Router', text: b => name(b['node-id']) },
              { name: 'Next hop', text: b => name(b['bfr-nbr']) },
              { name: 'Tunnel over', text: text },
              { name: 'SI', text: b => b.si },
              { name: 'Length', text: b => b.bitstringlength },
              { name: 'BIFT-id', text: b => b['bift-id'] },
              {
                name: 'F-BM',
                text: b => b['f-bm'],
                cell: b => <code class="wrap">{b['f-bm']}</code>,
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}
