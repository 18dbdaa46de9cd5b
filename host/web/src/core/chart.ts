// Time charts. In a file of its own, loaded when the first is shown.
import uPlot from 'uplot';
import type { Theme } from './theme';
import type { Series } from './ui/chart';

/**
 * line draws series over time (seconds) in the colours of a theme and returns what removes the
 * chart.
 */
export function line(into: HTMLElement, t: number[], series: Series[], theme: Theme): () => void {
  let gone = draw(into, t, series, theme);
  const end = theme.onTheme(() => {
    gone();
    gone = draw(into, t, series, theme);
  });
  return () => {
    end();
    gone();
  };
}

function draw(into: HTMLElement, t: number[], series: Series[], theme: Theme): () => void {
  const v = theme.colours(),
    hues = series.map((s, i) => v(s.tone ?? (i ? 'info' : 'accent'))),
    dashed = (s: Series) => s.tone === 'bad';
  into.replaceChildren();
  const edge = t.length < 2 ? 864_000 : 0;
  const two = (n: number) => String(n).padStart(2, '0'),
    long = t.length > 0 && t[t.length - 1]! - t[0]! > 172_800;
  const when = (_u: uPlot, list: number[]) =>
    list.map(s => {
      const d = new Date(s * 1000);
      return long
        ? `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}`
        : `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`;
    });
  const axis = {
    stroke: v('soft'),
    grid: { stroke: v('line'), width: 1 },
    ticks: { stroke: v('line'), width: 1 },
  };
  // Until a time is pointed at, the legend shows the last.
  const u = new uPlot(
    {
      width: into.clientWidth || 600,
      height: 240,
      legend: { markers: { dash: (_u, i) => (dashed(series[i - 1]!) ? 'dashed' : 'solid') } },
      axes: [
        {
          ...axis,
          values: when,
          space: 90,
          incrs: [
            1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 604_800,
            1_209_600, 2_592_000, 5_184_000, 7_776_000, 15_552_000, 31_536_000,
          ],
        },
        { ...axis, size: 60 },
      ],
      scales: {
        x: {
          range: (_u, min, max) =>
            t.length < 2 ? [t[0]! - edge, t[0]! + edge] : [min - edge, max + edge],
        },
        y: { range: (_u, _min, max) => [0, (max || 1) * 1.1] },
      },
      series: [
        { label: 'Time', value: (u, s) => when(u, [s ?? t.at(-1)!])[0]! },
        ...series.map((s, i) => ({
          label: s.label,
          value: (_u: uPlot, v: number | null) =>
            (v ?? s.values.at(-1))?.toLocaleString('en') ?? '–',
          stroke: hues[i]!,
          width: 2,
          ...(dashed(s) ? { dash: [6, 4] } : {}),
        })),
      ],
    },
    [t, ...series.map(s => s.values)],
    into,
  );
  const size = new ResizeObserver(() => {
    if (into.clientWidth) u.setSize({ width: into.clientWidth, height: 240 });
  });
  size.observe(into);
  return () => {
    size.disconnect();
    u.destroy();
  };
}
