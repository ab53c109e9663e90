/**
 * `POST /oauth2/par` (RFC 9126): a client pushes the parameters of an authorization request, and gets a `request_uri`
 * for the browser. This proves that the parameters come from the client, and protects them from being read or changed
 * on the way.
 */

import { pushRequest } from '#domain/authorizations/push-request.ts';
import { PUSHED_REQUEST_SECONDS } from '#domain/authorizations/pushed-request.ts';
import type { Client } from '#domain/clients/client.ts';
import type { Core } from '#domain/core.ts';
import type { ProofKey } from '#domain/oauth-sessions/proof-key.ts';
import { judgeAuthorizationRequest } from '#oauth-endpoint/authorization-request.ts';
import { ClientAuthentication } from '#oauth-endpoint/client-authentication.ts';
import { ClientDocuments } from '#oauth-endpoint/client-documents.ts';
import { DpopProofs } from '#oauth-endpoint/dpop-proofs.ts';
import { readOAuthForm } from '#oauth-endpoint/oauth-form.ts';
import { logRefusal } from '#oauth-endpoint/refusal-log.ts';
import { verifyRequestObject } from '#oauth-endpoint/request-object.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { plainDescription } from '#platform/http/error-format.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import type { Database } from '#platform/postgres/database.ts';
import { pushedRequestUri } from '#protocol/oauth/pushed-requests.ts';
import type { ReceivedRequest } from '#protocol/oauth/request-checks.ts';
import { MULTIPLE_PARAMETERS, SINGLE_PARAMETERS } from '#protocol/oauth/request-parameters.ts';

const PATH = 'oauth2/par';

export function mount(core: Core): Route[] {
  const authentication = new ClientAuthentication(core, `/${PATH}`, new ClientDocuments(core));
  const proofs = new DpopProofs(core);
  return [
    {
      method: 'POST',
      path: `/${PATH}`,
      resource: 'oauth',
      errorFormat: 'oauth-json',
      cors: 'get-post',
      handle: async (context) => {
        const form = await readOAuthForm(context, SINGLE_PARAMETERS);
        return await authentication.act(context, form, async (client, database) => {
          const key = await proofs.ofRequest(context, PATH, client);
          const response = await push(core, database, context, form, client, key);
          return key === undefined || response === 'client-changed' ? response : proofs.withNonce(response);
        });
      },
    },
  ];
}

const NO_CACHE = { pragma: 'no-cache' };

async function push(
  core: Core,
  database: Database,
  context: RequestContext,
  form: FormParameters,
  client: Client,
  key: ProofKey | undefined,
): Promise<HttpResponse | 'client-changed'> {
  if (form.has('request_uri')) {
    throw new LatchkeyError('invalid_request', {
      description: 'request_uri is not allowed here: send the request parameters.',
    });
  }
  const received = await readRequest(core, client, form);
  if (!received.ok) {
    const refusal = { error: 'invalid_request_object', description: received.problem };
    logRefusal(core.log, { ...refusal, code: refusal.error, client, parameters: form });
    return refused(refusal);
  }
  const { parameters, isSigned } = received;
  if (key !== undefined && (parameters.get('dpop_jkt') ?? key.thumbprint) !== key.thumbprint) {
    throw new LatchkeyError('invalid_dpop_proof', { description: 'dpop_jkt must match the key of the DPoP proof.' });
  }
  const judged = judgeAuthorizationRequest(core, client, received);
  if (judged.kind !== 'accepted') {
    // RFC 9126 2.3: an unregistered redirect URI has no separate error code.
    const error = judged.error === 'invalid_redirect_uri' ? 'invalid_request' : judged.error;
    logRefusal(core.log, { ...judged, code: judged.error, client, parameters });
    return refused({ error, description: judged.description });
  }
  await key?.consume();
  // RFC 9449 10.1: the code will be bound to the key, as with the parameter.
  const binding = key === undefined ? {} : { dpop_jkt: [key.thumbprint] };
  const pushed = await pushRequest(
    { database, limiter: core.config.rateLimiting.par.perClient },
    {
      client,
      parameters: { ...pick(parameters), ...binding },
      isSigned,
      address: context.clientAddress,
      now: core.clock.now(),
    },
  );
  if (pushed.ok) {
    const body = { request_uri: pushedRequestUri(pushed.reference), expires_in: PUSHED_REQUEST_SECONDS };
    return json(201, body, NO_CACHE);
  }
  if (pushed.reason === 'client-changed') return pushed.reason;
  const description =
    pushed.reason === 'rate-limited'
      ? 'Too many pushed requests from this client.'
      : 'Too many unused pushed requests from this address in the last hour.';
  logRefusal(core.log, { code: 'rate_limited', description, client, parameters });
  throw new LatchkeyError('rate_limited', {
    description,
    retryAfterSeconds: pushed.retryAfterSeconds,
  });
}

/** Reads the plain parameters, or the parameters of the request object (RFC 9126 3). */
async function readRequest(
  core: Core,
  client: Client,
  form: FormParameters,
): Promise<({ readonly ok: true } & ReceivedRequest) | { readonly ok: false; readonly problem: string }> {
  if (!form.has('request')) return { ok: true, parameters: form, isPushed: true, isSigned: false };
  const read = await verifyRequestObject(core, client, form);
  return read.ok ? { ok: true, parameters: read.parameters, isPushed: true, isSigned: true } : read;
}

function refused({ error, description }: { readonly error: string; readonly description: string }): HttpResponse {
  return json(400, { error, error_description: plainDescription(description) }, NO_CACHE);
}

/** Keeps the known parameters without credentials, unknown names and duplicate values. */
function pick(form: FormParameters): Readonly<Record<string, readonly string[]>> {
  return Object.fromEntries(
    [...SINGLE_PARAMETERS, ...MULTIPLE_PARAMETERS]
      .map((name) => [name, [...new Set(form.all(name))]] as const)
      .filter(([, values]) => values.length > 0),
  );
}
