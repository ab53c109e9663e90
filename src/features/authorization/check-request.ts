import { matchLanguages } from '#browser/i18n/negotiate-language.ts';
import type { Client } from '#domain/clients/client.ts';
import { readIdTokenHint } from '#domain/signing-keys/id-token-hint.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseId, type UserId } from '#platform/base/ids.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import {
  type AuthorizationRequest,
  checkAuthorizationRequest,
  repeatedDecisiveParameter,
} from '#protocol/oauth/authorization-parameters.ts';
import type { AuthorizationErrorCode } from '#protocol/oauth/authorization-response.ts';
import { answerClient } from './finish-request.tsx';
import { logRefusal } from './refusal-log.ts';
import type { AuthorizationDeps } from './stored-request.ts';

/** A request that passed every check which needs no query. */
export interface AcceptedRequest {
  readonly client: Client;
  readonly request: AuthorizationRequest;
  /** The one account that may answer; undefined: whoever signs in. */
  readonly expectedUserId: UserId | undefined;
  /** The installed language that the client asked for. */
  readonly locale: string | undefined;
}

/**
 * Steps 1 to 14 of oauth 6.3. Returns the response instead when a refusal may be redirected to the client, and throws
 * what is answered by a page. Refusals are logged.
 */
export async function checkRequest(
  deps: AuthorizationDeps,
  context: RequestContext,
  parameters: FormParameters,
): Promise<AcceptedRequest | HttpResponse> {
  const repeated = repeatedDecisiveParameter(parameters);
  if (repeated !== undefined) {
    const description = `${repeated} is given more than once`;
    logRefusal(deps.log, { code: 'invalid_request', description, client: undefined, parameters });
    throw new LatchkeyError('invalid_request', { description });
  }
  const client = await findClient(deps, parameters);
  const requesting = { ...client, isPublic: client.authMethod === 'none' };
  const checked = checkAuthorizationRequest(parameters, requesting, deps.scopeRules, deps.resourceRules);
  if (checked.kind === 'page') {
    logRefusal(deps.log, { ...checked, code: checked.error, client, parameters });
    throw new LatchkeyError(checked.error, { description: checked.description });
  }
  const locale = matchLanguages(parameters.get('ui_locales'), deps.languages);
  if (checked.kind === 'redirect') {
    logRefusal(deps.log, { ...checked, code: checked.error, client, parameters });
    return answerClient(deps, context, checked.target, checked, locale);
  }
  const { request } = checked;
  const expected = expectedUser(deps, client, request);
  if (!expected.ok) {
    const { error, description } = expected;
    logRefusal(deps.log, { code: error, description, client, parameters });
    return answerClient(deps, context, request.target, expected, locale);
  }
  return { client, request, expectedUserId: expected.userId, locale };
}

async function findClient(deps: AuthorizationDeps, parameters: FormParameters): Promise<Client> {
  const id = parseId<'client'>(parameters.get('client_id') ?? '');
  const client = id === undefined ? undefined : await deps.clients.find(id);
  if (client !== undefined) return client;
  logRefusal(deps.log, {
    code: 'invalid_request',
    description:
      id === undefined ? 'client_id is not an id of a client' : 'client_id names no client, or a disabled one',
    client: undefined,
    parameters,
    expected: 'a client_id of the configuration, 26 characters',
  });
  throw unknownClient();
}

/** One error for whatever names no client, so that it does not tell which clients there are (security S-06). */
export function unknownClient(): LatchkeyError {
  return new LatchkeyError('invalid_request', {
    description:
      'the request cannot be decoded, or its client_id names no client here; the log of the service says what it received',
  });
}

/** `userId`: undefined when whoever signs in may answer. */
type ExpectedUser =
  | { readonly ok: true; readonly userId: UserId | undefined }
  | { readonly ok: false; readonly error: AuthorizationErrorCode; readonly description: string };

/**
 * The one account that a request is for: the subject of `id_token_hint`, and of `claims`.
 * @see OpenID Connect Core 1.0 3.1.2.1, 3.1.2.2, 5.5.1
 */
function expectedUser(deps: AuthorizationDeps, client: Client, request: AuthorizationRequest): ExpectedUser {
  const { idTokenHint, subject } = request;
  const hinted = idTokenHint === undefined ? undefined : subjectOfHint(deps, client, idTokenHint);
  if (idTokenHint !== undefined && hinted === undefined) {
    const description = 'id_token_hint must be an ID token that was issued here to this client; it may be expired';
    return { ok: false, error: 'invalid_request', description };
  }
  const wanted = hinted ?? subject;
  if (wanted === undefined) return { ok: true, userId: undefined };
  const userId = parseId<'user'>(wanted);
  if (userId === undefined || (hinted !== undefined && subject !== undefined && hinted !== subject)) {
    return { ok: false, error: 'login_required', description: 'no account fits the sub that claims asks for' };
  }
  return { ok: true, userId };
}

function subjectOfHint(deps: AuthorizationDeps, client: Client, hint: string): string | undefined {
  const token = readIdTokenHint(deps, hint);
  return token?.audience === client.id ? token.subject : undefined;
}
