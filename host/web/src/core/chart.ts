// Time charts. In a file of its own, loaded when the first is shown.
import uPlot from 'uplot';

/** repainted calls f when the theme has changed, and returns what ends that. */
function repainted(f: () => void): () => void {
  const theme = matchMedia('(prefers-color-scheme: dark)'), attributes = new MutationObserver(f);
  theme.addEventListener('change', f);
  attributes.observe(document.documentElement, { attributes: true });
  return () => { theme.removeEventListener('change', f); attributes.disconnect(); };
}

/** line draws series over time (seconds) and returns what removes the chart. */
export function line(into: HTMLElement, t: number[], series: { label: string; values: number[]; bars?: boolean }[]): () => void {
  let gone = draw(into, t, series);
  const end = repainted(() => { gone(); gone = draw(into, t, series); });
  return () => { end(); gone(); };
}

function draw(into: HTMLElement, t: number[], series: { label: string; values: number[]; bars?: boolean }[]): () => void {
  const css = getComputedStyle(into), v = (n: string) => css.getPropertyValue('--' + n).trim(), colours = [v('accent'), v('good'), v('warn'), v('bad')];
  into.replaceChildren();
  const axis = { stroke: v('soft'), grid: { stroke: v('line'), width: 1 }, ticks: { stroke: v('line'), width: 1 } };
  const u = new uPlot({ width: into.clientWidth || 600, height: 240, axes: [axis, { ...axis, size: 60 }], scales: { y: { range: (_u, _min, max) => [0, max || 1] } },
    series: [{}, ...series.map((s, i) => ({ label: s.label, stroke: colours[i % 4]!, width: 2, ...(s.bars ? { paths: uPlot.paths.bars!({ size: [0.8, 60] }), fill: colours[i % 4]!, points: { show: false } } : {}) }))] }, [t, ...series.map(s => s.values)], into);
  const size = new ResizeObserver(() => { if (into.clientWidth) u.setSize({ width: into.clientWidth, height: 240 }); });
  size.observe(into);
  return () => { size.disconnect(); u.destroy(); };
}
