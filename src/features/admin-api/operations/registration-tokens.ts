/** Invitations for users who register themselves (operations 4.8). */
import { z } from 'zod';
import {
  changeRegistrationToken,
  revokeRegistrationToken,
  unrevokeRegistrationToken,
} from '#domain/accounts/registrations/change-registration-token.ts';
import {
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
  description: 'An invitation, with which people may register themselves.',
  attributes: z.object({
    token: z.string().describe('What people type, or follow a link with.'),
    valid: z.boolean().describe('Whether somebody can register with it now: not revoked, expired or used up.'),
    usage_limit: z.int().nullable().describe('How many accounts may be made with it; null: any number.'),
    times_used: z.int().describe('How many accounts were made with it.'),
    created_at: z.iso.datetime().describe('When it was made.'),
    last_used_at: z.iso.datetime().nullable().describe('When an account was last made with it; null: never.'),
    expires_at: z.iso.datetime().nullable().describe('Until when it is good; null: without end.'),
    revoked_at: z.iso.datetime().nullable().describe('When it was revoked; null: it is not.'),
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
const usageLimit = z.int('a whole number').min(1, 'at least 1').max(MAX_USES, `at most ${MAX_USES}`);
const newTokenBody = z.strictObject({
  token: z
    .string()
    .refine(isRegistrationToken, '1 to 64 letters, digits and . _ ~ -')
    .optional()
    .describe('A token of your own: 1 to 64 letters, digits and `. _ ~ -`. Without it, 12 characters at random.'),
  usage_limit: usageLimit
    .nullable()
    .optional()
    .describe('How many accounts may be made with it. Without it, or null: any number.'),
  expires_at: instant()
    .nullable()
    .optional()
    .describe('Until when it is good, a time to come (RFC 3339). Without it, or null: without end.'),
});
const changeBody = z.strictObject({
  usage_limit: usageLimit
    .nullable()
    .optional()
    .describe('How many accounts may be made with it. Without it, as before; null: any number.'),
  expires_at: instant()
    .nullable()
    .optional()
    .describe('Until when it is good, a time to come (RFC 3339). Without it, as before; null: without end.'),
});

export const registrationTokenOperations: readonly Operation[] = [
  listOperation({
    id: 'listUserRegistrationTokens',
    summary: 'Lists registration tokens',
    description: 'Invitations in the order in which they were made, with the tokens themselves.',
    ...SHARED,
    filters: z.object({
      used: filter(flag(), 'Tokens with which somebody (`true`) or nobody (`false`) has registered.'),
      revoked: filter(flag(), 'Tokens that are (`true`) or are not (`false`) revoked.'),
      expired: filter(flag(), 'Tokens whose time is (`true`) or is not (`false`) over; those without end are not.'),
      valid: filter(
        flag(),
        'Tokens that are good for a registration now (`true`), or are revoked, expired or used up (`false`).',
      ),
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
    summary: 'Reads a registration token',
    description: 'One invitation by its id, with the token itself.',
    ...SHARED,
  }),
  {
    id: 'addUserRegistrationToken',
    method: 'POST',
    path: TOKEN.path,
    tag: TOKEN.type,
    summary: 'Makes a registration token',
    description: 'Anybody who has the token may register, where `account.password_registration_enabled` is set.',
    body: newTokenBody,
    answers: [singleAnswer(201, TOKEN)],
    errors: ['invalid_body', 'token_exists'],
    run: async (call) => {
      const { core, context } = call;
      const { token, usage_limit, expires_at } = await readBody(context, newTokenBody);
      checkEnd(core, expires_at);
      const issued = await issueRegistrationToken(core, {
        token,
        usageLimit: usage_limit ?? undefined,
        expiresAt: expires_at ?? undefined,
      });
      if (issued === undefined) throw new LatchkeyError('token_exists');
      const made = await source.find(core, issued.id);
      if (made === undefined) throw missing(TOKEN.type);
      logAction(call, 'addUserRegistrationToken', issued.id);
      return single(201, TOKEN, made, call);
    },
  },
  actionOperation({
    id: 'updateUserRegistrationToken',
    method: 'PUT',
    summary: 'Changes how often and how long a token is good; null takes a limit away',
    description:
      'What is left out stays as it is. A limit below the number of accounts that were made with it is refused.',
    ...SHARED,
    body: changeBody,
    errors: ['invalid_body'],
    run: async ({ core, context }, { id }) => {
      const { usage_limit, expires_at } = await readBody(context, changeBody);
      checkEnd(core, expires_at);
      const change = { usageLimit: usage_limit, expiresAt: expires_at };
      if (await changeRegistrationToken(core.database, fromUuid<'registration-token'>(id), change)) return;
      throw new LatchkeyError('invalid_body', {
        description: '/usage_limit: the token was used more often',
        members: { pointer: '/usage_limit' },
      });
    },
  }),
  actionOperation({
    id: 'revokeUserRegistrationToken',
    action: 'revoke',
    summary: 'Makes a token worthless',
    description: 'Nobody registers with it until it is good again; accounts that were made with it stay.',
    ...SHARED,
    errors: ['already_revoked'],
    run: async ({ core }, { id }) => {
      const isRevoked = await revokeRegistrationToken(
        core.database,
        fromUuid<'registration-token'>(id),
        core.clock.now(),
      );
      if (!isRevoked) throw new LatchkeyError('already_revoked');
    },
  }),
  actionOperation({
    id: 'unrevokeUserRegistrationToken',
    action: 'unrevoke',
    summary: 'Makes a revoked token good again',
    description: 'Limits of number and time count as before.',
    ...SHARED,
    errors: ['not_revoked'],
    run: async ({ core }, { id }) => {
      const isGood = await unrevokeRegistrationToken(core.database, fromUuid<'registration-token'>(id));
      if (!isGood) throw new LatchkeyError('not_revoked');
    },
  }),
];

function checkEnd({ clock }: Core, expiresAt: Date | null | undefined): void {
  if (expiresAt === undefined || expiresAt === null || expiresAt.getTime() > clock.now()) return;
  throw new LatchkeyError('invalid_body', {
    description: '/expires_at: it is over',
    members: { pointer: '/expires_at' },
  });
}
