/**
 * The offer to add a passkey after a sign-in with a password (browser-flows 4.6). `GET /login/add-passkey` shows it,
 * `POST /login/add-passkey/options` returns the parameters of the new passkey, and `POST /login/add-passkey` adds it or
 * continues without.
 */
import { accountIdentifier } from '#browser/deciding-account.ts';
import { readUnnamed } from '#browser/pending-login.ts';
import { describeUserAgent } from '#browser/user-agent.ts';
import { destinationFormActions, findDestination } from '#domain/authorizations/destination.ts';
import { chargeAddress } from '#domain/limits/rate-limits.ts';
import { completePasskeyRegistration } from '#domain/passkeys/complete-registration.ts';
import { declinePasskeyOffer, isPasskeyOffered } from '#domain/passkeys/offer.ts';
import { parsePasskeyName } from '#domain/passkeys/passkey.ts';
import { startPasskeyRegistration } from '#domain/passkeys/start-registration.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId } from '#platform/base/ids.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { parsePostAuthAction } from '#protocol/post-auth-action.ts';
import { authenticatorName } from '#protocol/webauthn/authenticator-names.ts';
import type { PasskeyPageDeps } from './passkey.tsx';
import { PasskeyOfferPage, type PasskeyOfferProblem, passkeyOfferProblem } from './passkey-offer.page.tsx';

/**
 * How long the offer is open after the sign-in. An older session must confirm the user's identity in the account area
 * before it adds a passkey.
 */
const OFFER_MS = 10 * 60_000;

export async function showPasskeyOffer(deps: PasskeyPageDeps, context: RequestContext): Promise<HttpResponse> {
  const offered = await findOffered(deps, context);
  return offered === undefined ? skip(deps, context) : await showPage(deps, context, offered);
}

export async function newPasskeyOptions(deps: PasskeyPageDeps, context: RequestContext): Promise<HttpResponse> {
  const { clock, config, csrf, database, party } = deps;
  csrf.checkHeader(context);
  const limiter = config.rateLimiting.passkey.perIp;
  const taken = await chargeAddress(deps, { name: 'passkey', limiter, address: context.clientAddress });
  if (!taken.ok) throw new LatchkeyError('rate_limited', { retryAfterSeconds: taken.retryAfterSeconds });
  const offered = await findOffered(deps, context);
  if (offered === undefined) throw new LatchkeyError('not_found');
  const { serviceName } = config.branding;
  const request = { user: offered.user, sessionId: offered.session.id, now: clock.now() };
  const started = await startPasskeyRegistration({ database, party, serviceName }, request);
  if (!started.ok) throw new LatchkeyError('not_found');
  return {
    status: 200,
    headers: { 'content-type': 'application/json', 'cache-control': 'no-store' },
    body: JSON.stringify({ challenge: started.challengeId, publicKey: started.options }),
  };
}

/** `action=add` with the browser's response, `later`, or `never`. */
export async function submitPasskeyOffer(deps: PasskeyPageDeps, context: RequestContext): Promise<HttpResponse> {
  const form = await context.readForm();
  const isExpired = deps.csrf.check(context, form) === 'expired';
  const offered = await findOffered(deps, context);
  if (offered === undefined) return skip(deps, context);
  if (isExpired) return await showPage(deps, context, offered, 'csrf_expired');
  const action = form.get('action');
  if (action === 'add' && !(await add(deps, context, form, offered))) {
    return await showPage(deps, context, offered, 'passkey_failed');
  }
  if (action === 'never') {
    await declinePasskeyOffer(deps.database, offered.user.id, deps.clock.now());
    deps.log.info('passkey.offer_declined', 'user asked not to be offered a passkey again', { user: offered.user.id });
  }
  return skip(deps, context);
}

/** Continues to the target. */
function skip(deps: PasskeyPageDeps, context: RequestContext): HttpResponse {
  return redirect(deps.urls.afterAuthentication(parsePostAuthAction(context.query, deps.config.protocolName)));
}

/** Returns the viewer, if they signed in just now and were offered a passkey. */
async function findOffered({ clock, database, viewers }: PasskeyPageDeps, context: RequestContext) {
  const viewer = await readUnnamed(viewers, context);
  if (viewer.kind !== 'active') return undefined;
  const since = clock.now() - OFFER_MS;
  if (viewer.session.authenticatedAt <= since) return undefined;
  if (!(await isPasskeyOffered(database, viewer.user.id, since))) return undefined;
  const { id, username } = viewer.user;
  context.setRequester({ kind: 'user', id, username });
  return viewer;
}

type Offered = NonNullable<Awaited<ReturnType<typeof findOffered>>>;

async function add(
  deps: PasskeyPageDeps,
  context: RequestContext,
  form: FormParameters,
  { session }: Offered,
): Promise<boolean> {
  const challengeId = parseId<'passkey-challenge'>(form.get('challenge') ?? '');
  if (challengeId === undefined) return false;
  const { userAgent, clientAddress: address } = context;
  const outcome = await completePasskeyRegistration(deps, {
    challengeId,
    response: parseJson(form.get('credential') ?? ''),
    nameOf: (aaguid) => authenticatorName(aaguid) ?? nameOfBrowser(userAgent),
    sessionId: session.id,
    address,
    userAgent,
    language: deps.pages.language(context).language,
    now: deps.clock.now(),
  });
  return outcome.ok;
}

/** Returns undefined if the text is not JSON, which no response of a browser is. */
function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The browser in which the passkey was created. */
function nameOfBrowser(userAgent: string | undefined): string {
  const { program, system } = describeUserAgent(userAgent);
  const text = [program, system].filter((part) => part !== undefined).join(', ');
  return parsePasskeyName(text) ?? 'Passkey';
}

async function showPage(
  deps: PasskeyPageDeps,
  context: RequestContext,
  { user }: Offered,
  problem?: PasskeyOfferProblem,
): Promise<HttpResponse> {
  const action = parsePostAuthAction(context.query, deps.config.protocolName);
  const destination = await findDestination(deps, action);
  const translations = deps.pages.language(context, destination?.uiLocales);
  return deps.pages.answer({
    title: translations.t('passkey_offer.title'),
    translations,
    isRejected: problem !== undefined,
    hasNewPasskey: true,
    formActions: destinationFormActions(destination),
    content: (
      <PasskeyOfferPage
        translations={translations}
        path={deps.urls.passkeyOffer(action)}
        optionsPath={deps.urls.newPasskeyOptions()}
        csrf={deps.csrf.field(context)}
        account={{ displayName: user.displayName, identifier: accountIdentifier(deps, user.username) }}
        problems={problem === undefined ? [] : [passkeyOfferProblem(translations, problem)]}
      />
    ),
  });
}
