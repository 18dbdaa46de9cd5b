// The dialog that mounts a router.
import { configure } from '../../bier/configure';
import { Dialog, Field, Outcome, useAct } from '../../core/ui';

/** Mount takes how a router is reached: address, user, password. */
export function Mount({
  nodes,
  node,
  onClose,
}: {
  nodes: string[];
  node: string;
  onClose: () => void;
}) {
  const act = useAct();
  const submit = (e: SubmitEvent) => {
    e.preventDefault();
    const f = Object.fromEntries(
      [...new FormData(e.currentTarget as HTMLFormElement)].filter(([, v]) => v !== ''),
    );
    act.run(async () => {
      await configure('bier-service-api:mount-router', {
        ...f,
        ...(f.port ? { port: Number(f.port) } : {}),
      });
      return 'Mounted; the list shows its state.';
    });
  };
  return (
    <Dialog title="Mount a router" onClose={onClose}>
      <form onSubmit={submit}>
        <Field
          label="Node"
          name="node-id"
          required
          defaultValue={node}
          list="bier-nodes"
          hint="as in the BIER topology"
        />
        <datalist id="bier-nodes">
          {nodes.map(n => (
            <option key={n} value={n} />
          ))}
        </datalist>
        <Field label="Host" name="host" required />
        <Field label="Port" name="port" inputMode="numeric" hint="830 if empty" />
        <Field label="User" name="username" required autocomplete="off" />
        <Field label="Password" name="password" type="password" autocomplete="new-password" />
        <Field
          label="Host key"
          name="host-key"
          hint="empty: the first key of the router is stored"
        />
        <Outcome act={act} />
        <p class="actions">
          <button disabled={act.busy}>Mount</button>
        </p>
      </form>
    </Dialog>
  );
}
