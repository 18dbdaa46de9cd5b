// What the map shows where there is no topology.
import { to } from '../../core/route';
import { graphs, problem, refresh } from '../../map/store';
import { Empty, Failure, Title } from '../../core/ui';

/** NoMap says why there is no map, and what to do. */
export function NoMap() {
  const next = (
    <p>
      <a class="button" href={to(['system', 'features'])}>
        Install a feature
      </a>{' '}
      <a class="button plain" href={to(['devices'])}>
        Add switches
      </a>
    </p>
  );
  return (
    <>
      <Title>Map</Title>
      {problem.value ? (
        <Failure error={problem.value} retry={() => void refresh()} />
      ) : graphs.value ? (
        <Empty action={next}>
          No topology is known. Install a feature such as ctl-switch-all or ctl-openflow: it
          discovers the network automatically when it has devices.
        </Empty>
      ) : (
        <div class="skeleton" data-state="loading" />
      )}
    </>
  );
}
