/** How a user signs in, and what belongs to the account (operations 4.4). */
import { z } from 'zod';
import { type UserDetailsRecord, userDetails } from '#domain/administration/user-details.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { sortedGroups } from '#protocol/oidc/group-names.ts';
import { type Resource, time, timeOrNull } from '../definition/documents.ts';
import { getOperation, type Operation, stored } from '../definition/operation.ts';

const used = z.iso.datetime().nullable().describe('When it was last used; null: never.');

const USER_DETAILS: Resource<UserDetailsRecord> = {
  type: 'user-details',
  description: 'How a user signs in, and what belongs to the account.',
  path: 'users',
  part: { of: 'user', path: 'details' },
  accountOf: ({ id }) => id,
  attributes: z.object({
    given_name: z.string().nullable().describe('Given name, as entered by the user; null: none.'),
    family_name: z.string().nullable().describe('Family name, as entered by the user; null: none.'),
    time_zone: z.string().nullable().describe('Time zone (a name from the IANA database); null: unknown.'),
    language: z.string().nullable().describe('Language of emails to the user; null: the default language.'),
    has_password: z.boolean().describe('Whether the account has a password.'),
    authenticator_app: z
      .object({ created_at: z.iso.datetime().describe('When it was set up.'), last_used_at: used })
      .nullable()
      .describe('Authenticator app; null: not set up.'),
    recovery_codes: z
      .object({
        total: z.int().min(0).describe('Number of generated codes; 0: none.'),
        remaining: z.int().min(0).describe('Number of unused codes.'),
      })
      .describe('Recovery codes, which replace a lost second factor.'),
    passkeys: z
      .array(
        z.object({
          id: z.string().describe('Identifier (ULID).'),
          name: z.string().describe('Name set by the user.'),
          created_at: z.iso.datetime().describe('When it was added.'),
          last_used_at: used,
        }),
      )
      .describe('Passkeys.'),
    groups: z.array(z.string()).describe('All groups, as released to clients.'),
    linked_accounts: z.int().min(0).describe('Number of identities at sign-in providers.'),
    accepted_terms: z
      .array(
        z.object({
          uri: z.string().describe('URL of the accepted terms.'),
          accepted_at: z.iso.datetime().describe('When the user accepted them.'),
        }),
      )
      .describe('Accepted terms of service.'),
    sessions: z
      .object({
        browser: z.int().min(0).describe('Browser sessions.'),
        oauth2: z.int().min(0).describe('Client sessions.'),
        compat: z.int().min(0).describe('Sessions of chat clients.'),
        personal: z.int().min(0).describe('Personal sessions that act as the account or belong to it.'),
      })
      .describe('Numbers of active sessions.'),
    last_active_at: z.iso.datetime().nullable().describe('When one of its stored sessions was last used; null: never.'),
  }),
  attributesOf: (user) => ({
    given_name: user.given_name,
    family_name: user.family_name,
    time_zone: user.time_zone,
    language: user.language,
    has_password: user.has_password,
    authenticator_app: user.totp && {
      created_at: time(user.totp.created_at),
      last_used_at: timeOrNull(user.totp.last_used_at),
    },
    recovery_codes: { total: user.recovery_codes, remaining: user.recovery_codes_left },
    passkeys: user.passkeys.map(({ id, name, created_at, last_used_at }) => ({
      id: fromUuid(id),
      name,
      created_at: time(created_at),
      last_used_at: timeOrNull(last_used_at),
    })),
    groups: sortedGroups(user.groups),
    linked_accounts: user.links,
    accepted_terms: user.terms.map(({ uri, at }) => ({ uri, accepted_at: time(at) })),
    sessions: { browser: user.browser, oauth2: user.oauth2, compat: user.compat, personal: user.personal },
    last_active_at: timeOrNull(user.last_active_at),
  }),
};

export const userDetailOperations: readonly Operation[] = [
  getOperation({
    id: 'getUserDetails',
    summary: 'Gets how a user signs in, and what belongs to the account',
    description: 'Returns second factors, passkeys, groups, accepted terms and the number of sessions. No secrets.',
    resource: USER_DETAILS,
    source: stored(userDetails),
  }),
];
