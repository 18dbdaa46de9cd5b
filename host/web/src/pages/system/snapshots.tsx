// Snapshots of all data.
import { RowOf } from '../../api/rows';
import { isAdmin, rpc } from '../../core/api';
import { stamp, useData } from '../../core/data';
import { Code, Empty, Loaded, Outcome, Table, useAct } from '../../core/ui';

type Snapshot = RowOf<'ctl-system:get-snapshots', 'snapshot'>;

/** newestName is the name of the snapshot that was made last. */
function newestName(list: Snapshot[]): string {
  const newest = [...list].sort((a, b) => ((a.time ?? '') < (b.time ?? '') ? 1 : -1))[0];
  return newest?.name ?? 'NAME.tar';
}

/** Snapshots lists and saves snapshots, and says how to restore one. */
export function Snapshots() {
  const data = useData(s => rpc('ctl-system:get-snapshots', {}, { signal: s }), []),
    act = useAct(),
    kib = (n: number | undefined) => `${Math.ceil((n ?? 0) / 1024).toLocaleString('en')} KiB`;
  const save = () =>
    act.run(async () => {
      const r = await rpc('ctl-system:save-snapshot');
      data.reload();
      return `${r.name} is written (${kib(r.size)}).`;
    });
  return (
    <>
      <p class="actions">
        <button
          disabled={act.busy || !isAdmin()}
          title={isAdmin() ? undefined : 'This needs the role admin'}
          onClick={save}
        >
          {act.busy ? 'Saving…' : 'Save now'}
        </button>
      </p>
      <Outcome act={act} />
      <Loaded data={data}>
        {v => (
          <>
            <Table
              name="Snapshots"
              newest
              rows={v.snapshot ?? []}
              id={s => s.name}
              empty={
                <Empty>
                  There is no snapshot in {v.directory} yet. One holds all data, etc/ and the
                  keystores, as of now; the controller goes on meanwhile.
                </Empty>
              }
              columns={[
                { name: 'Name', text: s => s.name, cell: s => <code>{s.name}</code> },
                {
                  name: 'Written',
                  text: s => s.time ?? '',
                  cell: s => <time title={s.time}>{stamp(s.time)}</time>,
                },
                { name: 'Size', text: s => Number(s.size), cell: s => kib(s.size), right: true },
              ]}
            />
            <section class="card">
              <h2>What a restore takes</h2>
              <p>
                A snapshot opens all secrets, so it stays on the machine of the controller, and is
                restored there: stop the controller, restore, start it. What is in the home now is
                kept in before-restore-TIME; changes and sessions since the snapshot are lost.
              </p>
              <Code>{`ctl snapshot restore ${v.directory}/${newestName(v.snapshot ?? [])}`}</Code>
              <p class="soft">
                The newest ten snapshots that were saved here are kept;{' '}
                <code>ctl snapshot save FILE</code> writes one elsewhere.
              </p>
            </section>
          </>
        )}
      </Loaded>
    </>
  );
}
