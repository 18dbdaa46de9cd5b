// The dialog that makes a channel and deploys it.
import { useState } from 'preact/hooks';
import { Channel } from '../../bier/channel';
import { configure } from '../../bier/configure';
import { rpc } from '../../core/api';
import { useData } from '../../core/data';
import { to } from '../../core/route';
import { Known } from './known';
import { Dialog, Empty, Field, Loaded, Outcome, useAct } from '../../core/ui';

/** fieldsOf is what the fields begin with. */
const fieldsOf = (channel: Channel | null, known: Known) => ({
  name: channel?.name ?? '',
  src: channel?.['src-ip'] ?? '10.0.0.1',
  group: channel?.['dst-group'] ?? '232.0.0.1',
  domain: String(channel?.['domain-id'] ?? known.domains[0]?.id ?? 1),
  sub: String(channel?.['sub-domain-id'] ?? 0),
});

/** requestText is a request as the preview shows it. */
const requestText = (operation: string, input: object): string =>
  `POST …/bier-channel-api:${operation}\n${JSON.stringify({ input }, null, 1)}\n`;

interface EndsProps {
  list: string[];
  name: (n: string) => string;
  ingress: string;
  egress: Set<string>;
  onChange: (ingress: string, egress: Set<string>) => void;
}

/** Ends chooses the ingress and the egresses of a channel among the routers of the sub-domain. */
function Ends({ list, name, ingress, egress, onChange }: EndsProps) {
  const enter = (n: string) => {
    const rest = new Set(egress);
    rest.delete(n);
    onChange(n, rest);
  };
  const leave = (n: string) => {
    const now = new Set(egress);
    if (!now.delete(n)) now.add(n);
    onChange(ingress, now);
  };
  return (
    <fieldset>
      <legend>Routers of the sub-domain</legend>
      {list.map(n => (
        <div key={n} class="row tight">
          <span>{name(n)}</span>
          <label class="check">
            <input type="radio" name="ingress" checked={ingress === n} onChange={() => enter(n)} />{' '}
            ingress
          </label>
          <label class="check">
            <input
              type="checkbox"
              disabled={ingress === n}
              checked={egress.has(n)}
              onChange={() => leave(n)}
            />{' '}
            egress
          </label>
        </div>
      ))}
    </fieldset>
  );
}

/** Wizard makes a channel and deploys it: flow, ingress, egresses, then what will be sent. */
export function Wizard({
  id,
  known,
  name,
  channel,
  onClose,
}: {
  id: string;
  known: Known;
  name: (n: string) => string;
  channel: Channel | null;
  onClose: () => void;
}) {
  const act = useAct(),
    [f, setF] = useState(() => fieldsOf(channel, known));
  const [ingress, setIngress] = useState(channel?.['ingress-node'] ?? ''),
    [egress, setEgress] = useState(
      new Set((channel?.['egress-node'] ?? []).map(e => e['node-id'])),
    ),
    [made, setMade] = useState(channel !== null);
  const members = useData(
    () =>
      rpc('bier-topology-api:query-subdomain-node', {
        'topology-id': id,
        'domain-id': Number(f.domain),
        'sub-domain-id': Number(f.sub),
      }).then(r => (r['subdomain-node'] ?? []).map(n => n['node-id'])),
    [f.domain, f.sub],
  );
  const add = {
      'topology-id': id,
      name: f.name,
      'src-ip': f.src,
      'dst-group': f.group,
      'domain-id': Number(f.domain),
      'sub-domain-id': Number(f.sub),
      'source-wildcard': 32,
      'group-wildcard': 32,
    },
    deploy = {
      'topology-id': id,
      'channel-name': f.name,
      'ingress-node': ingress,
      'egress-node': [...egress].map(e => ({ 'node-id': e })),
    };
  const set = (k: keyof typeof f) => (e: { currentTarget: HTMLInputElement }) =>
    setF({ ...f, [k]: e.currentTarget.value });
  return (
    <Dialog title={channel ? `Deploy ${channel.name}` : 'New channel'} onClose={onClose}>
      {!channel && (
        <>
          <Field label="Name" required value={f.name} onInput={set('name')} />
          <div class="row">
            <Field label="Source" value={f.src} onInput={set('src')} hint="0.0.0.0 is any" />
            <Field label="Group" value={f.group} onInput={set('group')} />
          </div>
          <div class="row">
            <Field label="Domain" value={f.domain} onInput={set('domain')} />
            <Field label="Sub-domain" value={f.sub} onInput={set('sub')} />
          </div>
        </>
      )}
      <Loaded data={members}>
        {list =>
          list.length ? (
            <Ends
              list={list}
              name={name}
              ingress={ingress}
              egress={egress}
              onChange={(from, to) => {
                setIngress(from);
                setEgress(to);
              }}
            />
          ) : (
            <Empty
              action={
                <a class="button" href={to(['bier', id, 'nodes'])}>
                  To the nodes
                </a>
              }
            >
              The sub-domain has no router.
            </Empty>
          )
        }
      </Loaded>
      <details>
        <summary>What will be sent</summary>
        <pre class="code">
          {!made && requestText('add-channel', add)}
          {requestText('deploy-channel', deploy)}
        </pre>
      </details>
      <Outcome act={act} />
      <p class="actions">
        <button
          disabled={act.busy || !f.name || !ingress || !egress.size}
          onClick={() =>
            act.run(async () => {
              if (!made) {
                await configure('bier-channel-api:add-channel', add);
                setMade(true);
              }
              await configure('bier-channel-api:deploy-channel', deploy);
              return 'Deployed: the list shows each router.';
            })
          }
        >
          Deploy
        </button>
        {(!f.name || !ingress || !egress.size) && (
          <small class="soft">It needs a name, an ingress and an egress.</small>
        )}
      </p>
    </Dialog>
  );
}
