// Calls and errors of the plugins over time.
import { useEffect, useMemo, useState } from 'preact/hooks';
import { csv, download } from '../../core/data';
import { Plugin } from './status';
import { Chart, Choice, Empty, Series } from '../../core/ui';

/** Metrics are calls and errors of each plugin, read every ten seconds while the page is open. */
export function Metrics({ list }: { list: Plugin[] }) {
  const [kept, setKept] = useState<{ t: number; of: Map<string, Plugin> }[]>([]),
    [which, setWhich] = useState(''),
    name = which || list[0]?.name || '';
  useEffect(() => {
    setKept(k => [
      ...k.slice(-359),
      { t: Date.now() / 1000, of: new Map(list.map(p => [p.name, p])) },
    ]);
  }, [list]);
  const [times, series] = useMemo(() => {
    const rate = (leaf: 'calls' | 'errors') =>
      kept
        .slice(1)
        .map((k, i) =>
          Math.max(
            0,
            (Number(k.of.get(name)?.[leaf] ?? 0) - Number(kept[i]!.of.get(name)?.[leaf] ?? 0)) /
              Math.max(0.001, k.t - kept[i]!.t),
          ),
        );
    return [
      kept.slice(1).map(k => k.t),
      [
        { label: 'calls a second', values: rate('calls') },
        { label: 'errors a second', values: rate('errors'), tone: 'bad' },
      ],
    ] as [number[], Series[]];
  }, [kept, name]);
  return (
    <>
      <p class="side">
        <Choice
          label="Plugin"
          value={name}
          options={list.map(p => [p.name, p.name])}
          onChange={setWhich}
        />
      </p>
      {kept.length < 3 ? (
        <Empty>
          A chart needs two more readings, one every ten seconds. The data is lost when this page is
          closed; for longer times use Prometheus with /metrics of the admin listener.
        </Empty>
      ) : (
        <section class="card">
          <div class="title">
            <h2>Calls and errors a second</h2>
            <button
              class="plain"
              onClick={() =>
                download(
                  `${name}-calls.csv`,
                  'text/csv',
                  csv([
                    ['time', ...series.map(s => s.label)],
                    ...times.map((t, i) => [
                      new Date(t * 1000).toISOString(),
                      ...series.map(s => s.values[i]!),
                    ]),
                  ]),
                )
              }
            >
              CSV
            </button>
          </div>
          <Chart label={`Calls and errors a second of ${name}`} times={times} series={series} />
        </section>
      )}
    </>
  );
}
