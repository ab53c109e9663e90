/** Clients as data: creation, changes, secrets, disabling (administration 2). */
import { z } from 'zod';
import { clientMembers } from '#config/sections/clients.ts';
import { findOrCreateGroups } from '#domain/accounts/groups/group.ts';
import type { AdminAction } from '#domain/audit/record-admin-action.ts';
import { cancelGrantsOutsideRedirectUris } from '#domain/authorizations/cancel-authorization-grant.ts';
import type { ClientRefusal } from '#domain/clients/client.ts';
import { changeClient } from '#domain/clients/managed/change-client.ts';
import { createClient } from '#domain/clients/managed/create-client.ts';
import { DEFAULT_GRACE_SECONDS, MAX_GRACE_SECONDS, rotateSecret } from '#domain/clients/managed/rotate-secret.ts';
import { setClientEnabled } from '#domain/clients/managed/set-client-enabled.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { Secret } from '#platform/base/secret.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { Transaction } from '#platform/postgres/database.ts';
import { isJsonObject, type JsonObject } from '#protocol/json-merge-patch.ts';
import type { ClientId } from '#vocabulary/ids.ts';
import { entityTag, single } from '../definition/documents.ts';
import {
  type AdminCall,
  actionOperation,
  change,
  idOfPath,
  invalidMember,
  logAction,
  missing,
  type Operation,
  readBody,
  singleResponse,
} from '../definition/operation.ts';
import { CLIENT_DETAILS, CLIENT_SOURCE } from './client-resource.ts';

const PRESET = /^[a-z0-9]+(?:-[a-z0-9]+)*$/;

const preset = z
  .string()
  .max(64, 'must have at most 64 characters')
  .regex(PRESET, 'must be the name of a preset')
  .describe('Preset that the properties come from. It is only recorded.');

const newClientBody = clientMembers.extend({ preset: preset.optional() });
const changedClientBody = clientMembers
  .omit({ client_id: true, client_secret: true })
  .partial()
  .extend({ disabled: z.boolean().optional().describe('Whether the client is disabled.') });
const rotationBody = z.strictObject({
  grace_seconds: z
    .int('must be an integer')
    .min(0, 'must be at least 0')
    .max(MAX_GRACE_SECONDS, `must be at most ${MAX_GRACE_SECONDS}`)
    .default(DEFAULT_GRACE_SECONDS)
    .describe('How long the current secret continues to work.'),
});

const secretMeta = z
  .object({ client_secret: z.string().describe('The generated secret. It is not shown again.') })
  .optional()
  .describe('Only if a secret was generated.');

const MERGE_PATCH_NOTE =
  'The body is a JSON merge patch (RFC 7396): omitted members stay as they are, and null restores the default.';

export const clientChangeOperations: readonly Operation[] = [
  {
    id: 'createOAuth2Client',
    method: 'POST',
    path: CLIENT_DETAILS.path,
    tag: CLIENT_DETAILS.type,
    summary: 'Creates a managed client',
    description:
      'The members and rules are those of `clients` in the configuration. Without `client_id`, an ID is generated. A ' +
      'client that authenticates with a secret gets a generated one unless the body contains one; the response shows it ' +
      'once.',
    body: newClientBody,
    example: {
      client_name: 'Harbour',
      client_auth_method: 'client_secret_basic',
      redirect_uris: ['https://harbour.example/callback'],
      scope: 'openid profile email',
    },
    answers: [singleResponse(201, CLIENT_DETAILS, 'The new client.', secretMeta)],
    errors: ['invalid_body', 'client_exists'],
    run: async (call) => {
      const { core, context } = call;
      const { preset: given, ...members } = await readMembers(context);
      const named = preset.optional().safeParse(given);
      if (!named.success) throw invalidMember(['preset'], named.error.issues[0]?.message ?? 'cannot be parsed');
      const recorded = ({ id }: { readonly id: ClientId }) => actionOn('createOAuth2Client', id);
      const created = await change(call, recorded, async (_, transaction) => {
        const outcome = await createClient(transaction, withBase(core), { members, preset: named.data });
        if (outcome.ok) return outcome;
        if (outcome.reason === 'exists')
          throw new LatchkeyError('client_exists', { members: { pointer: '/client_id' } });
        throw invalidMember(outcome.problem.path, outcome.problem.message);
      });
      core.clients.forget(created.id);
      logAction(call, 'createOAuth2Client', created.id);
      return await shown(call, 201, created.id, created.secret);
    },
  },
  {
    id: 'updateOAuth2Client',
    method: 'PATCH',
    path: `${CLIENT_DETAILS.path}/:id`,
    tag: CLIENT_DETAILS.type,
    summary: 'Changes a client',
    description:
      `${MERGE_PATCH_NOTE} Managed clients accept all members except \`client_id\` and \`client_secret\`; dynamically ` +
      'registered clients only `disabled`, `allowed_groups`, and `client_name` and `logo_uri`, which users then see ' +
      "instead of the client's own. `allowed_groups` changes only if it differs from the value in responses: to open a " +
      'client whose groups were deleted, send null. With `If-Match`, the change is rejected if someone else has ' +
      'changed the client since; ' +
      'without it, the last change wins. If the new authentication method needs a secret and the client has none, ' +
      'one is generated and shown once.',
    body: changedClientBody,
    example: { client_name: 'Harbour', redirect_uris: ['https://harbour.example/callback'] },
    answers: [singleResponse(200, CLIENT_DETAILS, 'The changed client.', secretMeta)],
    errors: [
      'invalid_id',
      'not_found',
      'invalid_body',
      'invalid_precondition',
      'precondition_failed',
      'client_is_static',
      'client_is_builtin',
      'client_is_dynamic',
    ],
    run: async (call) => {
      const { core, context } = call;
      const id = idOfPath<'client'>(context);
      const versions = expectedVersions(context.headers['if-match']);
      const patch = await readMembers(context);
      const { secret } = await change(
        call,
        ({ changed }: AppliedPatch) => actionOn('updateOAuth2Client', id, changed),
        (_, transaction) => applyPatch(call, transaction, id, patch, versions),
      );
      core.clients.forget(id);
      logAction(call, 'updateOAuth2Client', id);
      return await shown(call, 200, id, secret);
    },
  },
  {
    id: 'rotateOAuth2ClientSecret',
    method: 'POST',
    path: `${CLIENT_DETAILS.path}/:id/rotate-secret`,
    tag: CLIENT_DETAILS.type,
    summary: 'Generates a new secret for a managed client',
    description:
      'The response shows the new secret once. The current one works until the grace period ends. If a former secret is ' +
      'still in its grace period, it stops working now.',
    body: rotationBody,
    answers: [singleResponse(200, CLIENT_DETAILS, 'The client with its new secret.', secretMeta)],
    errors: [
      'invalid_id',
      'not_found',
      'invalid_body',
      'client_has_no_secret',
      'client_is_static',
      'client_is_builtin',
      'client_is_dynamic',
    ],
    run: async (call) => {
      const { core, context } = call;
      const id = idOfPath<'client'>(context);
      const { grace_seconds } = await readBody(context, rotationBody);
      const action = actionOn('rotateOAuth2ClientSecret', id, ['client_secret']);
      const secret = await change(call, action, async (_, transaction) => {
        const rotation = await rotateSecret(transaction, core, id, grace_seconds);
        if (!rotation.ok) throw clientRefusal(rotation.reason);
        return rotation.secret;
      });
      core.clients.forget(id);
      logAction(call, 'rotateOAuth2ClientSecret', id);
      return await shown(call, 200, id, secret, 'rotate-secret');
    },
  },
  enabling('disableOAuth2Client', 'disable', false, 'Disables a client', {
    description:
      'The client is refused everywhere, and its tokens are inactive. Its sessions stay, and work again once it is ' +
      'enabled.',
  }),
  enabling('enableOAuth2Client', 'enable', true, 'Enables a disabled client', {
    description: 'Its sessions and tokens work again unless they have expired.',
  }),
];

function withBase(core: Core) {
  return { ...core, findOrCreateGroups, publicBase: core.config.http.publicBase };
}

function enabling(
  id: string,
  action: string,
  isEnabled: boolean,
  summary: string,
  { description }: { readonly description: string },
): Operation {
  return actionOperation({
    ...{ id, action, summary, description },
    resource: CLIENT_DETAILS,
    source: CLIENT_SOURCE,
    errors: ['client_is_static', 'client_is_builtin'],
    run: async (call, item, recorded) => {
      const client = fromUuid<'client'>(item.id);
      await change(call, { ...recorded, changed: ['disabled_at'] }, async ({ clock }, transaction) => {
        const outcome = await setClientEnabled(transaction, client, isEnabled, clock.now());
        if (outcome !== 'changed' && outcome !== 'unchanged') throw clientRefusal(outcome);
      });
      call.core.clients.forget(client);
    },
  });
}

function actionOn(operation: string, id: ClientId, changed?: readonly string[]): AdminAction {
  return { operation, target: { type: CLIENT_DETAILS.type, id }, changed };
}

interface AppliedPatch {
  readonly changed: readonly string[];
  /** Generated because the new authentication method needs one. */
  readonly secret: Secret | undefined;
}

/** @throws LatchkeyError for a change that is not possible */
async function applyPatch(
  { core }: AdminCall,
  transaction: Transaction,
  id: ClientId,
  { disabled, ...patch }: JsonObject,
  versions: readonly number[] | undefined,
): Promise<AppliedPatch> {
  for (const name of ['client_id', 'client_secret']) {
    if (name in patch) throw invalidMember([name], 'cannot be changed here');
  }
  // A merge patch would ignore an unknown member that is null.
  const unknown = Object.keys(patch).find((name) => !Object.hasOwn(changedClientBody.shape, name));
  if (unknown !== undefined) throw invalidMember([unknown], 'unknown member');
  if (disabled !== undefined && typeof disabled !== 'boolean')
    throw invalidMember(['disabled'], 'expected true or false');
  const deps = { ...withBase(core), cancelGrantsOutsideRedirectUris };
  const changed = await changeClient(transaction, deps, id, { patch, versions });
  if (!changed.ok) {
    switch (changed.reason) {
      case 'invalid':
        throw invalidMember(changed.problem.path, changed.problem.message);
      case 'outdated':
        throw new LatchkeyError('precondition_failed', { headers: { etag: entityTag(changed.version) } });
      case 'dynamic':
        throw new LatchkeyError('client_is_dynamic', { members: { pointer: `/${changed.member}` } });
      default:
        throw clientRefusal(changed.reason);
    }
  }
  const isSwitched =
    disabled !== undefined && (await setClientEnabled(transaction, id, !disabled, core.clock.now())) === 'changed';
  return { changed: [...changed.changed, ...(isSwitched ? ['disabled_at'] : [])], secret: changed.secret };
}

export function clientRefusal(reason: ClientRefusal | 'dynamic' | 'no-secret'): LatchkeyError {
  switch (reason) {
    case 'unknown':
      return missing(CLIENT_DETAILS.type);
    case 'static':
      return new LatchkeyError('client_is_static');
    case 'builtin':
      return new LatchkeyError('client_is_builtin');
    case 'dynamic':
      return new LatchkeyError('client_is_dynamic');
    case 'no-secret':
      return new LatchkeyError('client_has_no_secret');
  }
}

async function shown(
  call: AdminCall,
  status: number,
  id: ClientId,
  secret: Secret | undefined,
  action?: string,
): Promise<HttpResponse> {
  const client = await CLIENT_SOURCE.find(call.core, id);
  // Someone deleted it since.
  if (client === undefined) throw missing(CLIENT_DETAILS.type);
  const meta = secret === undefined ? undefined : { client_secret: secret.reveal() };
  return single(status, CLIENT_DETAILS, client, { ...call, action, meta });
}

/** Values are checked together with the properties that the client has already. */
async function readMembers(context: AdminCall['context']): Promise<JsonObject> {
  const body = await context.readJson({ isMergePatch: context.method === 'PATCH' });
  if (!isJsonObject(body)) throw invalidMember([], 'expected an object');
  return body;
}

/**
 * Parses `If-Match` (RFC 9110 13.1.1).
 * @returns undefined without the header, and for `*`
 * @throws LatchkeyError `invalid_precondition`
 */
function expectedVersions(header: string | undefined): readonly number[] | undefined {
  if (header === undefined || header.trim() === '*') return undefined;
  const tags = header.split(',').map((tag) => /^"(\d{1,9})"$/.exec(tag.trim())?.[1]);
  const versions = tags.flatMap((version) => (version === undefined ? [] : [Number(version)]));
  if (versions.length < tags.length) throw new LatchkeyError('invalid_precondition');
  return versions;
}
