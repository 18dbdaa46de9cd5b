// Tokens and sessions of all users.
import { call, me, show } from '../../core/api';
import { age, stamp, useData } from '../../core/data';
import { Empty, Loaded, Outcome, Table, useAct } from '../../core/ui';

interface Token {
  id: string;
  user: string;
  kind: string;
  from: string;
  began: string;
  expires: string;
}

/** Tokens lists tokens and sessions; one ends them here. */
export function Tokens() {
  const data = useData(() => show<Token[] | null>('access:tokens').then(r => r.value ?? []), []),
    act = useAct(),
    own = me.value?.session?.id;
  const end = (t: Token) =>
    act.run(async () => {
      await call('/web/sessions/' + encodeURIComponent(t.id), { method: 'DELETE' });
      data.reload();
      return `The ${t.kind} of ${t.user} has ended.`;
    });
  return (
    <>
      <p class="soft">
        Valid tokens of /oauth2/token and sessions of browsers; nothing in this list can be used to
        log in. Ending a refresh token ends all tokens of its login; a new password, or disabling
        the user, ends all tokens of the user.
      </p>
      <Outcome act={act} />
      <Loaded data={data}>
        {v => (
          <Table
            name="Tokens"
            rows={v}
            id={t => t.id}
            empty={<Empty>There is no token.</Empty>}
            columns={[
              { name: 'User', text: t => t.user },
              { name: 'Kind', text: t => t.kind },
              { name: 'From', text: t => t.from },
              { name: 'Began', text: t => t.began, cell: t => age(t.began) },
              {
                name: 'Ends',
                text: t => t.expires,
                cell: t => <time title={t.expires}>{stamp(t.expires)}</time>,
              },
              {
                name: 'Do',
                text: () => '',
                cell: t =>
                  t.id === own ? (
                    'this session'
                  ) : (
                    <button
                      class="plain"
                      disabled={act.busy}
                      aria-label={`End the ${t.kind} of ${t.user}, ${t.id}`}
                      onClick={() => end(t)}
                    >
                      End
                    </button>
                  ),
              },
            ]}
          />
        )}
      </Loaded>
    </>
  );
}
