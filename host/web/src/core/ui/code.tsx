// Text to copy.
import { Outcome, useAct } from './act';

/** Code is what is copied into a shell or a file. */
export function Code({ children }: { children: string }) {
  const act = useAct();
  return (
    <>
      <pre class="code" tabIndex={0}>
        {children}
      </pre>
      <p class="actions">
        <button
          type="button"
          class="plain"
          onClick={() =>
            act.run(async () => {
              await navigator.clipboard.writeText(children);
              return 'Copied.';
            })
          }
        >
          Copy
        </button>
      </p>
      <Outcome act={act} />
    </>
  );
}
