// Time charts. In a file of its own, loaded when the first is shown.
import uPlot from 'uplot';
import type { Theme } from './theme';

/** line draws series over time (seconds) in the colours of a theme and returns what removes the chart. */
export function line(into: HTMLElement, t: number[], series: { label: string; values: number[]; bars?: boolean }[], theme: Theme): () => void {
  let gone = draw(into, t, series, theme);
  const end = theme.onTheme(() => { gone(); gone = draw(into, t, series, theme); });
  return () => { end(); gone(); };
}

function draw(into: HTMLElement, t: number[], series: { label: string; values: number[]; bars?: boolean }[], theme: Theme): () => void {
  const v = theme.colours(), hues = [v('accent'), v('good'), v('warn'), v('bad')];
  into.replaceChildren();
  const edge = t.length < 2 ? 864_000 : series.some(s => s.bars) ? (t[1]! - t[0]!) / 2 : 0; // a bar is as wide as its time
  const two = (n: number) => String(n).padStart(2, '0'), long = t.length > 0 && t[t.length - 1]! - t[0]! > 172_800;
  const when = (_u: uPlot, list: number[]) => list.map(s => { const d = new Date(s * 1000); return long ? `${d.getFullYear()}-${two(d.getMonth() + 1)}-${two(d.getDate())}` : `${two(d.getHours())}:${two(d.getMinutes())}:${two(d.getSeconds())}`; });
  const axis = { stroke: v('soft'), grid: { stroke: v('line'), width: 1 }, ticks: { stroke: v('line'), width: 1 } };
  const u = new uPlot({ width: into.clientWidth || 600, height: 240, axes: [{ ...axis, values: when, space: 90, incrs: [1, 5, 10, 30, 60, 300, 600, 1800, 3600, 7200, 21_600, 43_200, 86_400, 172_800, 604_800, 1_209_600, 2_592_000, 5_184_000, 7_776_000, 15_552_000, 31_536_000] }, { ...axis, size: 60 }], scales: { x: { range: (_u, min, max) => t.length < 2 ? [t[0]! - edge, t[0]! + edge] : [min - edge, max + edge] }, y: { range: (_u, _min, max) => [0, max || 1] } },
    series: [{ label: 'Time', value: (u, s) => s === null || s === undefined ? '–' : when(u, [s])[0]! }, ...series.map((s, i) => ({ label: s.label, value: (_u: uPlot, v: number | null) => v === null || v === undefined ? '–' : v.toLocaleString('en'), stroke: hues[i % 4]!, width: 2, ...(s.bars ? { paths: uPlot.paths.bars!({ size: [0.8, 60] }), fill: hues[i % 4]!, points: { show: false } } : {}) }))] }, [t, ...series.map(s => s.values)], into);
  const size = new ResizeObserver(() => { if (into.clientWidth) u.setSize({ width: into.clientWidth, height: 240 }); });
  size.observe(into);
  return () => { size.disconnect(); u.destroy(); };
}
