// Switches of the list that have never answered: no topology has them.
import { RowOf } from '../api/rows';
import { Fault, rpc } from '../core/api';

/** ListedSwitch is a switch of the list, and what became of asking it. */
export type ListedSwitch = RowOf<'switch:switches', 'entry'>;

/** listSwitches reads the list; none while no plugin for switches is installed or runs. */
export const listSwitches = (signal: AbortSignal): Promise<ListedSwitch[]> =>
  rpc('switch:switches', {}, { signal, background: true }).then(
    r => r.entry ?? [],
    (e: Fault) => {
      if (e.status) return [];
      throw e;
    },
  );
