// The details of one plugin.
import { rpc, show, word } from '../../core/api';
import { age, count, useData } from '../../core/data';
import { to } from '../../core/route';
import { Dialog, Loaded, Mark } from '../../core/ui';

/** PluginDialog shows what a plugin may do, how it is isolated, and its last lines. */
export function PluginDialog({ name, onClose }: { name: string; onClose: () => void }) {
  interface Grant {
    grant: string;
    words: string;
    state: string;
    by?: string;
  }
  const data = useData(() => rpc('ctl-system:get-plugin', { name }), [name]),
    grants = useData(
      () =>
        show<{
          requests?: Grant[];
          denied?: number;
          isolatedBy?: string[];
          notAvailable?: string[];
        }>('plugin:info ' + word(name)).then(r => r.value),
      [name],
    );
  return (
    <Dialog title={`Plugin ${name}`} onClose={onClose}>
      <Loaded data={data}>
        {d => (
          <>
            <dl class="facts">
              {(
                [
                  ['Started', d.started && age(d.started)],
                  ['Last error', d['last-error']],
                  ['Started again', d['restart-at']],
                  ['Offers', d.capability?.join(', ')],
                  ['Uses', d.uses?.join(', ')],
                  ['Program', d.path],
                  ['SHA-256', d.sha256],
                  ['Data', d['data-directory']],
                  ...(d.health ?? []).map(h => [h.name, h.value]),
                ] as [string, string | undefined][]
              )
                .filter(([, v]) => v)
                .map(([k, v]) => (
                  <>
                    <dt>{k}</dt>
                    <dd class="wrap">{v}</dd>
                  </>
                ))}
            </dl>
            {(d.warning ?? []).map(w => (
              <p key={w} class="note warn">
                {w}
              </p>
            ))}
            <h3>What it may do besides serving</h3>
            <Loaded data={grants}>
              {i => (
                <>
                  {i.requests?.length ? (
                    <ul class="plainlist">
                      {i.requests.map(g => (
                        <li key={g.grant}>
                          <Mark
                            tone={
                              g.state === 'granted'
                                ? 'good'
                                : g.state === 'refused'
                                  ? 'bad'
                                  : 'warn'
                            }
                          >
                            {g.state}
                          </Mark>{' '}
                          <code class="wrap">{g.grant}</code>{' '}
                          <span class="soft">
                            {g.words}
                            {g.by && `, by ${g.by}`}
                          </span>
                        </li>
                      ))}
                    </ul>
                  ) : (
                    <p class="soft">It requests nothing.</p>
                  )}
                  {i.denied ? (
                    <p class="note warn">
                      It tried {count(i.denied, 'time')} what it was not granted:{' '}
                      <a href={to(['system', 'audit'])}>see the audit</a>.
                    </p>
                  ) : null}
                  <h3>How it is isolated</h3>
                  <ul class="plainlist">
                    {(i.isolatedBy ?? []).map(x => (
                      <li key={x}>
                        <Mark tone="good">{x}</Mark>
                      </li>
                    ))}
                    {(i.notAvailable ?? []).map(x => (
                      <li key={x}>
                        <Mark tone="soft">{x}</Mark>
                      </li>
                    ))}
                  </ul>
                </>
              )}
            </Loaded>
            <h3>Last lines</h3>
            <pre class="code" tabIndex={0}>
              {(d.line ?? []).join('\n') || 'It has not logged anything.'}
            </pre>
          </>
        )}
      </Loaded>
    </Dialog>
  );
}
