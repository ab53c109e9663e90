import type { z } from 'zod';
import { bool, cidr, type Immutable, linearRegexp, list, mapping, text, ulid } from '#platform/config/values.ts';

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

function textMatcher(literals: string[]) {
  return mapping({
    literals: names().prefault(literals).describe('Whole texts.'),
    prefixes: names().prefault([]).describe('What they start with.'),
    suffixes: names().prefault([]).describe('What they end with.'),
    substrings: names().prefault([]).describe('What they hold.'),
    regexes: list(linearRegexp())
      .prefault([])
      .describe(
        'Regular expressions, found anywhere unless `^` and `$` say otherwise; without look-around and back references.',
      ),
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
    client_registration: mapping({
      allow_host_mismatch: bool()
        .prefault(false)
        .describe('Addresses of a client may have another host than its `client_uri`.'),
      allow_insecure_uris: bool()
        .prefault(false)
        .describe('Addresses of a client may be http, loopback or IP addresses: for development only.'),
      allow_missing_client_uri: bool().prefault(false).describe('A client need not have a `client_uri`.'),
    })
      .prefault({})
      .describe('What clients that register themselves may do.'),
    registration: mapping({
      allowed_usernames: textMatcher([]).describe('The only user names that people may choose; none named: all.'),
      banned_usernames: textMatcher(OFFICIAL_NAMES).describe('User names that people may not choose.'),
    })
      .prefault({})
      .describe('Accounts that people make for themselves; those that an operator makes are free.'),
    requester: mapping({
      banned_ips: list(cidr()).prefault([]).describe('Addresses and networks from which nobody may register.'),
      banned_user_agents: textMatcher([]).describe('User agents with which nobody may register.'),
    })
      .prefault({})
      .describe('Who may not make an account, whatever its name.'),
  })
    .prefault({})
    .describe('Lists that the rules consult.'),
});

type ParsedData = z.output<typeof policySection>['data'];

export function policyConfig(parsed: z.output<typeof policySection>) {
  const { admin_users, admin_clients, client_registration, registration, requester } = parsed.data;
  return {
    data: {
      /** User names that may ask for the admin scope. */
      adminUsers: admin_users,
      adminClients: admin_clients,
      clientRegistration: {
        allowHostMismatch: client_registration.allow_host_mismatch,
        allowInsecureUris: client_registration.allow_insecure_uris,
        allowMissingClientUri: client_registration.allow_missing_client_uri,
      },
      registration: {
        /** Empty: every name. */
        allowedUsernames: matcherConfig(registration.allowed_usernames),
        bannedUsernames: matcherConfig(registration.banned_usernames),
      },
      /** Who may not register. */
      requester: {
        bannedIps: requester.banned_ips,
        bannedUserAgents: matcherConfig(requester.banned_user_agents),
      },
    },
  };
}

/** Fits a text that equals, starts with, ends with or contains one of these texts, or matches one of the expressions. */
export type TextMatcher = Immutable<ReturnType<typeof matcherConfig>>;

/** All in any case; the expressions as RE2 has them. */
function matcherConfig(parsed: ParsedData['registration']['banned_usernames']) {
  const { literals, prefixes, suffixes, substrings, regexes } = parsed;
  return { literals, prefixes, suffixes, substrings, regexes };
}
