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
import { providerName } from '#domain/upstream/upstream-providers.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { actorOf } from '../definition/caller.ts';
import { idOrNull, type Resource, single, time, timeOrNull } from '../definition/documents.ts';
import { EXAMPLE_ID, filter, flag, text, ulid } from '../definition/fields.ts';
import {
  actionOperation,
  getOperation,
  listOperation,
  logAction,
  missing,
  type Operation,
  readBody,
  singleAnswer,
  stored,
} from '../definition/operation.ts';

const LINK: Resource<UpstreamLinkRecord> = {
  type: 'upstream-oauth-link',
  path: 'upstream-oauth-links',
  description: 'An identity at a sign-in provider.',
  attributes: z.object({
    created_at: z.iso.datetime().describe('When it was first seen, or added.'),
    provider_id: z.string().describe('The provider.'),
    subject: z.string().describe('What the provider calls the person: its claim `sub`.'),
    user_id: z.string().nullable().describe('The account that it signs in to; null: nobody has it yet.'),
    human_account_name: z.string().nullable().describe('A name for people, as the provider or who added it gave it.'),
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
  description: 'A sign-in provider of the configuration.',
  attributes: z.object({
    issuer: z.string().nullable().describe('Its issuer; null: it is no OpenID provider.'),
    human_name: z.string().nullable().describe('What its button says.'),
    brand_name: z.string().nullable().describe('What it looks like: the name of a known brand.'),
    created_at: z.iso.datetime().describe('When it was first seen in the configuration.'),
    disabled_at: z.iso.datetime().nullable().describe('Since when nobody signs in through it; null: they do.'),
    registration_token_required: z.boolean().describe('Whether who registers through it needs a registration token.'),
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
  user_id: ulid().describe('The account that it shall sign in to.'),
  provider_id: ulid().describe('A provider of the configuration.'),
  subject: text(255).describe('What the provider calls the person: its claim `sub`.'),
  human_account_name: text(255).optional().describe('A name for people who read lists of identities.'),
});

const LINKS = { resource: LINK, source: stored(upstreamLinks) };
const PROVIDERS = { resource: PROVIDER, source: stored(upstreamProviders) };

export const upstreamOperations: readonly Operation[] = [
  listOperation({
    id: 'listUpstreamOAuthLinks',
    summary: 'Lists identities at sign-in providers',
    description: 'Identities of all accounts, in the order in which they were first seen.',
    ...LINKS,
    filters: z.object({
      user: filter(ulid(), 'Identities of the account of this id.', EXAMPLE_ID),
      provider: filter(ulid(), 'Identities at the provider of this id.', EXAMPLE_ID),
      subject: filter(text(255), 'Identities that providers call exactly this: their claim `sub`.', '248289761001'),
      'human-account-name': filter(
        text(255),
        'Identities with exactly this name for people, in the same upper and lower case.',
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
    summary: 'Gives an account an identity at a provider; 200 when it was known and nobody had it',
    description: 'The person then signs in to this account through the provider.',
    body: linkBody,
    answers: [
      singleAnswer(201, LINK, 'The identity, which was not known before.'),
      singleAnswer(200, LINK, 'The identity, which was known and nobody had.'),
    ],
    errors: ['invalid_body', 'not_found', 'link_exists'],
    run: async (call) => {
      const { core, context, caller } = call;
      const { user_id, provider_id, subject, human_account_name } = await readBody(context, linkBody);
      const provider = core.upstreamProviders.find(fromUuid(provider_id));
      if (provider === undefined) throw missing(PROVIDER.type);
      const outcome = await addLink(core, {
        user: fromUuid<'user'>(user_id),
        provider,
        subject,
        accountName: human_account_name,
        by: actorOf(caller),
        now: core.clock.now(),
      });
      if (!outcome.ok) throw linkRefusal(outcome.reason);
      const link = await upstreamLinks.find(core.database, outcome.id);
      if (link === undefined) throw missing(LINK.type);
      logAction(call, 'addUpstreamOAuthLink', outcome.id);
      return single(outcome.isNew ? 201 : 200, LINK, link, call);
    },
  },
  getOperation({
    id: 'getUpstreamOAuthLink',
    summary: 'Reads an identity',
    description: 'One identity by its id.',
    ...LINKS,
  }),
  actionOperation({
    id: 'deleteUpstreamOAuthLink',
    method: 'DELETE',
    summary: 'Forgets an identity, also when it was the last way into its account',
    description: 'Who comes from the provider with it is new here from then on.',
    ...LINKS,
    isSilent: true,
    run: async ({ core, caller }, { id, provider_id }) => {
      const provider = core.upstreamProviders.find(fromUuid(provider_id));
      const deletion = {
        link: fromUuid<'upstream-link'>(id),
        providerName: provider === undefined ? fromUuid(provider_id) : providerName(provider),
        by: actorOf(caller),
        now: core.clock.now(),
      };
      if (!(await deleteLink(core, deletion))) throw missing(LINK.type);
    },
  }),
  listOperation({
    id: 'listUpstreamOAuthProviders',
    summary: 'Lists sign-in providers',
    description: 'Providers of the configuration, also those that were taken out of it.',
    ...PROVIDERS,
    filters: z.object({
      enabled: filter(flag(), 'Providers through which people can (`true`) or cannot (`false`) sign in.'),
    }),
    select: ({ enabled }) => ({ isEnabled: enabled }),
  }),
  getOperation({
    id: 'getUpstreamOAuthProvider',
    summary: 'Reads a sign-in provider',
    description: 'One provider by its id.',
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
