import { matchLanguages } from '#browser/i18n/negotiate-language.ts';
import type { Client } from '#domain/clients/client.ts';
import { namedClientId } from '#domain/clients/client-names.ts';
import { judgeAuthorizationRequest, targetOfUnreadable } from '#oauth-endpoint/authorization-request.ts';
import { logRefusal } from '#oauth-endpoint/refusal-log.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, type Responded, responseFor } from '#platform/http/response.ts';
import type { AuthorizationRequest } from '#protocol/oauth/authorization-parameters.ts';
import { pushedReference } from '#protocol/oauth/pushed-requests.ts';
import type { ReceivedRequest } from '#protocol/oauth/request-checks.ts';
import { repeatedDecisiveParameter } from '#protocol/oauth/request-parameters.ts';
import { requireOwnPage } from './builtin-request.ts';
import { refuseClient } from './refuse-client.tsx';
import type { AuthorizationDeps } from './stored-request.ts';

/** The parameters that a browser sent, with the client that they name. */
export interface CheckedRequest {
  readonly client: Client;
  /** As received. The parameters of a pushed request are stored elsewhere. */
  readonly plain: FormParameters;
  /** Reference to a pushed request. Undefined if the request carries its own parameters. */
  readonly reference: string | undefined;
}

/** A request that passed every check that needs no query. */
export interface AcceptedRequest extends CheckedRequest {
  readonly ok: true;
  readonly request: AuthorizationRequest;
  /** The effective parameters. They differ from `plain` if the request was pushed or signed. */
  readonly parameters: FormParameters;
  /** Acceptable `sub` values, as the client knows the accounts. Empty if any account may sign in. */
  readonly expectedSubjects: readonly string[];
  /** The installed language that best matches the client's request. */
  readonly locale: string | undefined;
}

/** Steps 1 and 2 of oauth 6.3. Throws errors that are shown as a page. Rejections are logged. */
export async function identifyClient(
  deps: AuthorizationDeps,
  context: RequestContext,
  plain: FormParameters,
): Promise<CheckedRequest> {
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
 * Steps 4 to 14 of oauth 6.3. Returns the response instead if the rejection may be redirected to the client. Throws
 * errors that are shown as a page. Rejections are logged.
 */
export async function checkRequest(
  deps: AuthorizationDeps,
  context: RequestContext,
  requested: CheckedRequest,
  received: ReceivedRequest,
): Promise<AcceptedRequest | Responded> {
  const { client } = requested;
  const { parameters } = received;
  const judged = judgeAuthorizationRequest(deps, client, received);
  const locale = matchLanguages(parameters.get('ui_locales'), deps.languages);
  if (judged.kind === 'accepted') {
    requireOwnPage(deps, context, client, received, judged.request);
    requireSilenceInFrames(deps, context, client, judged.request);
    return { ok: true, ...requested, ...judged, parameters, locale };
  }
  logRefusal(deps.log, { ...judged, code: judged.error, client, parameters });
  if (judged.kind === 'redirect') {
    const refused = { client, target: judged.target, isSilent: false };
    return responseFor(await refuseClient(deps, context, refused, judged, locale));
  }
  throw new LatchkeyError(judged.error, { description: judged.description });
}

/** Why a request in a frame is rejected, for the log. */
export const EMBEDDED =
  'only a request with prompt=none may be sent from a frame, and no request from other embedded content';

/** Pushed or signed parameters may ask for more than the URL showed when embedding was checked (security S-181). */
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

/**
 * Step 3 of oauth 6.3: rejects a request whose parameters cannot be read. The plain parameters decide how the client
 * gets the error.
 */
export async function refuseUnreadable(
  deps: AuthorizationDeps,
  context: RequestContext,
  { client, plain }: CheckedRequest,
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
        ? 'client_id is not a client ID'
        : 'client_id is unknown, or the client is disabled',
    client: undefined,
    parameters,
    expected: 'a configured client_id of 26 characters',
  });
  throw unknownClient();
}

/** The same error for every unknown client ID, so that it does not reveal which clients exist (security S-06). */
export function unknownClient(): LatchkeyError {
  return new LatchkeyError('invalid_request', {
    description: 'the request cannot be decoded, or its client_id is unknown; the server log shows what was received',
  });
}
