// Operations of BIER that answer SUCCESS or FAILURE.
import { Configuring, InputOf } from '../api/rows';
import { Fault, rpc } from '../core/api';

interface Result {
  result?: string;
  errorCause?: string;
  'error-cause'?: string;
}

/**
 * configure calls an operation that answers SUCCESS or FAILURE; a failure is thrown with its cause.
 */
export async function configure<N extends Configuring>(name: N, input: InputOf<N>): Promise<void> {
  const answer = (await rpc(name, input)) as { 'configure-result'?: Result },
    r = answer['configure-result'];
  if (r?.result === 'FAILURE')
    throw new Fault(409, r.errorCause ?? r['error-cause'] ?? 'it was refused');
}
