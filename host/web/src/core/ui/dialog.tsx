// Dialogs over the page.
import { ComponentChildren } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';

/**
 * Dialog is over the page until it is closed; then what had the focus has it again. One without
 * onClose stays.
 */
export function Dialog({
  title,
  children,
  onClose,
}: {
  title: string;
  children: ComponentChildren;
  onClose?: () => void;
}) {
  const ref = useRef<HTMLDialogElement>(null),
    id = useId();
  useEffect(() => {
    const before = document.activeElement;
    ref.current?.showModal();
    return () => {
      (before instanceof HTMLElement && before !== document.body && before.isConnected
        ? before
        : document.querySelector<HTMLElement>('main')
      )?.focus();
    };
  }, []);
  return (
    <dialog
      ref={ref}
      aria-labelledby={id}
      onClose={onClose}
      onCancel={e => {
        if (!onClose) e.preventDefault();
      }}
    >
      <div class="title">
        <h2 id={id}>{title}</h2>
        {onClose && (
          <button class="plain" aria-label="Close" onClick={() => ref.current?.close()}>
            ✕
          </button>
        )}
      </div>
      {children}
    </dialog>
  );
}

/** Confirm asks before something is lost. */
export function Confirm({
  title,
  verb,
  children,
  onClose,
  onDo,
}: {
  title: string;
  verb: string;
  children: ComponentChildren;
  onClose: () => void;
  onDo: () => void;
}) {
  return (
    <Dialog title={title} onClose={onClose}>
      <p>{children}</p>
      <p class="actions">
        <button
          class="danger"
          onClick={() => {
            onClose();
            onDo();
          }}
        >
          {verb}
        </button>
      </p>
    </Dialog>
  );
}
