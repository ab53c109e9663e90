import { matchLanguages } from '#browser/i18n/negotiate-language.ts';
import type { Client } from '#domain/clients/client.ts';
import { namedClientId } from '#domain/clients/client-names.ts';
import { judgeAuthorizationRequest, targetOfUnreadable } from '#oauth-endpoint/authorization-request.ts';
import { logRefusal } from '#oauth-endpoint/refusal-log.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { AuthorizationRequest } from '#protocol/oauth/authorization-parameters.ts';
import { pushedReference } from '#protocol/oauth/pushed-requests.ts';
import type { ReceivedRequest } from '#protocol/oauth/request-checks.ts';
import { repeatedDecisiveParameter } from '#protocol/oauth/request-parameters.ts';
import { refuseClient } from './refuse-client.tsx';
import type { AuthorizationDeps } from './stored-request.ts';

/** What a browser brought, of a client that is known. */
export interface AskedRequest {
  readonly client: Client;
  /** As they came; those of a pushed request are elsewhere. */
  readonly plain: FormParameters;
  /** Of the pushed request that is meant; undefined: the parameters themselves count. */
  readonly reference: string | undefined;
}

/** A request that passed every check which needs no query. */
export interface AcceptedRequest extends AskedRequest {
  readonly request: AuthorizationRequest;
  /** Of which the request was read; other than `plain` when it was pushed or signed. */
  readonly parameters: FormParameters;
  /** Each `sub` by which the client knows an account that may answer; empty: anybody who signs in. */
  readonly expectedSubjects: readonly string[];
  /** The installed language that the client asked for. */
  readonly locale: string | undefined;
}

/** Steps 1 and 2 of oauth 6.3. Throws what is answered by a page; refusals are logged. */
export async function identifyClient(
  deps: AuthorizationDeps,
  context: RequestContext,
  plain: FormParameters,
): Promise<AskedRequest> {
  const repeated = repeatedDecisiveParameter(plain);
  if (repeated !== undefined) {
    const description = `${repeated} is given more than once`;
    logRefusal(deps.log, { code: 'invalid_request', description, client: undefined, parameters: plain });
    throw new LatchkeyError('invalid_request', { description });
  }
  const client = await findClient(deps, context, plain);
  return { client, plain, reference: pushedReference(plain.get('request_uri')) };
}

/**
 * Steps 4 to 14 of oauth 6.3. Returns the response instead when a refusal may be redirected to the client, and throws
 * what is answered by a page. Refusals are logged.
 */
export async function checkRequest(
  deps: AuthorizationDeps,
  context: RequestContext,
  asked: AskedRequest,
  received: ReceivedRequest,
): Promise<AcceptedRequest | HttpResponse> {
  const { client } = asked;
  const { parameters } = received;
  const judged = judgeAuthorizationRequest(deps, client, received);
  const locale = matchLanguages(parameters.get('ui_locales'), deps.languages);
  if (judged.kind === 'accepted') {
    requireSilenceInFrames(deps, context, client, judged.request);
    return { ...asked, ...judged, parameters, locale };
  }
  logRefusal(deps.log, { ...judged, code: judged.error, client, parameters });
  if (judged.kind === 'redirect') {
    return await refuseClient(deps, context, { client, target: judged.target, isSilent: false }, judged, locale);
  }
  throw new LatchkeyError(judged.error, { description: judged.description });
}

/** Why a request in a frame is refused, for the log. */
export const EMBEDDED = 'only a request with prompt=none may be sent from a frame, and none by another part of a page';

/** What was pushed or signed may ask for more than the address showed when embedding was judged (security S-181). */
function requireSilenceInFrames(
  { log }: AuthorizationDeps,
  { headers }: RequestContext,
  client: Client,
  { prompts, target }: AuthorizationRequest,
): void {
  if (headers['sec-fetch-dest'] !== 'iframe' || prompts.includes('none')) return;
  const refusal = { code: 'embedding_refused', description: EMBEDDED } as const;
  logRefusal(log, { ...refusal, client, redirectUri: target.redirectUri });
  throw new LatchkeyError(refusal.code);
}

/** Step 3 of oauth 6.3: a request whose parameters cannot be read is refused as the plain ones ask for. */
export async function refuseUnreadable(
  deps: AuthorizationDeps,
  context: RequestContext,
  { client, plain }: AskedRequest,
  error: 'invalid_request' | 'invalid_request_object' | 'invalid_request_uri',
  description: string,
): Promise<HttpResponse> {
  logRefusal(deps.log, { code: error, description, client, parameters: plain });
  const target = targetOfUnreadable(client, plain);
  if (target === undefined) throw new LatchkeyError(error, { description });
  const locale = matchLanguages(plain.get('ui_locales'), deps.languages);
  return await refuseClient(deps, context, { client, target, isSilent: false }, { error, description }, locale);
}

async function findClient(
  deps: AuthorizationDeps,
  context: RequestContext,
  parameters: FormParameters,
): Promise<Client> {
  const name = parameters.get('client_id') ?? '';
  await deps.clientDocuments.refresh(context, name);
  const client = await deps.clients.findNamed(name);
  if (client !== undefined) return client;
  logRefusal(deps.log, {
    code: 'invalid_request',
    description:
      namedClientId(name) === undefined
        ? 'client_id is not an id of a client'
        : 'client_id names no client, or a disabled one',
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
