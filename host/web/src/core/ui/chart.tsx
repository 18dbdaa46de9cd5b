// Charts over time, drawn by a file that is loaded with the first.
import { useEffect, useRef, useState } from 'preact/hooks';
import { Fault, faultFrom } from '../api';
import { theme } from '../theme';
import { Tone } from './mark';
import { Failure } from './states';

export interface Series {
  label: string;
  values: number[];
  tone?: Tone;
}

/** Chart shows series over time; its file is loaded when the first is shown. */
export function Chart({
  label,
  times,
  series,
}: {
  label: string;
  times: number[];
  series: Series[];
}) {
  const box = useRef<HTMLDivElement>(null),
    [error, fail] = useState<Fault | null>(null);
  useEffect(() => {
    let gone = () => undefined as void,
      here = true;
    import('../chart')
      .then(c => {
        if (here && box.current && times.length) gone = c.line(box.current, times, series, theme);
      })
      .catch((e: unknown) => {
        if (here) fail(faultFrom(e));
      });
    return () => {
      here = false;
      gone();
    };
  }, [times, series]);
  return (
    <>
      {error && <Failure error={error} />}
      <div ref={box} class="chart" role="img" aria-label={label} />
    </>
  );
}
