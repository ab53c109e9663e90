/**
 * Checks that the authorization endpoint and the pushed authorization request endpoint share (RFC 9126 2.1): steps 4 to
 * 14 of oauth 6.3. They depend only on the parameters and the client.
 */
import type { Client } from '#domain/clients/client.ts';
import { isPairwiseSubject } from '#domain/clients/subjects.ts';
import { type HintDeps, readIdTokenHint } from '#domain/keys/id-token-hint.ts';
import { parseId } from '#platform/base/ids.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import {
  type AuthorizationRequest,
  type CheckedRequest,
  checkAuthorizationRequest,
  plainTarget,
} from '#protocol/oauth/authorization-parameters.ts';
import type { AuthorizationErrorCode, ResponseTarget } from '#protocol/oauth/authorization-response.ts';
import type { ReceivedRequest, RequestingClient } from '#protocol/oauth/request-checks.ts';
import type { ResourceRules } from '#protocol/oauth/resource-rules.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';

export interface JudgeDeps extends HintDeps {
  readonly scopeRules: ScopeRules;
  readonly resourceRules: ResourceRules;
}

/** A request that passed every check that needs no query. */
interface AcceptedRequest {
  readonly kind: 'accepted';
  readonly request: AuthorizationRequest;
  /** Acceptable `sub` values, as the client knows the accounts. Empty if any account may sign in. */
  readonly expectedSubjects: readonly string[];
}

export type JudgedRequest = AcceptedRequest | Exclude<CheckedRequest, { readonly kind: 'accepted' }>;

export function judgeAuthorizationRequest(deps: JudgeDeps, client: Client, received: ReceivedRequest): JudgedRequest {
  const { config, scopeRules, resourceRules } = deps;
  const requiresPushedRequests = client.requiresPushedRequests || config.oauth.requirePushedAuthorizationRequests;
  const rules = { scopeRules, resourceRules, subjectOfHint: (hint: string) => subjectOfHint(deps, client, hint) };
  const checked = checkAuthorizationRequest(received, { ...requestingClient(client), requiresPushedRequests }, rules);
  if (checked.kind !== 'accepted') return checked;
  const { request } = checked;
  const expected = expectedAccounts(client, request);
  if (!expected.ok) return { kind: 'redirect', target: request.target, ...expected };
  return { kind: 'accepted', request, expectedSubjects: expected.subjects };
}

/** Returns where to send the error for a request whose parameters cannot be read. Undefined means a page. */
export function targetOfUnreadable(client: Client, plain: FormParameters): ResponseTarget | undefined {
  return plainTarget(plain, requestingClient(client));
}

function requestingClient(client: Client): RequestingClient {
  return { ...client, isPublic: client.authMethod === 'none' };
}

/** `subjects` is empty if any account may sign in. */
type ExpectedAccounts =
  | { readonly ok: true; readonly subjects: readonly string[] }
  | { readonly ok: false; readonly error: AuthorizationErrorCode; readonly description: string };

/**
 * Returns the accounts that a request is for: the subject of `id_token_hint`, and those in `claims`.
 * @see OpenID Connect Core 1.0 3.1.2.1, 3.1.2.2, 5.5.1
 */
function expectedAccounts(client: Client, request: AuthorizationRequest): ExpectedAccounts {
  const { hintedSubject: hinted, subjects } = request;
  if (hinted === undefined && subjects === undefined) return { ok: true, subjects: [] };
  const wanted = [hinted ?? subjects ?? []].flat().filter((subject) => subjects?.includes(subject) !== false);
  const known = wanted
    .map((subject) => (client.sector === undefined ? parseId<'user'>(subject) : pairwiseSubject(subject)))
    .filter((subject) => subject !== undefined);
  if (known.length === 0) {
    return { ok: false, error: 'login_required', description: 'no account matches the sub requested in claims' };
  }
  return { ok: true, subjects: known };
}

function pairwiseSubject(text: string): string | undefined {
  return isPairwiseSubject(text) ? text : undefined;
}

function subjectOfHint(deps: HintDeps, client: Client, hint: string): string | undefined {
  const token = readIdTokenHint(deps, hint);
  return token?.audience === client.identifier ? token.subject : undefined;
}
