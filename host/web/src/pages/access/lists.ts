// Users, roles and domains, as the API lists them.
import { call } from '../../core/api';

export interface User {
  userid: string;
  name: string;
  description?: string;
  email?: string;
  enabled: boolean;
  domainid: string;
}

export interface Role {
  roleid: string;
  name: string;
  description?: string;
}

export interface Domain {
  domainid: string;
  name: string;
  description?: string;
  enabled: boolean;
}

export const all = <T>(list: string, s?: AbortSignal) =>
  call<Record<string, T[]>>('/auth/v1/' + list, s ? { signal: s } : {}).then(r => r[list] ?? []);
