// The devices: their list, or the page of one.
import { route } from '../../core/route';
import { DevicePage } from './device';
import { List } from './list';

/** DevicesPage shows the list, or the device of the address. */
export function DevicesPage() {
  const [, topology, id] = route.value.path;
  return topology && id ? <DevicePage topology={topology} id={id} /> : <List />;
}
