// Words with a meaning: states, and texts that break only where they may.
import { ComponentChildren } from 'preact';

export type Tone = 'good' | 'warn' | 'bad' | 'soft' | 'info';

const marks: Record<Tone, string> = { good: '●', warn: '◐', bad: '✕', soft: '○', info: '◆' };

/** Mark is a state: a colour, a shape and a word. */
export function Mark({ tone, children }: { tone: Tone; children: ComponentChildren }) {
  return (
    <span class={'mark ' + tone}>
      <span aria-hidden="true">{marks[tone]}</span> {children}
    </span>
  );
}

/** Texts of so many characters are one line. */
export const lineLength = 40;

/**
 * Words breaks a text at blanks only: options and names stay whole, unless they are longer than a
 * line.
 */
export function Words({ children }: { children: string }) {
  return (
    <>
      {children.split(' ').map((w, i) => (
        <>
          {i > 0 && ' '}
          {/\W/.test(w) && w.length <= lineLength ? <span class="word">{w}</span> : w}
        </>
      ))}
    </>
  );
}
