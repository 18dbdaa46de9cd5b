// Commits and lines over time.
import { useMemo } from 'preact/hooks';
import { csv, download } from '../../core/data';
import { Point } from './report';
import { Chart } from '../../core/ui';

/** Timeline is a chart of commits and lines. */
export function Timeline({ points, interval }: { points: Point[]; interval: string }) {
  const times = useMemo(() => points.map(p => Date.parse(p.start) / 1000), [points]),
    series = useMemo(
      () => [{ label: `commits a ${interval}`, values: points.map(p => p.commits), bars: true }],
      [points],
    );
  return (
    <section class="card">
      <div class="title">
        <h2>Commits by {interval}</h2>
        <button
          class="plain"
          onClick={() =>
            download(
              'timeline.csv',
              'text/csv',
              csv([
                ['start', 'commits', 'insertions', 'deletions', 'authors', 'new authors'],
                ...points.map(p => [
                  p.start,
                  p.commits,
                  p.insertions,
                  p.deletions,
                  p.authors,
                  p.new_authors,
                ]),
              ]),
            )
          }
        >
          CSV
        </button>
      </div>
      <Chart
        times={times}
        series={series}
        label={
          `Commits by ${interval}: ${points.length} points, ` +
          `at most ${Math.max(0, ...points.map(p => p.commits))}`
        }
      />
    </section>
  );
}
