// The states of what a page shows: loading, empty, failed, old.
import { ComponentChildren } from 'preact';
import { Fault } from '../api';
import { Data, age, stamp } from '../data';
import { to } from '../route';
import { printable } from '../text';

const remedies: Record<number, ComponentChildren> = {
  0: 'It is tried again when you press Retry.',
  401: 'Ask an administrator for the role, or log in as another user.',
  403: 'Ask an administrator for the role, or log in as another user.',
  404: 'It does not exist, or the feature that serves it is not installed.',
  409: 'If no instruction is shown above: read the current state and try again.',
  429: 'Too many attempts: wait some seconds.',
  503: (
    <>
      If no instruction is shown above: a plugin may be starting or stopped.{' '}
      <a href={to(['system', 'plugins'])}>System, plugins</a> shows it.
    </>
  ),
  504: 'The device did not answer in time: look at its state.',
};

/** Failure says what went wrong, and what to do. */
export function Failure({ error, retry }: { error: Fault; retry?: () => void }) {
  return (
    <div class="note bad" role="alert" data-state="failed">
      <p>
        <b>
          {error.status === 401 || error.status === 403
            ? 'Not allowed'
            : error.status
              ? `Failed (${error.status})`
              : 'No answer'}
          .
        </b>{' '}
        {printable(error.message)}
      </p>
      {error.path && <p class="soft mono">{error.path}</p>}
      <p class="soft">
        {remedies[error.status] ?? (
          <>
            The log of the controller may have details:{' '}
            <a href={to(['system', 'log'])}>System, log</a>.
          </>
        )}
      </p>
      {retry && <button onClick={retry}>Retry</button>}
    </div>
  );
}

/** Empty says why there is nothing, and what to do about it. */
export function Empty({
  children,
  action,
}: {
  children: ComponentChildren;
  action?: ComponentChildren;
}) {
  return (
    <div class="note empty" data-state="empty">
      <p>{children}</p>
      {action}
    </div>
  );
}

/** Loaded shows data in each of its states. */
export function Loaded<T>({
  data,
  children,
}: {
  data: Data<T>;
  children: (value: T) => ComponentChildren;
}) {
  if (data.value === undefined) {
    return data.error ? (
      <Failure error={data.error} retry={data.reload} />
    ) : (
      <div class="skeleton" role="status" data-state="loading">
        <span class="hidden">Loading</span>
      </div>
    );
  }
  return (
    <div data-state={data.error ? 'stale' : 'ready'}>
      {data.error && (
        <div class="note warn" role="status">
          No answer since {stamp(data.at).slice(11)}: showing what was known then ({age(data.at)}).{' '}
          {printable(data.error.message)} <button onClick={data.reload}>Retry</button>
        </div>
      )}
      {children(data.value)}
    </div>
  );
}
