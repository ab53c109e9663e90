import type { PageDeps } from '#browser/browser.ts';
import { rememberEntry, UPSTREAM_COOKIE, type UpstreamEntry, upstreamEntries } from '#browser/upstream-cookie.ts';
import { accountNameOf, subjectOf } from '#domain/upstream/claim-templates.ts';
import { completeAuthorization } from '#domain/upstream/complete-authorization.ts';
import { isFreshlyAuthenticated } from '#domain/upstream/fresh-authentication.ts';
import { groupsOf } from '#domain/upstream/import-groups.ts';
import { receiveResponse } from '#domain/upstream/receive-response.ts';
import { requestClaims } from '#domain/upstream/request-claims.ts';
import type { UpstreamProvider } from '#domain/upstream/upstream-providers.ts';
import { type ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import { foreignText } from '#platform/base/foreign-text.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, redirect } from '#platform/http/response.ts';
import { countCallback, type TakenResponse } from './count-results.ts';
import { RepostPage } from './upstream.page.tsx';

/** Name of a field in the form that repeats a provider's POST. */
const REPOSTED = 'reposted';
/** LinkedIn has its own error codes for a user who cancels. */
const CANCELLED: ReadonlySet<string> = new Set(['access_denied', 'user_cancelled_authorize', 'user_cancelled_login']);
const STANDARD_FIELDS: ReadonlySet<string> = new Set([
  'code',
  'state',
  'iss',
  'error',
  'error_description',
  'error_uri',
  REPOSTED,
]);
const MAX_EXTRA_BYTES = 8 * 1024;

/** `GET`, `POST /upstream/callback/{id}`: takes the provider's response, in the order of browser-flows 8.3. */
export async function receiveCallback(deps: PageDeps, context: RequestContext): Promise<HttpResponse> {
  const provider = deps.upstream.providers.find(context.params['id']);
  if (provider === undefined) throw new LatchkeyError('not_found', { restartPath: deps.urls.login() });
  return await countCallback(provider.id, takeResponse(deps, context, provider));
}

async function takeResponse(
  deps: PageDeps,
  context: RequestContext,
  provider: UpstreamProvider,
): Promise<TakenResponse> {
  const { clock, config, urls } = deps;
  const isPost = context.method === 'POST';
  const fields = isPost ? await context.readForm() : context.query;
  const refuse = (code: ErrorCode, entry?: UpstreamEntry): LatchkeyError =>
    new LatchkeyError(code, { restartPath: urls.login(entry?.action) });
  const state = single(fields, 'state');
  const code = single(fields, 'code');
  const error = single(fields, 'error');
  if (state === undefined && code === undefined && error === undefined) throw refuse('missing_parameters');
  const { responseMode } = provider;
  if (responseMode !== undefined && isPost !== (responseMode === 'form_post')) throw refuse('invalid_response_mode');
  const isFirstPost = isPost && context.cookies.open(UPSTREAM_COOKIE) === undefined && !fields.has(REPOSTED);
  if (isFirstPost) return { result: undefined, response: showRepost(deps, context, provider, fields) };
  const entry = upstreamEntries(context, config.protocolName, clock.now()).find(
    (candidate) => candidate.providerId === provider.id && candidate.state === state && candidate.linkId === undefined,
  );
  if (entry === undefined) throw refuse('upstream_session_missing');

  // Loaded before the response is used up, so that the user can reload the page if the metadata is not available.
  const restartPath = urls.login(entry.action);
  const metadata = error === undefined ? await deps.upstream.metadata.get(provider, { restartPath }) : undefined;
  const received = await receiveResponse(deps, { id: entry.id, provider, state: entry.state });
  if (!received.ok) throw refuse(`upstream_session_${received.reason}`, entry);
  if (error !== undefined && CANCELLED.has(error)) {
    const notice = deps.notices.field('upstream_cancelled');
    return { result: 'cancelled', response: redirect(urls.login(entry.action, undefined, notice)) };
  }
  if (metadata === undefined) {
    deps.log.warn('upstream.failed', 'error response from a sign-in provider', {
      provider: provider.id,
      problem: errorText(error ?? '', single(fields, 'error_description')),
    });
    throw refuse('upstream_error', entry);
  }
  // RFC 9207 2.4: checked before anything is sent, so that no other provider sees the code.
  const issuer = single(fields, 'iss');
  if (metadata.namesIssuer && issuer !== metadata.issuer) throw refuse('upstream_issuer_mismatch', entry);
  if (code === undefined) throw refuse('missing_code', entry);

  const redirectUri = urls.absolute(`upstream/callback/${provider.id}`);
  const question = { provider, metadata, redirectUri, code, secrets: received.secrets };
  const claims = await requestClaims(deps, question);
  if (claims === undefined) throw refuse('upstream_invalid_response', entry);
  if (received.secrets.isReauthentication && !isFreshlyAuthenticated(provider, claims, clock.now())) {
    deps.log.warn('upstream.failed', 'sign-in provider did not reauthenticate the user', {
      provider: provider.id,
      problem: `ID token: ${claims.idTokenClaims['auth_time'] === undefined ? 'no' : 'old'} auth_time`,
    });
    const reauthPath = urls.reauth(entry.action);
    throw new LatchkeyError('upstream_not_reauthenticated', { restartPath: reauthPath });
  }
  const response = { ...claims, extraCallbackParameters: extraFields(fields) };
  const subject = subjectOf(deps, provider, response);
  if (subject === undefined) throw refuse('upstream_no_subject', entry);
  const accountName = accountNameOf(deps, provider, response);
  const groups = groupsOf(deps, provider, response);
  const completion = { id: entry.id, provider, subject, accountName, groups, answer: response };
  const linkId = await completeAuthorization(deps, completion);
  deps.activity.providers.succeeded(provider.id, clock.now());
  rememberEntry(context, config.protocolName, clock.now(), { ...entry, linkId });
  return { result: 'success', response: redirect(urls.upstreamLink(linkId)) };
}

/** A cross-site POST arrives without this service's cookies. A form on a page of this service sends them. */
function showRepost(
  deps: PageDeps,
  context: RequestContext,
  provider: UpstreamProvider,
  fields: FormParameters,
): HttpResponse {
  const translations = deps.pages.language(context);
  return deps.pages.answer({
    title: translations.t('upstream.repost.title'),
    translations,
    content: (
      <RepostPage
        translations={translations}
        path={deps.urls.upstreamCallback(provider.id)}
        fields={[...pairsOf(fields), [REPOSTED, '1']]}
      />
    ),
  });
}

function single(fields: FormParameters, name: string): string | undefined {
  return fields.isRepeated(name) ? undefined : fields.get(name);
}

function pairsOf(fields: FormParameters): [string, string][] {
  return [...fields.names()].flatMap((name) => fields.all(name).map((value): [string, string] => [name, value]));
}

/**
 * Returns additional fields, for example what Apple sends at the first sign-in. Returns nothing if they are too large.
 */
function extraFields(fields: FormParameters): Readonly<Record<string, string>> {
  const extra = pairsOf(fields).filter(([name]) => !STANDARD_FIELDS.has(name));
  const size = extra.reduce((sum, [name, value]) => sum + Buffer.byteLength(name) + Buffer.byteLength(value), 0);
  return size > MAX_EXTRA_BYTES ? {} : Object.fromEntries(extra);
}

function errorText(error: string, description: string | undefined): string {
  const texts = description === undefined ? [error] : [error, description];
  return texts.map(foreignText).join(': ');
}
