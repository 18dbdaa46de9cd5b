// The last events, below the map.
import { recent } from '../../core/events';

/** Happened lists the last events. */
export function Happened() {
  const now = recent.value.slice(0, 5);
  return now.length ? (
    <ul class="ticker" aria-label="What happened last">
      {now.map((e, i) => (
        <li key={i}>
          <time>{new Date(e.time).toLocaleTimeString()}</time> {e.name}{' '}
          <span class="soft">{JSON.stringify(e.data).slice(0, 120)}</span>
        </li>
      ))}
    </ul>
  ) : null;
}
