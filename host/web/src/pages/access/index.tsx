// Who may what: the tabs.
import { isAdmin, me } from '../../core/api';
import { route, to } from '../../core/route';
import { Grants } from './grants';
import { Domain, Role } from './lists';
import { Policies } from './policies';
import { Rules } from './rules';
import { Things } from './things';
import { Tokens } from './tokens';
import { Users } from './users';
import { Why } from './why';
import { Tabs, Title } from '../../core/ui';

/** AccessPage shows users and rights, each kind as a tab. */
export function AccessPage() {
  const tab = route.value.path[1] ?? 'users';
  return (
    <>
      <Title>Access</Title>
      {!isAdmin() && (
        <p class="note warn">
          Users, roles and policies are for the role admin; you have{' '}
          {me.value?.roles.join(', ') || 'no role'}. What an answer refuses is said below.
        </p>
      )}
      <Tabs
        base={t => to(['access', t])}
        now={tab}
        tabs={[
          ['users', 'Users'],
          ['roles', 'Roles'],
          ['domains', 'Domains'],
          ['grants', 'Grants'],
          ['tokens', 'Tokens and sessions'],
          ['rules', 'URL rules'],
          ['policies', 'Policies'],
          ['why', 'Explain access'],
        ]}
      />
      {tab === 'users' && <Users />}
      {tab === 'roles' && <Things<Role> kind="role" list="roles" id={r => r.roleid} />}
      {tab === 'domains' && <Things<Domain> kind="domain" list="domains" id={d => d.domainid} />}
      {tab === 'grants' && <Grants />}
      {tab === 'tokens' && <Tokens />}
      {tab === 'rules' && <Rules />}
      {tab === 'policies' && <Policies />}
      {tab === 'why' && <Why />}
    </>
  );
}
