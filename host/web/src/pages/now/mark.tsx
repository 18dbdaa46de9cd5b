// The dialog that says that somebody knows of a trouble.
import { useState } from 'preact/hooks';
import { rpc } from '../../core/api';
import { Trouble, readTroubles } from '../../core/troubles';
import { Choice, Dialog, Field, useAct } from '../../core/ui';
import { titleOf } from './row';

/** times are for how long a trouble may be kept out of the count. */
const times: [string, string][] = [
  ['', 'until it is over'],
  ['60', 'for an hour, also if it comes again'],
  ['480', 'for 8 hours, also if it comes again'],
  ['10080', 'for a week, also if it comes again'],
];

interface Props {
  t: Trouble;
  act: ReturnType<typeof useAct>;
  onClose: () => void;
}

/** MarkDialog acknowledges or silences a trouble, with a note for others. */
export function MarkDialog({ t, act, onClose }: Props) {
  const [note, setNote] = useState(''),
    [minutes, setMinutes] = useState('');
  const send = () => {
    onClose();
    act.run(async () => {
      const input = { id: t.id ?? '', ...(note && { note }) };
      if (minutes) await rpc('ctl-system:silence-trouble', { ...input, minutes: Number(minutes) });
      else await rpc('ctl-system:acknowledge-trouble', input);
      await readTroubles();
      return `${titleOf(t)}: ${minutes ? 'silenced' : 'acknowledged'}.`;
    });
  };
  return (
    <Dialog title="Acknowledge a trouble" onClose={onClose}>
      <form
        onSubmit={e => {
          e.preventDefault();
          send();
        }}
      >
        <p>
          {titleOf(t)}: {t.subject}. It stays in the list and is not counted.
        </p>
        <Field
          label="Note"
          hint="For others: who looks after it, why"
          maxLength={256}
          value={note}
          autofocus
          onInput={e => setNote(e.currentTarget.value)}
        />
        <Choice label="How long" value={minutes} options={times} onChange={setMinutes} />
        <p class="actions">
          <button>Acknowledge</button>
        </p>
      </form>
    </Dialog>
  );
}
