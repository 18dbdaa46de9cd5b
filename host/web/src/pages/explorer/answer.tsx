// The answer to a request, a part at a time.
import { useState } from 'preact/hooks';
import { download } from '../../core/data';

/** Of an answer so many characters are read, and so many shown at once. */
export const mostRead = 5_000_000,
  part = 100_000;

/** readText reads the text of an answer, and whether that is all of it. */
export async function readText(r: Response): Promise<{ text: string; whole: boolean }> {
  let text = '';
  const reader = r.body?.pipeThrough(new TextDecoderStream()).getReader();
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { value: undefined, done: true };
    if (done) return { text, whole: true };
    text += value;
    if (text.length > mostRead) {
      await reader!.cancel();
      return { text: text.slice(0, mostRead), whole: false };
    }
  }
}

/** Long shows a part of a text at a time, and says how to have all of it. */
export function Long({ text, whole, file }: { text: string; whole: boolean; file: string }) {
  const [at, setAt] = useState(0),
    parts = Math.ceil(text.length / part),
    now = Math.min(at, Math.max(0, parts - 1)),
    size = (n: number) => n.toLocaleString('en');
  return (
    <>
      {!whole && (
        <p class="note warn" data-state="cut">
          The answer is longer than {size(mostRead)} characters; no more was read.{' '}
          {file ? (
            <>
              Have all of it{' '}
              <a href={file} download="answer.json">
                as a file
              </a>
              , or ask for less: depth, fields, limit.
            </>
          ) : (
            <>
              Have all of it with the lines below, in a shell with <code>-o FILE</code>, or ask for
              less.
            </>
          )}
        </p>
      )}
      {parts > 1 && (
        <p class="bar" data-parts={parts}>
          <button type="button" class="plain" disabled={now === 0} onClick={() => setAt(now - 1)}>
            Back
          </button>
          <span role="status">
            part {now + 1} of {parts}, {size(text.length)} characters
          </span>
          <button
            type="button"
            class="plain"
            disabled={now === parts - 1}
            onClick={() => setAt(now + 1)}
          >
            On
          </button>
          <button
            type="button"
            class="plain"
            onClick={() => download('answer.txt', 'text/plain', text)}
          >
            Save what was read
          </button>
        </p>
      )}
      <pre class="code" id="answer" tabIndex={0}>
        {text.slice(now * part, (now + 1) * part)}
      </pre>
    </>
  );
}
