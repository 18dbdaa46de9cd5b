// Where access control has its things.

/** policyPath is where the policies are. */
export const policyPath = '/rests/data/aaa:http-authorization/policies';

/** methods are those that a policy can permit. */
export const methods = ['get', 'put', 'patch', 'post', 'delete'];

/** rolesPath is where the roles are that a user has in a domain. */
export const rolesPath = (domain: string, user: string): string =>
  `/auth/v1/domains/${encodeURIComponent(domain)}/users/${encodeURIComponent(user)}/roles`;
