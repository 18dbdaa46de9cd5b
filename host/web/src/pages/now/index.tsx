// The first page: what is wrong now, and what to do about it.
import { useState } from 'preact/hooks';
import { me } from '../../core/api';
import { age, count, stamp, useData, useTick } from '../../core/data';
import { printable } from '../../core/text';
import { Trouble, Troubles, failure, isOpen, readTroubles, troubles } from '../../core/troubles';
import { Loaded, Outcome, Title, useAct } from '../../core/ui';
import { MarkDialog } from './mark';
import { Row } from './row';

/** Heard says when each source was heard last. */
function Heard({ now }: { now: Troubles }) {
  useTick(5);
  return (
    <ul class="plainlist heard" aria-label="Sources">
      {now.sources.map(s => (
        <li key={s.name}>
          {s.plugin ? `Topology ${printable(s.name ?? '')} by ${s.plugin}` : 'Controller'}:{' '}
          {s.state === 'observing' ? '' : `${s.state}, `}heard{' '}
          <time title={stamp(s.heard)}>{age(s.heard)}</time>
        </li>
      ))}
    </ul>
  );
}

/** List is the troubles: the open ones first. */
function List({ now }: { now: Troubles }) {
  const [marked, setMarked] = useState<Trouble | null>(null),
    act = useAct(),
    known = now.list.filter(t => !isOpen(t));
  return (
    <>
      <Outcome act={act} />
      {now.open === 0 && (
        <p class="note good" role="status" data-state="calm">
          Nothing is wrong{known.length ? ` that nobody knows of` : ''}.
        </p>
      )}
      {now.list.length > 0 && (
        <ul class="plainlist troubles" aria-label="Troubles">
          {[...now.list.filter(isOpen), ...known].map(t => (
            <Row key={t.id} t={t} act={act} onMark={() => setMarked(t)} />
          ))}
        </ul>
      )}
      <Heard now={now} />
      {marked && <MarkDialog t={marked} act={act} onClose={() => setMarked(null)} />}
    </>
  );
}

/** NowPage lists what is wrong, and when each source was heard last. */
export function NowPage() {
  const data = useData(readTroubles, [me.value?.user]),
    now = troubles.value,
    error = failure.value;
  // What was read before is not shown when a newer read has failed, nor to another user.
  const shown = {
    loading: data.loading,
    reload: data.reload,
    ...(now && { value: now }),
    ...(error && { error }),
  };
  return (
    <>
      <Title side={now && <span class="soft">{summary(now)}</span>}>Now</Title>
      <Loaded data={shown}>{list => <List now={list} />}</Loaded>
    </>
  );
}

/** summary counts the troubles. */
function summary(now: Troubles): string {
  const known = now.list.length - now.open;
  return count(now.open, 'open trouble') + (known ? `, ${known} known` : '');
}
