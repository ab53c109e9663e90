/** Upstream providers, defined by the configuration, and accounts' identities there (operations 4.10). */
import { z } from 'zod';
import {
  type UpstreamLinkRecord,
  type UpstreamProviderRecord,
  upstreamLinks,
  upstreamProviders,
} from '#domain/administration/upstream-listings.ts';
import { users } from '#domain/administration/user-listing.ts';
import { type AddLinkOutcome, addLink } from '#domain/upstream/add-link.ts';
import { deleteLink } from '#domain/upstream/delete-link.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import type { UpstreamLinkId } from '#vocabulary/ids.ts';
import { actorOf } from '../definition/caller.ts';
import { idOrNull, type Resource, single, time, timeOrNull } from '../definition/documents.ts';
import { EXAMPLE_ID, filter, flag, text, ulid } from '../definition/fields.ts';
import {
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
    human_account_name: z
      .string()
      .nullable()
      .describe('Display name, from the provider or the administrator who added it.'),
  }),
  attributesOf: ({ created_at, provider_id, subject, user_id, human_account_name }) => ({
    created_at: time(created_at),
    provider_id: fromUuid(provider_id),
    subject,
    user_id: idOrNull(user_id),
    human_account_name,
  }),
};

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
  }),
  attributesOf: ({ id, issuer, human_name, created_at, disabled_at }, { config }) => {
    const configured = config.upstreamOauth2.providers.find((provider) => provider.id === fromUuid(id));
    return {
      issuer,
      human_name,
      brand_name: configured?.brandName ?? null,
      created_at: time(created_at),
      disabled_at: timeOrNull(disabled_at),
      registration_token_required: configured?.isRegistrationTokenRequired ?? false,
    };
  },
};

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
    }),
    select: (values) => ({
      user: values.user,
      provider: values.provider,
      subject: values.subject,
      accountName: values['human-account-name'],
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
];

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
