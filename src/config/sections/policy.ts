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
      'ES module with your rules: any of `register`, `email`, `password`, `clientRegistration`, `authorizationGrant` and `compatLogin`; each replaces the built-in rule of that name. [Policy module](../guides/policy-module.md) describes them.',
    ),
  data: mapping({
    admin_users: names()
      .prefault([])
      .describe(
        'User names that may ask for the admin scope. People cannot register them, nor names that differ in case only; `latchkey manage register-user` makes such accounts.',
      ),
    admin_clients: list(ulid<'client'>())
      .prefault([])
      .describe('Clients that may get the admin scope and the GraphQL scope for themselves.'),
    client_registration: mapping({
      allow_host_mismatch: bool()
        .prefault(false)
        .describe('Addresses of a client may have another host than its `client_uri`.'),
      allow_insecure_uris: bool()
        .prefault(false)
        .describe('Addresses of a client may be http, loopback or IP addresses: for development only.'),
      allow_missing_client_uri: bool().prefault(false).describe('A client need not have a `client_uri`.'),
      allow_private_use_schemes: bool()
        .prefault(false)
        .describe(
          'Native clients may have redirect URIs with any private-use scheme, also with a host: `app:/callback`, `app://host/callback`, `app:///callback`. Otherwise the scheme is the host of `client_uri` in reverse.',
        ),
      preset: choice(REGISTRATION_PRESETS)
        .optional()
        .describe(
          '`mcp`: what [agents and editors](../guides/mcp.md) need to register. Turns on `allow_host_mismatch` and `allow_missing_client_uri`, accepts the private-use schemes of well-known editors, and takes a client with a loopback address for native.',
        ),
    })
      .prefault({})
      .describe('What clients that register themselves may do.'),
    registration: mapping({
      allowed_usernames: textMatcher([]).describe('The only user names that people may choose; none named: all.'),
      banned_usernames: textMatcher(OFFICIAL_NAMES).describe('User names that people may not choose.'),
    })
      .prefault({})
      .describe('Accounts that people make for themselves; those that an operator makes are free.'),
    allowed_domains: list(domainPattern())
      .prefault([])
      .describe(
        'The only domains that e-mail addresses of people may have, with `*` for any letters but a dot; none: all.',
      ),
    banned_domains: list(domainPattern()).prefault([]).describe('Domains that they may not have.'),
    emails: mapping({
      allowed_addresses: textMatcher([]).describe('The only e-mail addresses that people may use; none named: all.'),
      banned_addresses: textMatcher([]).describe('E-mail addresses that people may not use.'),
    })
      .prefault({})
      .describe('E-mail addresses that people give; those that an operator gives them are free.'),
    requester: mapping({
      banned_ips: list(cidr())
        .prefault([])
        .describe(
          'Addresses and networks from which nobody may register, let an application or a device in, or get tokens for one.',
        ),
      banned_user_agents: textMatcher([]).describe('The same for user agents, such as those of known bots.'),
    })
      .prefault({})
      .describe('From where and with which programs people and applications are turned away.'),
  })
    .prefault({})
    .describe(
      'Lists that the rules consult. What `POST /api/admin/v1/policy-data` stored last is added: lists are put together, and other values replace those here.',
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
