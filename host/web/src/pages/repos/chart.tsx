// A picture of bars on the page, which can be saved.
import { useMemo } from 'preact/hooks';
import { csv, download } from '../../core/data';
import { colours } from '../../core/theme';
import { Outcome, useAct } from '../../core/ui';
import { Bars, Shape, draw, height, letters, png, svg, width } from './picture';

/** Chart shows bars, and saves them as a picture or their numbers as CSV. */
export function Chart({ bars, file }: { bars: Bars; file: string }) {
  const shapes = useMemo(() => draw(bars), [bars]),
    act = useAct();
  const savePNG = async () => download(file + '.png', 'image/png', await png(shapes));
  const rows = [
    ['name', ...bars.series.map(s => s.label)],
    ...bars.names.map((n, i) => [n, ...bars.series.map(s => s.values[i] ?? 0)]),
  ];
  return (
    <section class="card">
      <div class="title">
        <h2>{bars.title}</h2>
        <div class="side">
          <button
            class="plain"
            onClick={() => download(file + '.svg', 'image/svg+xml', svg(shapes, colours()))}
          >
            SVG
          </button>
          <button class="plain" onClick={() => act.run(savePNG)}>
            PNG
          </button>
          <button class="plain" onClick={() => download(file + '.csv', 'text/csv', csv(rows))}>
            CSV
          </button>
        </div>
      </div>
      <Outcome act={act} />
      <div class="scroll" tabIndex={0} role="group" aria-label={`Chart: ${bars.title}`}>
        <svg
          class="picture"
          viewBox={`0 0 ${width} ${height}`}
          font-size={letters}
          role="img"
          aria-label={`${bars.title}: ${bars.names.length} bars`}
        >
          {shapes.map((s, i) => (
            <Drawn key={i} s={s} />
          ))}
        </svg>
      </div>
    </section>
  );
}

function Drawn({ s }: { s: Shape }) {
  const colour = `var(--${s.colour})`;
  if (s.kind === 'line') return <line x1={s.x} y1={s.y} x2={s.x2} y2={s.y2} stroke={colour} />;
  if (s.kind === 'text')
    return (
      <text x={s.x} y={s.y} text-anchor={s.anchor} fill={colour}>
        {s.text}
      </text>
    );
  return (
    <rect x={s.x} y={s.y} width={s.w} height={s.h} fill={colour}>
      <title>{s.text}</title>
    </rect>
  );
}
