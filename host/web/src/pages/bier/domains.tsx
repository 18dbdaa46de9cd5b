// Domains and sub-domains of a BIER topology.
import { useState } from 'preact/hooks';
import { Configuring, InputOf } from '../../api/rows';
import { configure } from '../../bier/configure';
import { count } from '../../core/data';
import { Domain } from './known';
import { Choice, Confirm, Empty, Field, Table, useAct } from '../../core/ui';

/** Domains lists domains with their sub-domains; one adds and deletes them here. */
export function Domains({
  id,
  domains,
  done,
  act,
}: {
  id: string;
  domains: Domain[];
  done: () => void;
  act: ReturnType<typeof useAct>;
}) {
  const free = (used: number[], from: number) => {
    let n = from;
    while (used.includes(n)) n++;
    return String(n);
  };
  const [domain, setDomain] = useState<string | null>(null),
    [sub, setSub] = useState<string | null>(null),
    [of, setOf] = useState(''),
    [gone, setGone] = useState<Domain | null>(null),
    at = domains.find(d => String(d.id) === of) ?? domains[0],
    next =
      domain ??
      free(
        domains.map(d => d.id),
        1,
      ),
    nextSub = sub ?? free(at?.subs ?? [], 0),
    run = <N extends Configuring>(text: string, operation: N, input: InputOf<N>) =>
      act.run(async () => {
        await configure(operation, { 'topology-id': id, ...input });
        done();
        return text;
      });
  return (
    <>
      <Table
        name="Domains"
        rows={domains}
        id={d => String(d.id)}
        empty={<Empty>There is no BIER domain yet. A new one has the sub-domain 0.</Empty>}
        columns={[
          { name: 'Domain id', text: d => d.id },
          { name: 'Sub-domain ids', text: d => d.subs.join(', ') },
          {
            name: 'Do',
            text: () => '',
            cell: d => (
              <button class="plain" onClick={() => setGone(d)}>
                Delete…
              </button>
            ),
          },
        ]}
      />
      <div class="row">
        <Field
          label="Domain"
          inputMode="numeric"
          value={next}
          onInput={e => setDomain(e.currentTarget.value)}
          hint="1..255"
        />
        <button
          onClick={() => {
            run(`Domain ${next} is added.`, 'bier-topology-api:configure-domain', {
              domain: [Number(next)],
            });
            setDomain(null);
          }}
        >
          Add domain
        </button>
      </div>
      {at && (
        <div class="row">
          <Choice
            label="In domain"
            value={String(at.id)}
            options={domains.map(d => [String(d.id), String(d.id)])}
            onChange={setOf}
          />
          <Field
            label="Sub-domain"
            inputMode="numeric"
            value={nextSub}
            onInput={e => setSub(e.currentTarget.value)}
            hint="0..255"
          />
          <button
            onClick={() => {
              run(
                `Sub-domain ${nextSub} of domain ${at.id} is added.`,
                'bier-topology-api:configure-subdomain',
                {
                  'domain-id': at.id,
                  'sub-domain': [Number(nextSub)],
                },
              );
              setSub(null);
            }}
          >
            Add sub-domain
          </button>
        </div>
      )}
      {gone && (
        <Confirm
          title={`Delete domain ${gone.id}`}
          verb="Delete"
          onClose={() => setGone(null)}
          onDo={() =>
            run(`Domain ${gone.id} is deleted.`, 'bier-topology-api:delete-domain', {
              'domain-id': gone.id,
            })
          }
        >
          Its {count(gone.subs.length, 'sub-domain')} and what its routers have there are deleted
          with it. It is refused while a channel uses it.
        </Confirm>
      )}
    </>
  );
}
