/**
 * What the authorization endpoint and the endpoint for pushed requests judge alike (RFC 9126 2.1): steps 4 to 14 of
 * oauth 6.3, by the parameters and the client alone.
 */
import type { Client } from '#domain/clients/client.ts';
import { isPairwiseSubject } from '#domain/clients/subjects.ts';
import { type HintDeps, readIdTokenHint } from '#domain/signing-keys/id-token-hint.ts';
import { parseId } from '#platform/base/ids.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import {
  type AuthorizationRequest,
  type CheckedRequest,
  checkAuthorizationRequest,
  plainTarget,
  type ReceivedRequest,
  type RequestingClient,
} from '#protocol/oauth/authorization-parameters.ts';
import type { AuthorizationErrorCode, ResponseTarget } from '#protocol/oauth/authorization-response.ts';
import type { ResourceRules } from '#protocol/oauth/resource-rules.ts';
import type { ScopeRules } from '#protocol/oauth/scopes.ts';

export interface JudgeDeps extends HintDeps {
  readonly scopeRules: ScopeRules;
  readonly resourceRules: ResourceRules;
}

/** A request that passed every check which needs no query. */
interface AcceptedRequest {
  readonly kind: 'accepted';
  readonly request: AuthorizationRequest;
  /** The `sub` by which the client knows the one account that may answer; undefined: whoever signs in. */
  readonly expectedSubject: string | undefined;
}

export type JudgedRequest = AcceptedRequest | Exclude<CheckedRequest, { readonly kind: 'accepted' }>;

export function judgeAuthorizationRequest(deps: JudgeDeps, client: Client, received: ReceivedRequest): JudgedRequest {
  const checked = checkAuthorizationRequest(received, requestingClient(client), deps.scopeRules, deps.resourceRules);
  if (checked.kind !== 'accepted') return checked;
  const { request } = checked;
  const expected = expectedAccount(deps, client, request);
  if (!expected.ok) return { kind: 'redirect', target: request.target, ...expected };
  return { kind: 'accepted', request, expectedSubject: expected.subject };
}

/** Where a request is refused whose parameters cannot be read; undefined: to a page. */
export function targetOfUnreadable(client: Client, plain: FormParameters): ResponseTarget | undefined {
  return plainTarget(plain, requestingClient(client));
}

function requestingClient(client: Client): RequestingClient {
  return { ...client, isPublic: client.authMethod === 'none' };
}

/** `subject`: undefined when whoever signs in may answer. */
type ExpectedAccount =
  | { readonly ok: true; readonly subject: string | undefined }
  | { readonly ok: false; readonly error: AuthorizationErrorCode; readonly description: string };

/**
 * The one account that a request is for: the subject of `id_token_hint`, and of `claims`.
 * @see OpenID Connect Core 1.0 3.1.2.1, 3.1.2.2, 5.5.1
 */
function expectedAccount(deps: HintDeps, client: Client, request: AuthorizationRequest): ExpectedAccount {
  const { idTokenHint, subject } = request;
  const hinted = idTokenHint === undefined ? undefined : subjectOfHint(deps, client, idTokenHint);
  if (idTokenHint !== undefined && hinted === undefined) {
    const description = 'id_token_hint must be an ID token that was issued here to this client; it may be expired';
    return { ok: false, error: 'invalid_request', description };
  }
  const wanted = hinted ?? subject;
  if (wanted === undefined) return { ok: true, subject: undefined };
  const known = client.sector === undefined ? parseId<'user'>(wanted) : pairwiseSubject(wanted);
  if (known === undefined || (hinted !== undefined && subject !== undefined && hinted !== subject)) {
    return { ok: false, error: 'login_required', description: 'no account fits the sub that claims asks for' };
  }
  return { ok: true, subject: known };
}

function pairwiseSubject(text: string): string | undefined {
  return isPairwiseSubject(text) ? text : undefined;
}

function subjectOfHint(deps: HintDeps, client: Client, hint: string): string | undefined {
  const token = readIdTokenHint(deps, hint);
  return token?.audience === client.id ? token.subject : undefined;
}
