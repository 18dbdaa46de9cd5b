// The heading of a page.
import { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import { printable } from '../text';
import { inTitle } from '../troubles';

/** Title is the heading of a page, and the title of the window. */
export function Title({ children, side }: { children: string; side?: ComponentChildren }) {
  useEffect(() => {
    const open = inTitle.exec(document.title)?.[0] ?? ''; // the number of troubles stays
    document.title = `${open}${children} – ctl`;
  }, [children]);
  return (
    <div class="title">
      <h1>{printable(children)}</h1>
      {side && <div class="side">{side}</div>}
    </div>
  );
}
