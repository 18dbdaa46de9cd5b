// The plugins, to restart and stop them.
import { useState } from 'preact/hooks';
import { rpc } from '../../core/api';
import { age, count, stamp } from '../../core/data';
import { to } from '../../core/route';
import { PluginDialog } from './plugin';
import { Plugin, need, pluginTone } from './status';
import { Confirm, Empty, Mark, Outcome, Table, useAct } from '../../core/ui';

const operations = {
  restart: 'ctl-system:restart-plugin',
  start: 'ctl-system:start-plugin',
  stop: 'ctl-system:stop-plugin',
} as const;

/** Plugins lists the plugins; role admin restarts, stops and starts them here. */
export function Plugins({ list, reload }: { list: Plugin[]; reload: () => void }) {
  const [shown, setShown] = useState(''),
    [ask, setAsk] = useState<{ what: 'stop' | 'restart'; name: string } | null>(null),
    act = useAct(),
    does = (what: 'restart' | 'start' | 'stop', name: string) =>
      act.run(async () => {
        await rpc(operations[what], { name });
        reload();
        return `${name}: ${{ restart: 'restarted', start: 'started', stop: 'stopped' }[what]}.`;
      });
  return (
    <>
      <Outcome act={act} />
      <Table
        name="Plugins"
        rows={list}
        id={p => p.name}
        empty={
          <Empty
            action={
              <a class="button" href={to(['system', 'features'])}>
                Install a feature
              </a>
            }
          >
            No plugin runs.
          </Empty>
        }
        columns={[
          {
            name: 'Name',
            text: p => p.name,
            cell: p => (
              <button class="link" {...need()} onClick={() => setShown(p.name)}>
                {p.name}
              </button>
            ),
          },
          {
            name: 'State',
            text: p => p.state,
            cell: p => <Mark tone={pluginTone(p)}>{p.state}</Mark>,
          },
          {
            name: 'Changed',
            text: p => p.since ?? '',
            cell: p => <time title={stamp(p.since)}>{age(p.since)}</time>,
          },
          { name: 'Restarts', text: p => p.restarts, right: true },
          { name: 'Calls', text: p => Number(p.calls), right: true },
          {
            name: 'Errors',
            text: p => Number(p.errors),
            right: true,
            cell: p =>
              Number(p.errors) > 0 ? (
                <a
                  href={to(['system', 'log'], { q: 'plugin.' + p.name })}
                  aria-label={`${count(Number(p.errors), 'error')}: the log of ${p.name}`}
                >
                  <Mark tone="warn">{p.errors}</Mark>
                </a>
              ) : (
                0
              ),
          },
          { name: 'Refused', text: p => Number(p.refused), right: true },
          { name: 'PID', text: p => p.pid ?? '', right: true },
          ...(list.some(p => p.reason)
            ? [{ name: 'Reason', text: (p: Plugin) => p.reason ?? '' }]
            : []),
          {
            name: 'Do',
            text: () => '',
            cell: p => (
              <>
                <button
                  class="plain"
                  {...need()}
                  onClick={() =>
                    p.serving ? setAsk({ what: 'restart', name: p.name }) : does('restart', p.name)
                  }
                >
                  {p.serving ? 'Restart…' : 'Restart'}
                </button>{' '}
                {p.state === 'stopped' ? (
                  <button class="plain" {...need()} onClick={() => does('start', p.name)}>
                    Start
                  </button>
                ) : (
                  <button
                    class="plain"
                    {...need()}
                    onClick={() => setAsk({ what: 'stop', name: p.name })}
                  >
                    Stop…
                  </button>
                )}
              </>
            ),
          },
        ]}
      />
      {ask && (
        <Confirm
          title={`${ask.what === 'stop' ? 'Stop' : 'Restart'} ${ask.name}`}
          verb={ask.what === 'stop' ? 'Stop' : 'Restart'}
          onClose={() => setAsk(null)}
          onDo={() => does(ask.what, ask.name)}
        >
          {ask.what === 'stop'
            ? 'Its operations, data and pages answer 503 until it is started again; ' +
              'the features stay installed.'
            : 'Calls in progress get a short time to end and are then aborted. ' +
              'Until the plugin is ready again, calls wait or answer 503.'}
        </Confirm>
      )}
      {shown && <PluginDialog name={shown} onClose={() => setShown('')} />}
    </>
  );
}
