/** Users add, rename and remove their own passkeys (account-graphql 7.1). */
import { completePasskeyRegistration } from '#domain/passkeys/complete-registration.ts';
import { MAX_NAME_CHARACTERS, parsePasskeyName } from '#domain/passkeys/passkey.ts';
import { removePasskey } from '#domain/passkeys/remove-passkey.ts';
import { renamePasskey } from '#domain/passkeys/rename-passkey.ts';
import { startPasskeyRegistration } from '#domain/passkeys/start-registration.ts';
import { authenticatorName } from '#protocol/webauthn/authenticator-names.ts';
import type { AccountContext } from '../context/account-context.ts';
import { requireBrowser, requireRecentAuthentication } from '../context/authorization.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { builder } from './builder.ts';
import { findPasskey } from './find-objects.ts';
import { Passkey, type PasskeyModel } from './models.ts';
import { idOf, ulidAfter } from './node.ts';
import { parseUserAgent } from './parse-user-agent.ts';

const START_STATUSES = ['STARTED', 'LIMIT_REACHED', 'DISABLED'] as const;
const REGISTRATION_STATUSES = {
  expired: 'EXPIRED',
  'invalid-response': 'INVALID_RESPONSE',
  'already-registered': 'ALREADY_REGISTERED',
  'limit-reached': 'LIMIT_REACHED',
} as const;
const RENAME_STATUSES = ['UPDATED', 'NOT_FOUND'] as const;
const REMOVE_STATUSES = {
  removed: 'REMOVED',
  'not-found': 'NOT_FOUND',
  'last-login-method': 'LAST_LOGIN_METHOD',
} as const;

const CHALLENGE = 'passkey_challenge';

interface Started {
  readonly status: (typeof START_STATUSES)[number];
  readonly challengeId?: string;
  readonly options?: unknown;
}
interface Completed {
  readonly status: 'ADDED' | (typeof REGISTRATION_STATUSES)[keyof typeof REGISTRATION_STATUSES];
  readonly passkey?: PasskeyModel | undefined;
}
interface Renamed {
  readonly status: (typeof RENAME_STATUSES)[number];
  readonly passkey?: PasskeyModel | undefined;
}
interface Removed {
  readonly status: (typeof REMOVE_STATUSES)[keyof typeof REMOVE_STATUSES];
}

const StartPasskeyRegistrationStatus = builder.enumType('StartPasskeyRegistrationStatus', { values: START_STATUSES });
const StartPasskeyRegistrationInput = builder.inputType('StartPasskeyRegistrationInput', {
  fields: (t) => ({ clientMutationId: t.string({ description: 'No effect.' }) }),
});
const StartPasskeyRegistrationPayload = builder.objectRef<Started>('StartPasskeyRegistrationPayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: StartPasskeyRegistrationStatus }),
    challengeId: t.exposeID('challengeId', { nullable: true }),
    options: t.expose('options', {
      type: 'Json',
      nullable: true,
      description: 'PublicKeyCredentialCreationOptionsJSON (WebAuthn), for the browser.',
    }),
  }),
});

const CompletePasskeyRegistrationStatus = builder.enumType('CompletePasskeyRegistrationStatus', {
  values: ['ADDED', ...Object.values(REGISTRATION_STATUSES)] as const,
});
const CompletePasskeyRegistrationInput = builder.inputType('CompletePasskeyRegistrationInput', {
  fields: (t) => ({
    challengeId: t.id({ required: true }),
    response: t.field({
      type: 'Json',
      required: true,
      description: 'RegistrationResponseJSON (WebAuthn), from the browser.',
    }),
    name: t.string({
      description: `1 to ${MAX_NAME_CHARACTERS} characters. Default: the name of the authenticator.`,
    }),
  }),
});
const CompletePasskeyRegistrationPayload = builder
  .objectRef<Completed>('CompletePasskeyRegistrationPayload')
  .implement({
    fields: (t) => ({
      status: t.expose('status', { type: CompletePasskeyRegistrationStatus }),
      passkey: t.field({ type: Passkey, nullable: true, resolve: ({ passkey }) => passkey }),
    }),
  });

const SetPasskeyNameStatus = builder.enumType('SetPasskeyNameStatus', { values: RENAME_STATUSES });
const SetPasskeyNameInput = builder.inputType('SetPasskeyNameInput', {
  fields: (t) => ({
    passkeyId: t.id({ required: true }),
    name: t.string({ required: true, description: `1 to ${MAX_NAME_CHARACTERS} characters.` }),
  }),
});
const SetPasskeyNamePayload = builder.objectRef<Renamed>('SetPasskeyNamePayload').implement({
  fields: (t) => ({
    status: t.expose('status', { type: SetPasskeyNameStatus }),
    passkey: t.field({ type: Passkey, nullable: true, resolve: ({ passkey }) => passkey }),
  }),
});

const RemovePasskeyStatus = builder.enumType('RemovePasskeyStatus', { values: Object.values(REMOVE_STATUSES) });
const RemovePasskeyInput = builder.inputType('RemovePasskeyInput', {
  fields: (t) => ({ passkeyId: t.id({ required: true }) }),
});
const RemovePasskeyPayload = builder.objectRef<Removed>('RemovePasskeyPayload').implement({
  fields: (t) => ({ status: t.expose('status', { type: RemovePasskeyStatus }) }),
});

builder.mutationFields((t) => ({
  startPasskeyRegistration: t.field({
    type: StartPasskeyRegistrationPayload,
    description:
      'Starts the registration of a passkey for the caller. The browser must complete it within five minutes.',
    args: { input: t.arg({ type: StartPasskeyRegistrationInput, required: true }) },
    resolve: async (_, __, context) => await start(context),
  }),
  completePasskeyRegistration: t.field({
    type: CompletePasskeyRegistrationPayload,
    description: 'Adds the passkey created by the browser.',
    args: { input: t.arg({ type: CompletePasskeyRegistrationInput, required: true }) },
    resolve: async (_, { input }, context) => await complete(input, context),
  }),
  setPasskeyName: t.field({
    type: SetPasskeyNamePayload,
    args: { input: t.arg({ type: SetPasskeyNameInput, required: true }) },
    resolve: async (_, { input }, context) => {
      const { user } = requireBrowser(context);
      const id = idOf('Passkey', input.passkeyId);
      const isRenamed = await renamePasskey(context.core.database, id, user.id, requireName(input.name));
      if (!isRenamed) return { status: 'NOT_FOUND' as const };
      context.forget();
      return { status: 'UPDATED' as const, passkey: await findPasskey(id, context) };
    },
  }),
  removePasskey: t.field({
    type: RemovePasskeyPayload,
    description: 'Deletes a passkey of the caller, unless it is the only way to sign in.',
    args: { input: t.arg({ type: RemovePasskeyInput, required: true }) },
    resolve: async (_, { input }, context) => await remove(input.passkeyId, context),
  }),
}));

async function start(context: AccountContext): Promise<Started> {
  const { database, relyingParty: party, config, clock } = context.core;
  const { user, session } = requireBrowser(context);
  if (party === undefined) return { status: 'DISABLED' };
  requireRecentAuthentication(context);
  const { serviceName } = config.branding;
  const request = { user, sessionId: session.id, now: clock.now() };
  const started = await startPasskeyRegistration({ database, party, serviceName }, request);
  if (!started.ok) return { status: 'LIMIT_REACHED' };
  return { status: 'STARTED', challengeId: `${CHALLENGE}:${started.challengeId}`, options: started.options };
}

async function complete(
  input: typeof CompletePasskeyRegistrationInput.$inferInput,
  context: AccountContext,
): Promise<Completed> {
  const { browser, core, request } = context;
  const { session } = requireBrowser(context);
  const challengeId = ulidAfter<'passkey-challenge'>(CHALLENGE, input.challengeId);
  const given = input.name?.trim() ? requireName(input.name) : undefined;
  const { relyingParty: party } = core;
  // Passkeys were disabled after the registration started.
  if (party === undefined) return { status: 'EXPIRED' };
  const { userAgent, clientAddress: address } = request;
  const outcome = await completePasskeyRegistration(
    { ...core, party },
    {
      challengeId,
      response: input.response,
      nameOf: (aaguid) => given ?? authenticatorName(aaguid) ?? nameOfBrowser(userAgent),
      sessionId: session.id,
      address,
      userAgent,
      language: browser.pages.language(request).language,
      now: core.clock.now(),
    },
  );
  if (!outcome.ok) return { status: REGISTRATION_STATUSES[outcome.reason] };
  context.forget();
  return { status: 'ADDED', passkey: await findPasskey(outcome.id, context) };
}

async function remove(nodeId: string, context: AccountContext): Promise<Removed> {
  const { browser, core, request } = context;
  const { user } = requireBrowser(context);
  const passkey = await findPasskey(idOf('Passkey', nodeId), context);
  if (passkey === undefined) return { status: 'NOT_FOUND' };
  requireRecentAuthentication(context);
  const outcome = await removePasskey(core, {
    userId: user.id,
    passkeyId: passkey.id,
    address: request.clientAddress,
    userAgent: request.userAgent,
    language: browser.pages.language(request).language,
  });
  context.forget();
  return { status: REMOVE_STATUSES[outcome] };
}

/** @throws GraphQLError `BAD_USER_INPUT` */
function requireName(text: string): string {
  const name = parsePasskeyName(text);
  if (name !== undefined) return name;
  const rule = `name must have 1 to ${MAX_NAME_CHARACTERS} characters and no control characters`;
  throw refusal('BAD_USER_INPUT', rule);
}

/** The browser in which the passkey was created. */
function nameOfBrowser(userAgent: string | undefined): string {
  const { name, os } = parseUserAgent(userAgent ?? '');
  const text = [name, os].filter((part) => part !== undefined).join(', ');
  return parsePasskeyName(text) ?? 'Passkey';
}
