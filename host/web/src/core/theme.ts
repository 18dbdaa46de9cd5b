// The colours of tokens.css for what is drawn: as the browser shows them now, in either theme and
// in colours that the user forces.
/** colours returns what a token is now. */
export function colours(): (token: string) => string {
  const probe = document.body.appendChild(document.createElement('i')),
    css = getComputedStyle(probe),
    known = new Map<string, string>();
  probe.style.forcedColorAdjust = 'none';
  const read = (token: string): string => {
    probe.style.color = `var(--${token})`;
    return css.color;
  };
  for (const t of [
    'ink',
    'soft',
    'line',
    'edge',
    'link',
    'paper',
    'ground',
    'accent',
    'good',
    'warn',
    'bad',
    'info',
  ])
    known.set(t, read(t));
  probe.remove();
  return t => known.get(t) ?? '';
}

/** token returns a size or font of tokens.css. */
export const token = (name: string): string =>
  getComputedStyle(document.documentElement)
    .getPropertyValue('--' + name)
    .trim();

/** onTheme calls f when the colours have changed, and returns what ends that. */
export function onTheme(f: () => void): () => void {
  const asked = ['(prefers-color-scheme: dark)', '(forced-colors: active)'].map(q => matchMedia(q)),
    attributes = new MutationObserver(f);
  asked.forEach(m => m.addEventListener('change', f));
  attributes.observe(document.documentElement, { attributes: true });
  return () => {
    asked.forEach(m => m.removeEventListener('change', f));
    attributes.disconnect();
  };
}

/**
 * theme is both, for a file that is loaded later: by itself it would share a file with the first
 * load.
 */
export const theme = { colours, onTheme };

export type Theme = typeof theme;
