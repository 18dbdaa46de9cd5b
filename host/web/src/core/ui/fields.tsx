// The fields of forms.
import { JSX } from 'preact';
import { useId } from 'preact/hooks';

/** Search is a field whose text filters what is below it; Enter chooses the first. */
export function Search({
  label,
  value,
  onInput,
  onEnter,
}: {
  label: string;
  value: string;
  onInput: (v: string) => void;
  onEnter?: (v: string) => void;
}) {
  return (
    <input
      type="search"
      aria-label={label}
      placeholder={label}
      value={value}
      onInput={e => onInput(e.currentTarget.value)}
      onKeyDown={e => {
        if (e.key === 'Enter') onEnter?.(e.currentTarget.value);
      }}
    />
  );
}

type InputProps = Omit<JSX.InputHTMLAttributes<HTMLInputElement>, 'label'>;

/** Field is an input with its label, and with a hint or what is wrong with it. */
export function Field({
  label,
  hint,
  error,
  ...input
}: { label: string; hint?: string; error?: string } & InputProps) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>
        {label}
        {input.required && (
          <span class="soft" aria-hidden="true">
            {' '}
            *
          </span>
        )}
      </label>
      <input
        id={id}
        aria-describedby={hint || error ? id + 'h' : undefined}
        aria-invalid={error ? true : undefined}
        {...input}
      />
      {(hint || error) && (
        <small id={id + 'h'} class={error ? 'bad' : 'soft'}>
          {error || hint}
        </small>
      )}
    </div>
  );
}

/** Choice is a list to choose one of. */
export function Choice({
  label,
  value,
  options,
  onChange,
}: {
  label: string;
  value: string;
  options: [string, string][];
  onChange: (v: string) => void;
}) {
  const id = useId();
  return (
    <div class="field">
      <label for={id}>{label}</label>
      <select id={id} value={value} onChange={e => onChange(e.currentTarget.value)}>
        {options.map(([v, t]) => (
          <option key={v} value={v}>
            {t}
          </option>
        ))}
      </select>
    </div>
  );
}
