// The controller itself: its tabs.
import { useEffect } from 'preact/hooks';
import { stamp, useData } from '../../core/data';
import { route, to } from '../../core/route';
import { Audit } from './audit';
import { Certificates } from './certificates';
import { Cluster } from './cluster';
import { Events } from './events';
import { Features } from './features';
import { Log } from './log';
import { Metrics } from './metrics';
import { Plugins } from './plugins';
import { Snapshots } from './snapshots';
import { status } from './status';
import { Tasks } from './tasks';
import { Loaded, Tabs, Title } from '../../core/ui';

/** SystemPage shows the controller, read again every ten seconds. */
export function SystemPage() {
  const tab = route.value.path[1] ?? 'plugins',
    data = useData(() => status(true), [tab]);
  useEffect(() => {
    const t = setInterval(() => {
      if (!document.hidden) data.reload();
    }, 10_000);
    return () => clearInterval(t);
  }, []);
  return (
    <>
      <Title
        side={
          data.value && (
            <span class="soft small">
              version {data.value.version}, node {data.value.node}, up since{' '}
              {stamp(data.value.started)}
            </span>
          )
        }
      >
        System
      </Title>
      <Tabs
        base={t => to(['system', t])}
        now={tab}
        tabs={[
          ['plugins', 'Plugins'],
          ['features', 'Features'],
          ['tasks', 'In progress'],
          ['events', 'Events'],
          ['log', 'Log'],
          ['audit', 'Audit'],
          ['cluster', 'Cluster'],
          ['certificates', 'Certificates'],
          ['snapshots', 'Snapshots'],
          ['metrics', 'Metrics'],
        ]}
      />
      <Loaded data={data}>
        {s => (
          <>
            {tab === 'plugins' && <Plugins list={s.plugin ?? []} reload={data.reload} />}
            {tab === 'features' && <Features list={s.feature ?? []} reload={data.reload} />}
            {tab === 'tasks' && <Tasks plugins={s.plugin ?? []} />}
            {tab === 'events' && <Events />}
            {tab === 'log' && <Log />}
            {tab === 'audit' && <Audit />}
            {tab === 'cluster' && <Cluster />}
            {tab === 'certificates' && <Certificates />}
            {tab === 'snapshots' && <Snapshots />}
            {tab === 'metrics' && <Metrics list={s.plugin ?? []} />}
          </>
        )}
      </Loaded>
    </>
  );
}
