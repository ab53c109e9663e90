import { domainToASCII } from 'node:url';
import { z } from 'zod';
import { hint } from '#platform/config/shape.ts';
import {
  bool,
  choice,
  cidr,
  type Immutable,
  linearRegexp,
  list,
  mapping,
  path,
  text,
  ulid,
} from '#platform/config/values.ts';
import { REGISTRATION_PRESETS } from '#protocol/oauth/registration-policy.ts';

/** Names that could impersonate the service. */
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

const DOMAIN_LABEL = /^[a-z0-9*](?:[a-z0-9*-]{0,61}[a-z0-9*])?$/;

function names() {
  return list(text({ maximum: 255 }));
}

function textMatcher(literals: string[]) {
  return mapping({
    literals: names().prefault(literals).describe('Exact values.'),
    prefixes: names().prefault([]).describe('Prefixes.'),
    suffixes: names().prefault([]).describe('Suffixes.'),
    substrings: names().prefault([]).describe('Substrings.'),
    regexes: list(linearRegexp())
      .prefault([])
      .describe(
        'Regular expressions, which match anywhere unless anchored with `^` and `$`; no lookaround or ' +
          'backreferences.',
      ),
  }).prefault({});
}

/** A domain or a pattern with `*`, in the form used for comparison: IDNA-encoded and lowercase. */
function domainPattern() {
  const error = 'expected a domain such as "example.org" or "*.example.org"';
  const schema = z.string({ error }).transform((value, context): string => {
    const labels = value.split('.').map((label) => (label.includes('*') ? label.toLowerCase() : domainToASCII(label)));
    const pattern = labels.join('.');
    if (labels.every((label) => DOMAIN_LABEL.test(label)) && pattern.length <= 253) return pattern;
    context.addIssue(error);
    return z.NEVER;
  });
  return hint(schema, { type: 'domain, with `*`' });
}

export const policySection = mapping({
  module: path()
    .optional()
    .describe(
      'ES module with custom rules: any of `register`, `email`, `password`, `clientRegistration`, ' +
        '`authorizationGrant` and `compatLogin`; each replaces the built-in rule of that name. See [Policy ' +
        'module](../guides/policy-module.md).',
    ),
  data: mapping({
    admin_users: names()
      .prefault([])
      .describe(
        'Usernames that may request the admin scope. Users cannot register these names in any case; create ' +
          'these accounts with `latchkey manage register-user`.',
      ),
    admin_clients: list(ulid<'client'>())
      .prefault([])
      .describe('Clients that may use `client_credentials` to get the admin scope and the GraphQL scope.'),
    client_registration: mapping({
      allow_host_mismatch: bool()
        .prefault(false)
        .describe('URLs of a client may have a different host than its `client_uri`.'),
      allow_insecure_uris: bool()
        .prefault(false)
        .describe('URLs of a client may be http, loopback or IP addresses. For development only.'),
      allow_missing_client_uri: bool().prefault(false).describe('Clients may omit `client_uri`.'),
      allow_private_use_schemes: bool()
        .prefault(false)
        .describe(
          'Native clients may use redirect URIs with any private-use scheme, with or without a host: ' +
            '`app:/callback`, `app://host/callback`, `app:///callback`. Otherwise the scheme must be the ' +
            'reversed host of `client_uri`.',
        ),
      preset: choice(REGISTRATION_PRESETS)
        .optional()
        .describe(
          '`mcp`: accepts registrations of [agents and editors](../guides/mcp.md). Enables ' +
            '`allow_host_mismatch` and `allow_missing_client_uri`, accepts the private-use schemes of well-known ' +
            'editors, and treats clients with a loopback URI as native.',
        ),
    })
      .prefault({})
      .describe('Policy for dynamically registered clients.'),
    registration: mapping({
      allowed_usernames: textMatcher([]).describe('The only usernames that users may choose. Default: all.'),
      banned_usernames: textMatcher(OFFICIAL_NAMES).describe('Usernames that users may not choose.'),
    })
      .prefault({})
      .describe('Policy for self-registration; accounts created by administrators are exempt.'),
    allowed_domains: list(domainPattern())
      .prefault([])
      .describe('The only allowed domains of email addresses; `*` matches any characters except a dot. Default: all.'),
    banned_domains: list(domainPattern()).prefault([]).describe('Banned domains of email addresses.'),
    emails: mapping({
      allowed_addresses: textMatcher([]).describe('The only allowed email addresses. Default: all.'),
      banned_addresses: textMatcher([]).describe('Banned email addresses.'),
    })
      .prefault({})
      .describe('Policy for email addresses that users enter; addresses set by administrators are exempt.'),
    requester: mapping({
      banned_ips: list(cidr())
        .prefault([])
        .describe('Addresses and networks that may not register, authorize a client or device, or get tokens for one.'),
      banned_user_agents: textMatcher([]).describe('User agents that may not do so, for example known bots.'),
    })
      .prefault({})
      .describe('Banned requesters.'),
  })
    .prefault({})
    .describe(
      'Data for the policy. Data stored by `POST /api/admin/v1/policy-data` is merged into it: lists are ' +
        'concatenated, other values replaced.',
    ),
});

type ParsedData = z.output<typeof policySection>['data'];

export function policyConfig(parsed: z.output<typeof policySection>) {
  const { admin_users, admin_clients, client_registration, registration, emails, requester } = parsed.data;
  return {
    /** Path of the policy module. */
    modulePath: parsed.module,
    data: {
      /** Usernames that may request the admin scope. */
      adminUsers: admin_users,
      adminClients: admin_clients,
      clientRegistration: {
        allowHostMismatch: client_registration.allow_host_mismatch,
        allowInsecureUris: client_registration.allow_insecure_uris,
        allowMissingClientUri: client_registration.allow_missing_client_uri,
        allowPrivateUseSchemes: client_registration.allow_private_use_schemes,
        preset: client_registration.preset,
      },
      registration: {
        /** Empty: any username. */
        allowedUsernames: matcherConfig(registration.allowed_usernames),
        bannedUsernames: matcherConfig(registration.banned_usernames),
      },
      emails: {
        /** ASCII lowercase, with `*`. Empty: any domain. */
        allowedDomains: parsed.data.allowed_domains,
        bannedDomains: parsed.data.banned_domains,
        /** Empty: any address. */
        allowedAddresses: matcherConfig(emails.allowed_addresses),
        bannedAddresses: matcherConfig(emails.banned_addresses),
      },
      /** Banned requesters, for any request. */
      requester: {
        bannedIps: requester.banned_ips,
        bannedUserAgents: matcherConfig(requester.banned_user_agents),
      },
    },
  };
}

/** Lists that the policy rules use. */
export type PolicyData = Immutable<ReturnType<typeof policyConfig>['data']>;

/**
 * Matches a text that equals, starts with, ends with or contains one of the given texts, or matches one of the
 * expressions.
 */
export type TextMatcher = Immutable<ReturnType<typeof matcherConfig>>;

/** Case-insensitive. Expressions use RE2 syntax. */
function matcherConfig(parsed: ParsedData['registration']['banned_usernames']) {
  const { literals, prefixes, suffixes, substrings, regexes } = parsed;
  return { literals, prefixes, suffixes, substrings, regexes };
}
