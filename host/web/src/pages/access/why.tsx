// Why somebody may or may not do something.
import { useState } from 'preact/hooks';
import { call, me } from '../../core/api';
import { Choice, Field, Mark, Outcome, Table, useAct } from '../../core/ui';

interface Explanation {
  allowed: boolean;
  verdict: string;
  reason: string;
  user: string;
  realm: string;
  roles: string[];
  login?: string;
  addresses: {
    address: string;
    line: number;
    rule?: string;
    policy?: string;
    verdict: string;
    decisive: boolean;
  }[];
}

/** Why takes a user and a request, and shows what decides about it. */
export function Why() {
  const [f, setF] = useState({
      user: me.value?.user ?? '',
      method: 'GET',
      path: '/restconf/operational/network-topology:network-topology',
    }),
    [x, setX] = useState<Explanation | null>(null),
    act = useAct();
  return (
    <>
      <p class="soft">
        Whether a request would be allowed, and which rule or policy decides. Nothing is sent.
      </p>
      <form
        class="row"
        onSubmit={e => {
          e.preventDefault();
          act.run(async () => {
            setX(
              await call<Explanation>(
                '/auth/v1/access/explain?' + new URLSearchParams(f).toString(),
              ),
            );
          });
        }}
      >
        <Field
          label="User"
          value={f.user}
          onInput={e => setF({ ...f, user: e.currentTarget.value })}
          hint="NAME, NAME@DOMAIN or REALM/NAME"
        />
        <Choice
          label="Method"
          value={f.method}
          options={['GET', 'POST', 'PUT', 'PATCH', 'DELETE'].map(m => [m, m])}
          onChange={method => setF({ ...f, method })}
        />
        <div class="wide">
          <Field
            label="Path"
            value={f.path}
            onInput={e => setF({ ...f, path: e.currentTarget.value })}
          />
        </div>
        <button disabled={act.busy}>Explain</button>
      </form>
      <Outcome act={act} />
      {x && (
        <section class="card" data-state="explained">
          <p>
            <Mark tone={x.allowed ? 'good' : 'bad'}>{x.allowed ? 'allowed' : x.verdict}</Mark>{' '}
            {x.reason}
          </p>
          <p class="soft">
            {x.user} of realm {x.realm}, roles {x.roles.join(', ') || 'none'}
            {x.login && `; cannot log in: ${x.login}`}
          </p>
          <Table
            name="Addresses"
            rows={x.addresses}
            id={a => a.address}
            columns={[
              { name: 'Address', text: a => a.address },
              { name: 'Line', text: a => a.line || '' },
              { name: 'Rule', text: a => a.rule ?? '' },
              { name: 'Policy', text: a => a.policy ?? '' },
              { name: 'Verdict', text: a => a.verdict },
            ]}
          />
        </section>
      )}
    </>
  );
}
