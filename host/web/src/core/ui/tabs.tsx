// The parts of a page.
import { useEffect, useRef } from 'preact/hooks';

/** Tabs are the links between the parts of a page; the open one is in the address. */
export function Tabs({
  base,
  tabs,
  now,
}: {
  base: (id: string) => string;
  tabs: [id: string, label: string][];
  now: string;
}) {
  const box = useRef<HTMLElement>(null);
  useEffect(() => {
    box.current
      ?.querySelector('[aria-current]')
      ?.scrollIntoView({ inline: 'center', block: 'nearest' });
  }, [now]); // in a narrow window they are one row that scrolls
  return (
    <nav ref={box} class="tabs" aria-label="Parts of this page">
      {tabs.map(([id, label]) => (
        <a key={id} href={base(id)} aria-current={id === now ? 'page' : undefined}>
          {label}
        </a>
      ))}
    </nav>
  );
}
