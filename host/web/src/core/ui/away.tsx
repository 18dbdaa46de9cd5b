// The strip that says that the controller does not answer.
import { away } from '../api';
import { stamp } from '../data';

/** Away is the strip that says that the controller does not answer. */
export function Away() {
  if (!away.value) return null;
  return (
    <div class="note bad away" role="alert" data-state="away">
      The controller has not answered since {stamp(away.value).slice(11)}. What is shown is from
      before; it is asked again every few seconds.
    </div>
  );
}
