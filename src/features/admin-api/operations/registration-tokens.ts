/** Invitations for users who register themselves (operations 4.8). */
import { z } from 'zod';
import { Urls } from '#browser/urls.ts';
import type { EmailAddress } from '#domain/accounts/email-address.ts';
import { checkEmailPolicy, emailPolicyOf } from '#domain/accounts/email-authentications/email-policy.ts';
import {
  changeRegistrationToken,
  type RegistrationTokenId,
  revokeRegistrationToken,
  unrevokeRegistrationToken,
} from '#domain/accounts/registrations/change-registration-token.ts';
import { queueInvitationMail } from '#domain/accounts/registrations/invitation-mail.ts';
import {
  type IssuedToken,
  issueRegistrationToken,
  openRegistrationToken,
  type WantedToken,
} from '#domain/accounts/registrations/issue-registration-token.ts';
import { isRegistrationToken } from '#domain/accounts/registrations/registration-token.ts';
import { type RegistrationTokenRecord, registrationTokens } from '#domain/administration/registration-token-listing.ts';
import type { Core } from '#domain/core.ts';
import { takeTokens } from '#domain/limits/rate-limits.ts';
import type { Clock } from '#platform/base/clock.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { Queryable } from '#platform/postgres/database.ts';
import { containing } from '#platform/postgres/like.ts';
import { GROUP_NAME_RULE, isGroupName } from '#protocol/oidc/group-names.ts';
import { idOrNull, type Resource, single, time, timeOrNull } from '../definition/documents.ts';
import { EXAMPLE_ID, filter, flag, instant, text, ulid } from '../definition/fields.ts';
import {
  type AdminCall,
  actionOperation,
  change,
  getOperation,
  invalidMember,
  type ListSource,
  listOperation,
  logAction,
  missing,
  type Operation,
  readBody,
  singleResponse,
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
    url: z.string().describe('Registration link that contains the token.'),
    email: z.string().nullable().describe('The only email address that can register with it; null: any.'),
    groups: z.array(z.string()).describe('Groups that accounts created with it join.'),
    note: z.string().nullable().describe('Note for administrators.'),
    created_by: z
      .string()
      .nullable()
      .describe('Administrator who created it; null: a client without a user, or the command line.'),
    mail_queued_at: z.iso.datetime().nullable().describe('When it was last queued for sending by email; null: never.'),
    mail_sent_at: z.iso.datetime().nullable().describe('When it was last sent by email; null: never.'),
  }),
  attributesOf: (token, { config, keyRing }) => {
    const text = openRegistrationToken(keyRing, fromUuid(token.id), token.token_sealed);
    return {
      token: text,
      valid: token.valid,
      usage_limit: token.usage_limit,
      times_used: token.times_used,
      created_at: time(token.created_at),
      last_used_at: timeOrNull(token.last_used_at),
      expires_at: timeOrNull(token.expires_at),
      revoked_at: timeOrNull(token.revoked_at),
      url: new Urls(config.http.publicBase).invitation(text),
      email: token.email,
      groups: token.groups,
      note: token.note,
      created_by: idOrNull(token.created_by),
      mail_queued_at: timeOrNull(token.mail_queued_at),
      mail_sent_at: timeOrNull(token.mail_sent_at),
    };
  },
};

interface Wanted {
  readonly isUsed: boolean | undefined;
  readonly isRevoked: boolean | undefined;
  readonly isExpired: boolean | undefined;
  readonly isValid: boolean | undefined;
  readonly search: string | undefined;
  readonly createdBy: string | undefined;
}

/** Whether a token is valid depends on the current time. */
const source: ListSource<RegistrationTokenRecord, Wanted> = {
  find: ({ database, clock }, id) => registrationTokens.find(database, id, { now: new Date(clock.now()) }),
  page: ({ database, clock }, wanted, window) =>
    registrationTokens.page(database, { ...wanted, now: new Date(clock.now()) }, window),
  count: ({ database, clock }, wanted) => registrationTokens.count(database, { ...wanted, now: new Date(clock.now()) }),
};

const SHARED = { resource: TOKEN, source };
const MAX_MAILS_PER_HOUR = 50;
const MAX_USES = 2_147_483_647;
const usageLimit = z
  .int('must be an integer')
  .min(1, 'must be at least 1')
  .max(MAX_USES, `must be at most ${MAX_USES}`);
const MAX_INVITED_GROUPS = 50;
const groups = z
  .array(z.string().refine(isGroupName, `expected ${GROUP_NAME_RULE}`).meta({ minLength: 1, maxLength: 255 }))
  .max(MAX_INVITED_GROUPS, `must have at most ${MAX_INVITED_GROUPS} groups`);
const note = text(500).nullable().optional();
const language = z
  .string()
  .regex(/^[A-Za-z]{2,8}(-[A-Za-z0-9]{1,8}){0,4}$/, 'must be a language tag, such as de')
  .optional()
  .describe('Language of the email (BCP 47). Default, or if it is not installed: `i18n.default_language`.');
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
  email: z
    .string()
    .nullable()
    .optional()
    .meta({ example: 'maren@mail.example' })
    .describe('The only email address that can register with it, once. Default or null: any address.'),
  groups: groups
    .optional()
    .describe('Groups that accounts created with it join, by name; those without a record get one. Default: none.'),
  note: note.describe('Note for administrators: 1 to 500 characters. Default or null: none.'),
  send: z.boolean().default(false).describe('Whether to send the registration link to `email`. Default: false.'),
  language,
});
const sendBody = z.strictObject({ language });
const changeBody = z.strictObject({
  usage_limit: usageLimit
    .nullable()
    .optional()
    .describe('Maximum number of registrations. Default: unchanged; null: unlimited.'),
  expires_at: instant()
    .nullable()
    .optional()
    .describe('When it expires, a time in the future (RFC 3339). Default: unchanged; null: never.'),
  groups: groups.optional().describe('Groups that accounts join from then on, by name. Default: unchanged.'),
  note: note.describe('Note for administrators: 1 to 500 characters. Default: unchanged; null: none.'),
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
      search: filter(
        text(255),
        'Tokens whose note or email address contains this text (case-insensitive): 1 to 255 characters.',
        'mar',
      ),
      'created-by': filter(ulid(), 'Tokens created by the administrator with this ID.', EXAMPLE_ID),
    }),
    select: (values) => ({
      isUsed: values.used,
      isRevoked: values.revoked,
      isExpired: values.expired,
      isValid: values.valid,
      search: values.search && containing(values.search),
      createdBy: values['created-by'],
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
    description:
      'Anyone who has the token may register if `account.password_registration_enabled` is set. With `email`, only ' +
      'that address can register, once.',
    body: newTokenBody,
    answers: [singleResponse(201, TOKEN)],
    errors: ['invalid_body', 'token_exists', 'group_exists', 'no_email', 'mail_not_configured', 'rate_limited'],
    run: async (call) => {
      const { core, context, caller } = call;
      const body = await readBody(context, newTokenBody);
      checkEnd(core, body.expires_at);
      const email = await invitedAddress(core, body.email ?? undefined);
      if (email !== undefined) checkSingleUse(body.usage_limit ?? undefined);
      const wanted: WantedToken = {
        token: body.token,
        usageLimit: email === undefined ? (body.usage_limit ?? undefined) : 1,
        expiresAt: body.expires_at ?? undefined,
        email,
        groups: body.groups,
        note: body.note ?? undefined,
        createdBy: { user: caller.user?.id, client: caller.clientId },
      };
      if (body.send) await chargeMail(call, email !== undefined);
      const issued = await change(
        call,
        ({ id }: IssuedToken) => ({ operation: 'addUserRegistrationToken', target: { type: TOKEN.type, id } }),
        async (joined) => {
          const added = await issueRegistrationToken(joined, wanted);
          if (added === undefined) throw new LatchkeyError('token_exists');
          if (body.send) await queueMail(joined, added.id, body.language);
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
    summary: 'Changes the usage limit, expiry, groups and note of a token; null removes a limit',
    description:
      'Omitted members are unchanged. A limit below the number of registrations is rejected, and so is one other than ' +
      '1 for a token with an email address.',
    ...SHARED,
    body: changeBody,
    errors: ['invalid_body', 'group_exists'],
    run: async (call, { id, email }, action) => {
      const { core, context } = call;
      const body = await readBody(context, changeBody);
      const { usage_limit, expires_at } = body;
      checkEnd(core, expires_at);
      if (email !== null && usage_limit !== undefined) checkSingleUse(usage_limit);
      const wanted = { usageLimit: usage_limit, expiresAt: expires_at, groups: body.groups, note: body.note };
      await change(call, { ...action, changed: Object.keys(body) }, async ({ clock }, transaction) => {
        const token = fromUuid<'registration-token'>(id);
        if (await changeRegistrationToken(transaction, token, wanted, clock.now())) return;
        throw invalidMember(['usage_limit'], 'below the number of registrations');
      });
    },
  }),
  actionOperation({
    id: 'sendUserRegistrationToken',
    action: 'send',
    summary: 'Sends the registration link to the email address of the token',
    description:
      'The link in the email also confirms the address, and replaces the links of earlier emails: those still work, ' +
      'but the user has to enter a code. `mail_sent_at` changes when the email was handed over. At most ' +
      `${MAX_MAILS_PER_HOUR} emails an hour for each administrator.`,
    ...SHARED,
    body: sendBody,
    errors: ['invalid_body', 'no_email', 'mail_not_configured', 'token_not_valid', 'rate_limited'],
    run: async (call, { id, email, valid }, action) => {
      const { language: tag } = await readBody(call.context, sendBody);
      if (email !== null && !valid) throw new LatchkeyError('token_not_valid');
      await chargeMail(call, email !== null);
      await change(call, { ...action, changed: ['mail_queued_at'] }, (joined) => queueMail(joined, fromUuid(id), tag));
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
  throw invalidMember(['expires_at'], 'is in the past');
}

/** @param usageLimit undefined: not requested */
function checkSingleUse(usageLimit: number | null | undefined): void {
  if (usageLimit === undefined || usageLimit === 1) return;
  throw invalidMember(['usage_limit'], 'must be 1 for a token with an email address');
}

/**
 * Checks that an invitation can be sent, and counts it against the administrator's limit.
 * @throws LatchkeyError `no_email`, `mail_not_configured`, `rate_limited`
 */
async function chargeMail({ core, caller }: AdminCall, hasEmail: boolean): Promise<void> {
  if (!hasEmail) throw new LatchkeyError('no_email');
  if (core.config.email.transport.kind === 'blackhole') throw new LatchkeyError('mail_not_configured');
  const limiter = { burst: MAX_MAILS_PER_HOUR, perSecond: MAX_MAILS_PER_HOUR / 3600 };
  const key = `invitation:admin:${caller.user?.id ?? caller.clientId}`;
  const taken = await takeTokens(core.database, core.clock, [{ key, limiter }]);
  if (!taken.ok) throw new LatchkeyError('rate_limited', { retryAfterSeconds: taken.retryAfterSeconds });
}

/** @throws LatchkeyError `token_not_valid` if the token was revoked, used or changed in the meantime */
async function queueMail(
  { database, clock }: { readonly database: Queryable; readonly clock: Clock },
  id: RegistrationTokenId,
  tag: string | undefined,
): Promise<void> {
  if (await queueInvitationMail(database, { id, language: tag, now: clock.now() })) return;
  throw new LatchkeyError('token_not_valid');
}

/** Applies the email policy, because the address could not register otherwise. */
async function invitedAddress(core: Core, typed: string | undefined): Promise<EmailAddress | undefined> {
  if (typed === undefined) return undefined;
  const judged = await checkEmailPolicy(typed, emailPolicyOf(core));
  if (judged.ok) return judged.email;
  const [problem] = judged.problems;
  if (problem === 'invalid') throw invalidMember(['email'], 'not an email address');
  throw invalidMember(
    ['email'],
    `refused by the email policy (${typeof problem === 'string' ? problem : 'policy module'})`,
  );
}
