/** Users add, rename and remove their own passkeys (account-graphql 7.1). */
import { completePasskeyRegistration } from '#domain/passkeys/complete-registration.ts';
import { MAX_NAME_CHARACTERS, parsePasskeyName } from '#domain/passkeys/passkey.ts';
import { removePasskey } from '#domain/passkeys/remove-passkey.ts';
import { renamePasskey } from '#domain/passkeys/rename-passkey.ts';
import { startPasskeyRegistration } from '#domain/passkeys/start-registration.ts';
import { authenticatorName } from '#protocol/webauthn/authenticator-names.ts';
import { requireBrowser, requireRecentAuthentication } from '../context/authorization.ts';
import { refusal } from '../context/graphql-refusal.ts';
import { findPasskey } from './find-objects.ts';
import { Passkey } from './models.ts';
import { mutation } from './mutation.ts';
import { idOf, ulidAfter } from './node.ts';
import { parseUserAgent } from './parse-user-agent.ts';

const REGISTRATION_STATUSES = {
  expired: 'EXPIRED',
  'invalid-response': 'INVALID_RESPONSE',
  'already-registered': 'ALREADY_REGISTERED',
  'limit-reached': 'LIMIT_REACHED',
} as const;
const REMOVE_STATUSES = {
  removed: 'REMOVED',
  'not-found': 'NOT_FOUND',
  'last-login-method': 'LAST_LOGIN_METHOD',
} as const;

const CHALLENGE = 'passkey_challenge';

mutation('startPasskeyRegistration', {
  description: 'Starts the registration of a passkey for the caller. The browser must complete it within five minutes.',
  input: (t) => ({ clientMutationId: t.string({ description: 'No effect.' }) }),
  statuses: ['STARTED', 'LIMIT_REACHED', 'DISABLED'],
  payload: {
    challengeId: { type: 'ID' },
    options: { type: 'Json', description: 'PublicKeyCredentialCreationOptionsJSON (WebAuthn), for the browser.' },
  },
  resolve: async (_, context) => {
    const { database, signIn, config, clock } = context.core;
    const { relyingParty: party } = signIn;
    const { user, session } = requireBrowser(context);
    if (party === undefined) return { status: 'DISABLED' };
    requireRecentAuthentication(context);
    const { serviceName } = config.branding;
    const request = { user, sessionId: session.id, now: clock.now() };
    const started = await startPasskeyRegistration({ database, party, serviceName }, request);
    if (!started.ok) return { status: 'LIMIT_REACHED' };
    return { status: 'STARTED', challengeId: `${CHALLENGE}:${started.challengeId}`, options: started.options };
  },
});

mutation('completePasskeyRegistration', {
  description: 'Adds the passkey created by the browser.',
  input: (t) => ({
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
  statuses: ['ADDED', ...Object.values(REGISTRATION_STATUSES)],
  payload: { passkey: { type: Passkey } },
  resolve: async (input, context) => {
    const { browser, core, request } = context;
    const { session } = requireBrowser(context);
    const challengeId = ulidAfter<'passkey-challenge'>(CHALLENGE, input.challengeId);
    const given = input.name?.trim() ? requireName(input.name) : undefined;
    const { relyingParty: party } = core.signIn;
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
  },
});

mutation('setPasskeyName', {
  input: (t) => ({
    passkeyId: t.id({ required: true }),
    name: t.string({ required: true, description: `1 to ${MAX_NAME_CHARACTERS} characters.` }),
  }),
  statuses: ['UPDATED', 'NOT_FOUND'],
  payload: { passkey: { type: Passkey } },
  resolve: async ({ passkeyId, name }, context) => {
    const { user } = requireBrowser(context);
    const id = idOf('Passkey', passkeyId);
    const isRenamed = await renamePasskey(context.core.database, id, user.id, requireName(name));
    if (!isRenamed) return { status: 'NOT_FOUND' };
    context.forget();
    return { status: 'UPDATED', passkey: await findPasskey(id, context) };
  },
});

mutation('removePasskey', {
  description: 'Deletes a passkey of the caller, unless it is the only way to sign in.',
  input: (t) => ({ passkeyId: t.id({ required: true }) }),
  statuses: Object.values(REMOVE_STATUSES),
  resolve: async ({ passkeyId }, context) => {
    const { browser, core, request } = context;
    const { user } = requireBrowser(context);
    const passkey = await findPasskey(idOf('Passkey', passkeyId), context);
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
  },
});

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
