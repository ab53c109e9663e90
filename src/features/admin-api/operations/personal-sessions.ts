/** Personal access for programs (operations 4.7). A token is shown once, when it is created. */
import { z } from 'zod';
import { clients } from '#domain/administration/client-listing.ts';
import { type PersonalSessionRecord, personalSessions } from '#domain/administration/personal-session-listing.ts';
import { users } from '#domain/administration/user-listing.ts';
import {
  isPersonalName,
  issuePersonalToken,
  MAX_PERSONAL_NAME_CHARACTERS,
  MAX_PERSONAL_TOKEN_SECONDS,
} from '#domain/personal-sessions/issue-personal-token.ts';
import { judgePersonalScope } from '#domain/personal-sessions/judge-personal-scope.ts';
import {
  type RegenerationOutcome,
  regeneratePersonalToken,
} from '#domain/personal-sessions/regenerate-personal-token.ts';
import { revokePersonalSession } from '#domain/personal-sessions/revoke-personal-session.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { actorOf } from '../definition/caller.ts';
import { idOrNull, type Resource, single, time, timeOrNull } from '../definition/documents.ts';
import { EXAMPLE_ID, EXAMPLE_TIME, filter, flag, instant, scopes, text, ulid } from '../definition/fields.ts';
import { HOMESERVER_ERRORS, onHomeserverFailure } from '../definition/homeserver-failure.ts';
import {
  type AdminCall,
  actionOperation,
  change,
  getOperation,
  idOfPath,
  listOperation,
  logAction,
  missing,
  type Operation,
  readBody,
  record,
  singleResponse,
  stored,
} from '../definition/operation.ts';

const attributes = z.object({
  created_at: z.iso.datetime().describe('When it was created.'),
  revoked_at: z.iso.datetime().nullable().describe('When it was revoked; null: not revoked.'),
  owner_user_id: z.string().nullable().describe('Account that owns the session; null: owned by a client.'),
  owner_client_id: z.string().nullable().describe('Client that owns the session; null: owned by an account.'),
  actor_user_id: z.string().describe('Account that the token acts as.'),
  human_name: z.string().describe('Description of its purpose.'),
  scope: z.string().describe('Scopes of the token, separated by spaces.'),
  last_active_at: z.iso.datetime().nullable().describe('When the token was last used; null: never.'),
  last_active_ip: z
    .string()
    .nullable()
    .describe('Client address of the last use; null: never used, or no longer stored.'),
  expires_at: z.iso.datetime().nullable().describe('When the current token expires; null: never.'),
});

const SESSION: Resource<PersonalSessionRecord> = {
  type: 'personal-session',
  path: 'personal-sessions',
  description: 'Long-lived session in which a program acts as an account, with one token at a time.',
  accountOf: ({ actor_user_id }) => actor_user_id,
  attributes,
  attributesOf: (session) => ({
    created_at: time(session.created_at),
    revoked_at: timeOrNull(session.revoked_at),
    owner_user_id: idOrNull(session.owner_user_id),
    owner_client_id: idOrNull(session.owner_client_id),
    actor_user_id: fromUuid(session.actor_user_id),
    human_name: session.human_name,
    scope: session.scope.join(' '),
    last_active_at: timeOrNull(session.last_active_at),
    last_active_ip: session.last_active_ip,
    expires_at: timeOrNull(session.expires_at),
  }),
};

/** Includes the token, which is never shown afterwards. */
const ISSUED: Resource<PersonalSessionRecord & { readonly accessToken: string }> = {
  ...SESSION,
  attributes: attributes.extend({ access_token: z.string().describe('The token, only returned here.') }),
  attributesOf: ({ accessToken, ...session }, core) => ({
    ...SESSION.attributesOf(session, core),
    access_token: accessToken,
  }),
};

const SHARED = { resource: SESSION, source: stored(personalSessions) };

const filters = z.object({
  owner_user: filter(ulid(), 'Sessions owned by the account with this ID.', EXAMPLE_ID),
  owner_client: filter(ulid(), 'Sessions owned by the client with this ID.', EXAMPLE_ID),
  actor_user: filter(ulid(), 'Sessions that act as the account with this ID.', EXAMPLE_ID),
  scope: filter(
    scopes(),
    'Sessions with exactly this scope. If given several times: with all of them.',
    'urn:mas:admin',
  ),
  status: filter(
    z.enum(['active', 'revoked'], 'must be active or revoked'),
    'Sessions that are not revoked (`active`) or are revoked (`revoked`), regardless of token expiry.',
  ),
  expires_before: filter(
    instant(),
    'Sessions whose token expires before this time (RFC 3339). Excludes tokens that never expire.',
    EXAMPLE_TIME,
  ),
  expires_after: filter(
    instant(),
    'Sessions whose token expires after this time (RFC 3339). Excludes tokens that never expire.',
    EXAMPLE_TIME,
  ),
  expires: filter(flag(), 'Sessions whose token expires (`true`) or never expires (`false`).'),
});

const expiresIn = z
  .int('must be an integer number of seconds')
  .min(1, 'must be at least 1 second')
  .max(MAX_PERSONAL_TOKEN_SECONDS, 'must be at most 10 years')
  .optional()
  .describe('Lifetime of the token in seconds. Default: unlimited.');
const newSessionBody = z.strictObject({
  actor_user_id: ulid().describe('Account that the token acts as.'),
  human_name: text(MAX_PERSONAL_NAME_CHARACTERS)
    .refine(isPersonalName, 'must not be blank or contain control characters')
    .describe('Description of its purpose, shown in lists of sessions.'),
  scope: z.string().describe('Scopes of the token, separated by spaces.'),
  expires_in: expiresIn,
});
const regenerationBody = z.strictObject({ expires_in: expiresIn });

export const personalSessionOperations: readonly Operation[] = [
  listOperation({
    id: 'listPersonalSessions',
    summary: 'Lists personal sessions',
    description: 'Personal sessions of all owners, ordered by creation time.',
    ...SHARED,
    filters,
    select: (values) => ({
      ownerUser: values.owner_user,
      ownerClient: values.owner_client,
      actor: values.actor_user,
      scope: values.scope,
      isLive: values.status && values.status === 'active',
      expiresBefore: values.expires_before,
      expiresAfter: values.expires_after,
      expires: values.expires,
    }),
    check: async ({ core: { database } }, { owner_user, owner_client, actor_user }) => {
      for (const user of [owner_user, actor_user]) {
        if (user !== undefined && (await users.find(database, fromUuid(user))) === undefined) throw missing('user');
      }
      if (owner_client === undefined) return;
      if ((await clients.find(database, fromUuid(owner_client))) === undefined) throw missing('oauth2-client');
    },
  }),
  {
    id: 'createPersonalSession',
    method: 'POST',
    path: SESSION.path,
    tag: SESSION.type,
    summary: 'Creates a personal session and its token',
    description:
      'The session belongs to the caller: the account of the token, or the client itself. The token is ' +
      'only returned in this response. A device scope creates the device at the homeserver before the ' +
      'response.',
    body: newSessionBody,
    answers: [singleResponse(201, ISSUED, 'The session with its token, which is only returned here.')],
    errors: [
      'invalid_body',
      'not_found',
      'user_deactivated',
      'invalid_scope',
      'scope_not_allowed',
      'reserved_device_id',
      'temporarily_unavailable',
      ...HOMESERVER_ERRORS,
    ],
    run: async (call) => await create(call),
  },
  getOperation({
    id: 'getPersonalSession',
    summary: 'Gets a personal session',
    description: 'Returns a personal session by its ID, without its token.',
    ...SHARED,
  }),
  actionOperation({
    id: 'revokePersonalSession',
    action: 'revoke',
    summary: 'Revokes a personal session and its token',
    description: 'This cannot be undone.',
    ...SHARED,
    errors: ['session_revoked'],
    run: async (call, { id }, action) => {
      const { core, caller } = call;
      await core.activity.flush();
      const end = { now: core.clock.now(), by: actorOf(caller), syncsDevices: core.homeserver.isConnected };
      await change(call, action, async (_, transaction) => {
        const isRevoked = await revokePersonalSession(transaction, fromUuid<'personal-session'>(id), end);
        if (!isRevoked) throw new LatchkeyError('session_revoked');
      });
    },
  }),
  {
    id: 'regeneratePersonalSession',
    method: 'POST',
    path: `${SESSION.path}/:id/regenerate`,
    tag: SESSION.type,
    summary: 'Rotates the token of a personal session; the previous one stops working',
    description: 'Only the owner may do this. The new token is only returned in this response.',
    body: regenerationBody,
    answers: [singleResponse(201, ISSUED, 'The session with its token, which is only returned here.')],
    errors: ['invalid_id', 'not_found', 'invalid_body', 'not_owner', 'session_not_valid'],
    run: async (call) => await regenerate(call),
  },
];

async function create(call: AdminCall) {
  const { core, context, caller } = call;
  const { actor_user_id, human_name, scope: scopeText, expires_in } = await readBody(context, newSessionBody);
  const user = await users.find(core.database, fromUuid(actor_user_id));
  if (user === undefined) throw missing('user');
  if (user.deactivated_at !== null) throw new LatchkeyError('user_deactivated');
  const actor = { id: fromUuid<'user'>(user.id), username: user.username };
  const scope = await atMember('/scope', () =>
    judgePersonalScope(core, scopeText, { ...user, can_request_admin: user.admin }, caller.owner),
  );
  const outcome = await onHomeserverFailure(() =>
    issuePersonalToken(core, {
      owner: caller.owner,
      actor,
      name: human_name,
      scope,
      deviceId: core.scopeRules.deviceIdOf(scope),
      lifetimeSeconds: expires_in,
      by: actorOf(caller),
      record: (transaction, id) => {
        const target = { type: SESSION.type, id, userId: actor.id };
        return record(call, { operation: 'createPersonalSession', target }, transaction);
      },
      waiting: context,
    }),
  );
  if (!outcome.ok) throw failureOf(outcome.reason);
  logAction(call, 'createPersonalSession', outcome.sessionId);
  return await issued(call, outcome.sessionId, outcome.accessToken, undefined);
}

/** Adds to a refusal which member of the body it is about. */
async function atMember<Value>(pointer: string, judge: () => Promise<Value>): Promise<Value> {
  try {
    return await judge();
  } catch (error) {
    if (!(error instanceof LatchkeyError)) throw error;
    const { code, description } = error;
    throw new LatchkeyError(code, { ...(description !== undefined && { description }), members: { pointer } });
  }
}

function failureOf(reason: 'deactivated' | 'gone' | 'owner'): LatchkeyError {
  switch (reason) {
    case 'deactivated':
      return new LatchkeyError('user_deactivated');
    case 'gone':
      return missing('user');
    case 'owner':
      // The caller was locked or deactivated after the request began.
      return new LatchkeyError('invalid_token');
  }
}

async function regenerate(call: AdminCall) {
  const { context, caller } = call;
  const id = idOfPath<'personal-session'>(context);
  const { expires_in } = await readBody(context, regenerationBody);
  const wanted = { owner: caller.owner, lifetimeSeconds: expires_in };
  const { accessToken } = await change(
    call,
    ({ actor }: Regenerated) => ({
      operation: 'regeneratePersonalSession',
      target: { type: SESSION.type, id, userId: actor },
      changed: ['access_token', 'expires_at'],
    }),
    async (joined) => {
      const outcome = await regeneratePersonalToken(joined, id, wanted);
      if (!outcome.ok) throw regenerationFailure(outcome.reason);
      return outcome;
    },
  );
  logAction(call, 'regeneratePersonalSession', id);
  return await issued(call, id, accessToken, 'regenerate');
}

type Regenerated = Extract<RegenerationOutcome, { readonly ok: true }>;

function regenerationFailure(reason: Exclude<RegenerationOutcome, Regenerated>['reason']): LatchkeyError {
  switch (reason) {
    case 'gone':
      return missing(SESSION.type);
    case 'foreign':
      return new LatchkeyError('not_owner');
    case 'over':
      return new LatchkeyError('session_not_valid');
  }
}

async function issued(
  call: AdminCall,
  id: Parameters<typeof personalSessions.find>[1],
  accessToken: string,
  action: string | undefined,
) {
  const session = await personalSessions.find(call.core.database, id);
  if (session === undefined) throw missing(SESSION.type);
  return single(201, ISSUED, { ...session, accessToken }, { ...call, action });
}
