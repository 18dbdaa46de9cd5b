// What an empty list of devices offers.
import { to } from '../../core/route';
import { Empty } from '../../core/ui';

/** AddSwitches is what an empty list offers. */
export function AddSwitches() {
  return (
    <Empty
      action={
        <p>
          <a class="button" href={to(['system', 'features'], { q: 'ctl-switch' })}>
            Install a feature
          </a>{' '}
          <a class="button plain" href={to(['api'], { q: 'switch-db' })}>
            Add switches in the API page
          </a>
        </p>
      }
    >
      No device is known. Install a feature (ctl-switch-all, ctl-openflow) and read the list of
      switches: with switch:ReadDB FILE at the console, or with the operations of switch-db.
    </Empty>
  );
}
