import type { z } from 'zod';
import type { NameMatcher, PolicyConfig } from '../config.ts';
import { list, mapping, text, ulid } from '../schema/values.ts';

/** Names by which a stranger would seem to speak for the service. */
const OFFICIAL_NAMES = [
  'admin',
  'administrator',
  'root',
  'support',
  'security',
  'postmaster',
  'hostmaster',
  'webmaster',
  'abuse',
  'server',
  'system',
];

function names() {
  return list(text({ maximum: 255 }));
}

function nameMatcher(literals: string[]) {
  return mapping({
    literals: names().prefault(literals).describe('Whole names.'),
    prefixes: names().prefault([]).describe('What names start with.'),
    suffixes: names().prefault([]).describe('What names end with.'),
    substrings: names().prefault([]).describe('What names hold.'),
  }).prefault({});
}

export const policySection = mapping({
  data: mapping({
    admin_users: names()
      .prefault([])
      .describe(
        'User names that may ask for the admin scope. People cannot register them, nor names that differ in case only; `latchkey manage register-user` makes such accounts.',
      ),
    admin_clients: list(ulid<'client'>()).prefault([]).describe('Clients that may get the admin scope for themselves.'),
    registration: mapping({
      allowed_usernames: nameMatcher([]).describe('The only user names that people may choose; none named: all.'),
      banned_usernames: nameMatcher(OFFICIAL_NAMES).describe('User names that people may not choose.'),
    })
      .prefault({})
      .describe('Accounts that people make for themselves; those that an operator makes are free.'),
  })
    .prefault({})
    .describe('Lists that the rules consult.'),
});

type ParsedRegistration = z.output<typeof policySection>['data']['registration'];

export function policyConfig(parsed: z.output<typeof policySection>): PolicyConfig {
  const { admin_users, admin_clients, registration } = parsed.data;
  return {
    data: {
      adminUsers: admin_users,
      adminClients: admin_clients,
      registration: {
        allowedUsernames: matcherConfig(registration.allowed_usernames),
        bannedUsernames: matcherConfig(registration.banned_usernames),
      },
    },
  };
}

function matcherConfig({
  literals,
  prefixes,
  suffixes,
  substrings,
}: ParsedRegistration['banned_usernames']): NameMatcher {
  return { literals, prefixes, suffixes, substrings };
}
