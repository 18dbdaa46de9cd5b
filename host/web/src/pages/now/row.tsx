// One trouble.
import { me, rpc } from '../../core/api';
import { age, stamp } from '../../core/data';
import { to } from '../../core/route';
import { printable } from '../../core/text';
import { Trouble, isOpen, readTroubles } from '../../core/troubles';
import { Mark, Words, useAct } from '../../core/ui';

const kinds: Record<string, string> = {
  plugin: 'Plugin does not serve',
  'yang-modules': 'Modules refused',
  'link-lost': 'Link lost',
  'node-lost': 'Node lost',
  'node-silent': 'No answer',
  'source-silent': 'Topology not observed',
  'certificate-ends': 'Certificate ends',
  lockout: 'Logins refused',
  store: 'Datastore',
  quorum: 'Datastore',
  disk: 'Disk',
  audit: 'Audit',
  lease: 'Cluster',
  'vlan-mismatch': 'VLAN does not match',
};

/** titleOf is a trouble in some words. */
export const titleOf = (t: Trouble): string => {
  const kind = t.kind ?? '';
  return kinds[kind] ?? kind.charAt(0).toUpperCase() + kind.slice(1).replace(/-/g, ' ');
};

/** placeOf is the page where the resource of a trouble is shown. */
function placeOf(t: Trouble): { href: string; label: string } | null {
  const nodes = (t.end ?? []).map(e => e.node ?? '').filter(Boolean);
  if (t.topology && nodes.length === 1 && t.kind === 'node-silent')
    return { href: to(['devices', t.topology, nodes[0]!]), label: 'Open' };
  if (t.topology)
    return { href: to(['map', t.topology], { sel: nodes.join(',') }), label: 'Show on map' };
  if (t.kind === 'certificate-ends')
    return { href: to(['system', 'certificates']), label: 'Certificates' };
  if (t.kind === 'plugin' || t.kind === 'yang-modules' || t.reporter?.startsWith('plugin '))
    return { href: to(['system', 'plugins']), label: 'Plugins' };
  return { href: to(['system', 'log']), label: 'Log' };
}

/** needMark says in a button's title that a role is missing. */
export const needMark = () =>
  me.value?.roles.some(r => r === 'admin' || r === 'operator')
    ? {}
    : { disabled: true, title: 'This needs the role admin or operator' };

/** Known says who acknowledged or silenced a trouble. */
function Known({ t }: { t: Trouble }) {
  const m = t.silenced ?? t.acknowledged;
  if (!m) return null;
  return (
    <p class="soft">
      {t.silenced ? `Silenced until ${stamp(t.silenced.until)}` : 'Acknowledged'} by {m.by},{' '}
      <time title={stamp(m.at)}>{age(m.at)}</time>
      {m.note && `: ${printable(m.note)}`}
    </p>
  );
}

interface Props {
  t: Trouble;
  act: ReturnType<typeof useAct>;
  onMark: () => void;
}

/** Row shows a trouble with its time, cause and remedy; it leads to its place. */
export function Row({ t, act, onMark }: Props) {
  const place = placeOf(t),
    id = t.id ?? '',
    tone = !isOpen(t) ? 'soft' : t.severity === 'warning' ? 'warn' : 'bad';
  const withdraw = () =>
    act.run(async () => {
      const input = { id, withdraw: true };
      if (t.silenced) await rpc('ctl-system:silence-trouble', input);
      if (t.acknowledged) await rpc('ctl-system:acknowledge-trouble', input);
      await readTroubles();
      return 'It counts again.';
    });
  return (
    <li class="card" data-kind={t.kind} data-open={isOpen(t)}>
      <div class="title">
        <h2>
          <Mark tone={tone}>{titleOf(t)}</Mark>{' '}
          <Words>{printable(t.subject ?? t.resource ?? '')}</Words>
        </h2>
        <time class="soft" title={stamp(t.since)}>
          {stamp(t.since)} · {age(t.since)}
        </time>
      </div>
      <p>{printable(t.cause ?? '')}</p>
      {t.remedy && <p class="soft">{printable(t.remedy)}</p>}
      <Known t={t} />
      <p class="actions">
        {place && (
          <a class="button" href={place.href}>
            {place.label}
          </a>
        )}
        {isOpen(t) ? (
          <button class="plain" {...needMark()} onClick={onMark}>
            Acknowledge…
          </button>
        ) : (
          <button class="plain" {...needMark()} disabled={act.busy} onClick={withdraw}>
            Count again
          </button>
        )}
      </p>
    </li>
  );
}
