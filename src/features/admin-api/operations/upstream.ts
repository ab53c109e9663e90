/** Upstream providers, defined by the configuration, and accounts' identities there (operations 4.10). */
import { z } from 'zod';
import {
  MAX_COUNTED_LINKS,
  type UpstreamLinkRecord,
  type UpstreamProviderRecord,
  upstreamLinks,
  upstreamProviders,
} from '#domain/administration/upstream-listings.ts';
import { users } from '#domain/administration/user-listing.ts';
import { type AddLinkOutcome, addLink } from '#domain/upstream/add-link.ts';
import { checkProvider } from '#domain/upstream/check-provider.ts';
import { deleteLink } from '#domain/upstream/delete-link.ts';
import { lastErrorOf, PROVIDER_ERROR_CODES } from '#domain/upstream/provider-errors.ts';
import { needsKeys } from '#domain/upstream/provider-keys.ts';
import { discoveryAddress } from '#domain/upstream/provider-metadata.ts';
import type { UpstreamProvider } from '#domain/upstream/upstream-providers.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { UpstreamLinkId } from '#vocabulary/ids.ts';
import { actorOf } from '../definition/caller.ts';
import { administrator, takeForCheck } from '../definition/check-limits.ts';
import { idOrNull, type Resource, single, time, timeOrNull } from '../definition/documents.ts';
import { EXAMPLE_ID, filter, flag, text, ulid } from '../definition/fields.ts';
import {
  type AdminCall,
  actionOperation,
  change,
  getOperation,
  listOperation,
  logAction,
  missing,
  type Operation,
  readBody,
  singleResponse,
  stored,
} from '../definition/operation.ts';

const LINK: Resource<UpstreamLinkRecord> = {
  type: 'upstream-oauth-link',
  path: 'upstream-oauth-links',
  accountOf: ({ user_id }) => user_id,
  description: 'Identity of a user at a sign-in provider.',
  attributes: z.object({
    created_at: z.iso.datetime().describe('When it was first seen or added.'),
    provider_id: z.string().describe('The provider.'),
    subject: z.string().describe('Identifier of the user at the provider: the claim `sub`.'),
    user_id: z.string().nullable().describe('Linked account; null: not linked yet.'),
    username: z.string().nullable().describe('Username of the linked account.'),
    human_account_name: z
      .string()
      .nullable()
      .describe('Display name, from the provider or the administrator who added it.'),
  }),
  attributesOf: ({ created_at, provider_id, subject, user_id, username, human_account_name }) => ({
    created_at: time(created_at),
    provider_id: fromUuid(provider_id),
    subject,
    user_id: idOrNull(user_id),
    username,
    human_account_name,
  }),
};

const STATES = ['working', 'failing', 'unknown', 'disabled', 'removed'] as const;

/** For each administrator, and for each provider. */
const CHECKS_PER_MINUTE = { burst: 10, perSecond: 10 / 60 };
const BUSY_SECONDS = 10;

const PROVIDER: Resource<UpstreamProviderRecord> = {
  type: 'upstream-oauth-provider',
  path: 'upstream-oauth-providers',
  description: 'Configured sign-in provider.',
  attributes: z.object({
    issuer: z.string().nullable().describe('Issuer; null: not an OpenID provider.'),
    human_name: z.string().nullable().describe('Name on its button.'),
    brand_name: z.string().nullable().describe('Brand of its button.'),
    created_at: z.iso.datetime().describe('When it was first seen in the configuration.'),
    disabled_at: z.iso.datetime().nullable().describe('When it was disabled; null: enabled.'),
    registration_token_required: z.boolean().describe('Whether registration through it requires a registration token.'),
    state: z
      .enum(STATES)
      .describe(
        '`working`: the last requests succeeded. `failing`: see `last_error`. `unknown`: not used yet. `disabled`: by ' +
          'the configuration. `removed`: no longer configured, but its identities are kept.',
      ),
    linked_users: z
      .int()
      .min(0)
      .max(MAX_COUNTED_LINKS)
      .describe(`Identities there that are linked to an account; counting stops at ${MAX_COUNTED_LINKS}.`),
    discovery: z
      .object({
        url: z.string().nullable().describe('URL of the discovery document; null: not used.'),
        fetched_at: z.iso.datetime().nullable().describe('When it was last fetched successfully; null: never.'),
      })
      .describe('Discovery of the endpoints.'),
    keys: z
      .object({
        needed: z.boolean().describe('Whether signatures of the provider are verified with keys that it publishes.'),
        fetched_at: z.iso.datetime().nullable().describe('When they were last fetched successfully; null: never.'),
        types: z
          .array(
            z
              .object({
                type: z.string().describe('Type and size.'),
                count: z.int().min(1).describe('Number of usable keys of this type.'),
              })
              .describe('Keys of one type.'),
          )
          .describe('Types of the keys.'),
      })
      .describe('Public keys of the provider, as they were fetched to check it. Sign-ins fetch newer ones as needed.'),
    last_success_at: z.iso
      .datetime()
      .nullable()
      .describe(
        'When a user last came back from the provider with a valid response, up to a minute late; null: never.',
      ),
    last_error: z
      .object({
        code: z
          .string()
          .describe(`What failed, one of ${PROVIDER_ERROR_CODES.map((code) => `\`${code}\``).join(', ')}.`),
        at: z.iso.datetime().describe('When it failed last.'),
        message: z.string().describe('What failed, in English.'),
        remedy: z.string().describe('What to do about it, in English.'),
        is_current: z.boolean().describe('Whether it has not succeeded since; for a sign-in, within the last day.'),
      })
      .nullable()
      .describe('Last error; null: none was recorded. Errors that any visitor can cause are not recorded.'),
  }),
  attributesOf: (record, { config, clock }) => {
    const { id, issuer, human_name, created_at, disabled_at, linked_users, last_success_at } = record;
    const configured = config.upstreamOauth2.providers.find((provider) => provider.id === fromUuid(id));
    const error = lastErrorOf(record, clock.now());
    return {
      issuer,
      human_name,
      brand_name: configured?.brandName ?? null,
      created_at: time(created_at),
      disabled_at: timeOrNull(disabled_at),
      registration_token_required: configured?.isRegistrationTokenRequired ?? false,
      state: stateOf(record, configured, error?.isCurrent === true),
      linked_users,
      discovery: {
        url: configured === undefined || configured.discoveryMode === 'disabled' ? null : discoveryAddress(configured),
        fetched_at: timeOrNull(record.metadata_fetched_at),
      },
      keys: {
        needed: configured !== undefined && needsKeys(configured),
        fetched_at: timeOrNull(record.keys_fetched_at),
        types: countedTypes(record.key_types ?? []),
      },
      last_success_at: timeOrNull(last_success_at),
      last_error:
        error === undefined
          ? null
          : {
              code: error.code,
              at: time(error.at),
              message: error.message,
              remedy: error.remedy,
              is_current: error.isCurrent,
            },
    };
  },
};

function stateOf(
  { metadata_fetched_at, keys_fetched_at, last_success_at }: UpstreamProviderRecord,
  configured: UpstreamProvider | undefined,
  isFailing: boolean,
): (typeof STATES)[number] {
  if (configured === undefined) return 'removed';
  if (!configured.isEnabled) return 'disabled';
  if (isFailing) return 'failing';
  return metadata_fetched_at === null && keys_fetched_at === null && last_success_at === null ? 'unknown' : 'working';
}

/** @param types in order */
function countedTypes(types: readonly string[]) {
  const counts = new Map<string, number>();
  for (const type of types) counts.set(type, (counts.get(type) ?? 0) + 1);
  return [...counts].map(([type, count]) => ({ type, count }));
}

const linkBody = z.strictObject({
  user_id: ulid().describe('Account to link it to.'),
  provider_id: ulid().describe('Configured sign-in provider.'),
  subject: text(255).describe('Identifier of the user at the provider: the claim `sub`.'),
  human_account_name: text(255).optional().describe('Display name, shown in lists of identities.'),
});

const LINKS = { resource: LINK, source: stored(upstreamLinks) };
const PROVIDERS = { resource: PROVIDER, source: stored(upstreamProviders) };

export const upstreamOperations: readonly Operation[] = [
  listOperation({
    id: 'listUpstreamOAuthLinks',
    summary: 'Lists identities at sign-in providers',
    description: 'Identities of all accounts, ordered by when they were first seen.',
    ...LINKS,
    filters: z.object({
      user: filter(ulid(), 'Identities of the account with this ID.', EXAMPLE_ID),
      provider: filter(ulid(), 'Identities at the provider with this ID.', EXAMPLE_ID),
      subject: filter(text(255), 'Identities with exactly this claim `sub`.', '248289761001'),
      'human-account-name': filter(
        text(255),
        'Identities with exactly this display name (case-sensitive).',
        'maren@login.example',
      ),
      linked: filter(flag(), 'Identities with (`true`) or without (`false`) an account.'),
    }),
    select: (values) => ({
      user: values.user,
      provider: values.provider,
      subject: values.subject,
      accountName: values['human-account-name'],
      isLinked: values.linked,
    }),
    check: async ({ core }, { user, provider }) => {
      if (user !== undefined && (await users.find(core.database, fromUuid(user))) === undefined) throw missing('user');
      if (provider === undefined) return;
      const found = await upstreamProviders.find(core.database, fromUuid(provider));
      if (found === undefined) throw missing('upstream-oauth-provider');
    },
  }),
  {
    id: 'addUpstreamOAuthLink',
    method: 'POST',
    path: LINK.path,
    tag: LINK.type,
    summary: 'Links an identity at a provider to an account; 200 if the identity existed without an account',
    description: 'The user can then sign in to this account with the provider.',
    body: linkBody,
    answers: [
      singleResponse(201, LINK, 'The new identity.'),
      singleResponse(200, LINK, 'The identity, which existed without an account.'),
    ],
    errors: ['invalid_body', 'not_found', 'link_exists'],
    run: async (call) => {
      const { core, context, caller } = call;
      const { user_id, provider_id, subject, human_account_name } = await readBody(context, linkBody);
      const provider = core.upstream.providers.find(fromUuid(provider_id));
      if (provider === undefined) throw missing(PROVIDER.type);
      const user = fromUuid<'user'>(user_id);
      const wanted = {
        user,
        provider,
        subject,
        accountName: human_account_name,
        by: actorOf(caller),
        now: core.clock.now(),
      };
      const outcome = await change(
        call,
        ({ id }: { readonly id: UpstreamLinkId }) => ({
          operation: 'addUpstreamOAuthLink',
          target: { type: LINK.type, id, userId: user },
        }),
        async (joined) => {
          const added = await addLink(joined, wanted);
          if (!added.ok) throw linkRefusal(added.reason);
          return added;
        },
      );
      const link = await upstreamLinks.find(core.database, outcome.id);
      if (link === undefined) throw missing(LINK.type);
      logAction(call, 'addUpstreamOAuthLink', outcome.id);
      return single(outcome.isNew ? 201 : 200, LINK, link, call);
    },
  },
  getOperation({
    id: 'getUpstreamOAuthLink',
    summary: 'Gets an identity',
    description: 'Returns an identity by its ID.',
    ...LINKS,
  }),
  actionOperation({
    id: 'deleteUpstreamOAuthLink',
    method: 'DELETE',
    summary: 'Deletes an identity, even if it is the only way to sign in to its account',
    description: 'A later sign-in with it is treated as a new user.',
    ...LINKS,
    isSilent: true,
    run: async (call, { id, provider_id }, action) => {
      const { core, caller } = call;
      const provider = core.upstream.providers.find(fromUuid(provider_id));
      const deletion = {
        link: fromUuid<'upstream-link'>(id),
        providerName: provider?.name ?? fromUuid(provider_id),
        by: actorOf(caller),
        now: core.clock.now(),
      };
      await change(call, action, async (joined) => {
        if (!(await deleteLink(joined, deletion))) throw missing(LINK.type);
      });
    },
  }),
  listOperation({
    id: 'listUpstreamOAuthProviders',
    summary: 'Lists sign-in providers',
    description: 'Configured providers, including those removed from the configuration.',
    ...PROVIDERS,
    filters: z.object({
      enabled: filter(flag(), 'Providers that are enabled (`true`) or disabled (`false`).'),
    }),
    select: ({ enabled }) => ({ isEnabled: enabled }),
  }),
  getOperation({
    id: 'getUpstreamOAuthProvider',
    summary: 'Gets a sign-in provider',
    description: 'Returns a provider by its ID.',
    ...PROVIDERS,
  }),
  actionOperation({
    id: 'checkUpstreamOAuthProvider',
    action: 'check',
    summary: 'Checks a sign-in provider',
    description:
      'Fetches the discovery document and the keys of an enabled provider, as a sign-in would, and returns the ' +
      'provider with the result. A failed check has status 200 too; `last_error` says what failed. The same happens ' +
      'every 15 minutes on its own. An administrator may run 10 checks a minute, and each provider is checked 10 times ' +
      'a minute at most.',
    ...PROVIDERS,
    errors: ['provider_disabled', 'rate_limited', 'temporarily_unavailable'],
    run: async (call, { id }, action) => {
      const { core } = call;
      const provider = core.upstream.providers.find(fromUuid(id));
      if (provider === undefined) throw new LatchkeyError('provider_disabled');
      await takeCheck(call, provider);
      // Recorded first, so that nothing is requested without an event.
      await change(call, action, async () => {});
      if ((await checkProvider(core, provider)) === 'busy') {
        throw new LatchkeyError('temporarily_unavailable', {
          description: 'The service makes too many requests to the provider right now. Retry later.',
          retryAfterSeconds: BUSY_SECONDS,
        });
      }
    },
  }),
];

/** @throws LatchkeyError `rate_limited` */
async function takeCheck(call: AdminCall, { id }: UpstreamProvider): Promise<void> {
  const buckets = [`admin:${administrator(call.caller)}`, `provider:${id}`].map((owner) => ({
    key: `provider-check:${owner}`,
    limiter: CHECKS_PER_MINUTE,
  }));
  await takeForCheck(call, buckets, 'Too many providers were checked. Retry later.');
}

function linkRefusal(reason: Extract<AddLinkOutcome, { ok: false }>['reason']): LatchkeyError {
  switch (reason) {
    case 'unknown-user':
      return missing('user');
    case 'unknown-provider':
      return missing(PROVIDER.type);
    case 'taken':
      return new LatchkeyError('link_exists');
  }
}
