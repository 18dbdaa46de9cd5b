// What a button does, and its outcome.
import { useState } from 'preact/hooks';
import { Fault, faultFrom } from '../api';
import { Failure } from './states';

/**
 * useAct runs what a button does: busy meanwhile, and with its fault or result afterwards. All that
 * pages do by themselves goes this way.
 */
export function useAct(): {
  busy: boolean;
  error: Fault | null;
  done: string;
  run: (f: () => Promise<string | void>) => void;
  clear: () => void;
} {
  const [s, set] = useState<{ busy: boolean; error: Fault | null; done: string }>({
    busy: false,
    error: null,
    done: '',
  });
  return {
    ...s,
    clear: () => set({ busy: false, error: null, done: '' }),
    run: f => {
      set({ busy: true, error: null, done: '' });
      (async () => f())().then(
        done => set({ busy: false, error: null, done: done || '' }),
        (e: unknown) => set({ busy: false, error: faultFrom(e), done: '' }),
      );
    },
  };
}

/** Outcome shows what a button did, or why it failed. */
export function Outcome({ act }: { act: ReturnType<typeof useAct> }) {
  return (
    <>
      {act.error && <Failure error={act.error} />}
      {act.done && (
        <p class="note good" role="status" data-state="done">
          {act.done}
        </p>
      )}
    </>
  );
}
