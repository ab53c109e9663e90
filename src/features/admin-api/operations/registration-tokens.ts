/** Invitations for users who register themselves (operations 4.8). */
import { z } from 'zod';
import {
  changeRegistrationToken,
  revokeRegistrationToken,
  unrevokeRegistrationToken,
} from '#domain/accounts/registrations/change-registration-token.ts';
import {
  type IssuedToken,
  issueRegistrationToken,
  openRegistrationToken,
} from '#domain/accounts/registrations/issue-registration-token.ts';
import { isRegistrationToken } from '#domain/accounts/registrations/registration-token.ts';
import { type RegistrationTokenRecord, registrationTokens } from '#domain/administration/registration-token-listing.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { type Resource, single, time, timeOrNull } from '../definition/documents.ts';
import { filter, flag, instant } from '../definition/fields.ts';
import {
  actionOperation,
  change,
  getOperation,
  type ListSource,
  listOperation,
  logAction,
  missing,
  type Operation,
  readBody,
  singleAnswer,
} from '../definition/operation.ts';

const TOKEN: Resource<RegistrationTokenRecord> = {
  type: 'user-registration-token',
  path: 'user-registration-tokens',
  description: 'Registration token, which allows users to register.',
  attributes: z.object({
    token: z.string().describe('Value that users enter, or that the invitation link contains.'),
    valid: z.boolean().describe('Whether the token can be used now: not revoked, expired or used up.'),
    usage_limit: z.int().nullable().describe('Maximum number of registrations; null: unlimited.'),
    times_used: z.int().describe('Number of registrations.'),
    created_at: z.iso.datetime().describe('When it was created.'),
    last_used_at: z.iso.datetime().nullable().describe('When it was last used for a registration; null: never.'),
    expires_at: z.iso.datetime().nullable().describe('When it expires; null: never.'),
    revoked_at: z.iso.datetime().nullable().describe('When it was revoked; null: not revoked.'),
  }),
  attributesOf: (token, { keyRing }) => ({
    token: openRegistrationToken(keyRing, fromUuid(token.id), token.token_sealed),
    valid: token.valid,
    usage_limit: token.usage_limit,
    times_used: token.times_used,
    created_at: time(token.created_at),
    last_used_at: timeOrNull(token.last_used_at),
    expires_at: timeOrNull(token.expires_at),
    revoked_at: timeOrNull(token.revoked_at),
  }),
};

interface Wanted {
  readonly isUsed: boolean | undefined;
  readonly isRevoked: boolean | undefined;
  readonly isExpired: boolean | undefined;
  readonly isValid: boolean | undefined;
}

/** Whether a token is valid depends on the current time. */
const source: ListSource<RegistrationTokenRecord, Wanted> = {
  find: ({ database, clock }, id) => registrationTokens.find(database, id, { now: new Date(clock.now()) }),
  page: ({ database, clock }, wanted, window) =>
    registrationTokens.page(database, { ...wanted, now: new Date(clock.now()) }, window),
  count: ({ database, clock }, wanted) => registrationTokens.count(database, { ...wanted, now: new Date(clock.now()) }),
};

const SHARED = { resource: TOKEN, source };
const MAX_USES = 2_147_483_647;
const usageLimit = z
  .int('must be an integer')
  .min(1, 'must be at least 1')
  .max(MAX_USES, `must be at most ${MAX_USES}`);
const newTokenBody = z.strictObject({
  token: z
    .string()
    .refine(isRegistrationToken, 'must be 1 to 64 letters, digits and . _ ~ -')
    .optional()
    .describe('Custom token: 1 to 64 letters, digits and `. _ ~ -`. Default: 12 random characters.'),
  usage_limit: usageLimit
    .nullable()
    .optional()
    .describe('Maximum number of registrations. Default or null: unlimited.'),
  expires_at: instant()
    .nullable()
    .optional()
    .describe('When it expires, a time in the future (RFC 3339). Default or null: never.'),
});
const changeBody = z.strictObject({
  usage_limit: usageLimit
    .nullable()
    .optional()
    .describe('Maximum number of registrations. Default: unchanged; null: unlimited.'),
  expires_at: instant()
    .nullable()
    .optional()
    .describe('When it expires, a time in the future (RFC 3339). Default: unchanged; null: never.'),
});

export const registrationTokenOperations: readonly Operation[] = [
  listOperation({
    id: 'listUserRegistrationTokens',
    summary: 'Lists registration tokens',
    description: 'Registration tokens, including their values, ordered by creation time.',
    ...SHARED,
    filters: z.object({
      used: filter(flag(), 'Tokens that have (`true`) or have not (`false`) been used.'),
      revoked: filter(flag(), 'Tokens that are (`true`) or are not (`false`) revoked.'),
      expired: filter(flag(), 'Tokens that have (`true`) or have not (`false`) expired.'),
      valid: filter(flag(), 'Tokens that can be used now (`true`), or are revoked, expired or used up (`false`).'),
    }),
    select: ({ used, revoked, expired, valid }) => ({
      isUsed: used,
      isRevoked: revoked,
      isExpired: expired,
      isValid: valid,
    }),
  }),
  getOperation({
    id: 'getUserRegistrationToken',
    summary: 'Gets a registration token',
    description: 'Returns a registration token by its ID, including its value.',
    ...SHARED,
  }),
  {
    id: 'addUserRegistrationToken',
    method: 'POST',
    path: TOKEN.path,
    tag: TOKEN.type,
    summary: 'Creates a registration token',
    description: 'Anyone who has the token may register if `account.password_registration_enabled` is set.',
    body: newTokenBody,
    answers: [singleAnswer(201, TOKEN)],
    errors: ['invalid_body', 'token_exists'],
    run: async (call) => {
      const { core, context } = call;
      const { token, usage_limit, expires_at } = await readBody(context, newTokenBody);
      checkEnd(core, expires_at);
      const wanted = { token, usageLimit: usage_limit ?? undefined, expiresAt: expires_at ?? undefined };
      const issued = await change(
        call,
        ({ id }: IssuedToken) => ({ operation: 'addUserRegistrationToken', target: { type: TOKEN.type, id } }),
        async (joined) => {
          const added = await issueRegistrationToken(joined, wanted);
          if (added === undefined) throw new LatchkeyError('token_exists');
          return added;
        },
      );
      const made = await source.find(core, issued.id);
      if (made === undefined) throw missing(TOKEN.type);
      logAction(call, 'addUserRegistrationToken', issued.id);
      return single(201, TOKEN, made, call);
    },
  },
  actionOperation({
    id: 'updateUserRegistrationToken',
    method: 'PUT',
    summary: 'Changes the usage limit and expiry of a token; null removes a limit',
    description: 'Omitted members are unchanged. A limit below the number of registrations is rejected.',
    ...SHARED,
    body: changeBody,
    errors: ['invalid_body'],
    run: async (call, { id }, action) => {
      const { core, context } = call;
      const body = await readBody(context, changeBody);
      const { usage_limit, expires_at } = body;
      checkEnd(core, expires_at);
      const wanted = { usageLimit: usage_limit, expiresAt: expires_at };
      await change(call, { ...action, changed: Object.keys(body) }, async (_, transaction) => {
        if (await changeRegistrationToken(transaction, fromUuid<'registration-token'>(id), wanted)) return;
        throw new LatchkeyError('invalid_body', {
          description: '/usage_limit: below the number of registrations',
          members: { pointer: '/usage_limit' },
        });
      });
    },
  }),
  actionOperation({
    id: 'revokeUserRegistrationToken',
    action: 'revoke',
    summary: 'Revokes a registration token',
    description: 'The token cannot be used unless it is restored; existing accounts are not affected.',
    ...SHARED,
    errors: ['already_revoked'],
    run: async (call, { id }, action) => {
      await change(call, { ...action, changed: ['revoked_at'] }, async ({ clock }, transaction) => {
        const isRevoked = await revokeRegistrationToken(transaction, fromUuid<'registration-token'>(id), clock.now());
        if (!isRevoked) throw new LatchkeyError('already_revoked');
      });
    },
  }),
  actionOperation({
    id: 'unrevokeUserRegistrationToken',
    action: 'unrevoke',
    summary: 'Restores a revoked token',
    description: 'The usage limit and expiry apply as before.',
    ...SHARED,
    errors: ['not_revoked'],
    run: async (call, { id }, action) => {
      await change(call, { ...action, changed: ['revoked_at'] }, async (_, transaction) => {
        const isGood = await unrevokeRegistrationToken(transaction, fromUuid<'registration-token'>(id));
        if (!isGood) throw new LatchkeyError('not_revoked');
      });
    },
  }),
];

function checkEnd({ clock }: Core, expiresAt: Date | null | undefined): void {
  if (expiresAt === undefined || expiresAt === null || expiresAt.getTime() > clock.now()) return;
  throw new LatchkeyError('invalid_body', {
    description: '/expires_at: is in the past',
    members: { pointer: '/expires_at' },
  });
}
