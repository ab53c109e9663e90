/**
 * Dynamic client registration. An application registers itself at `POST /oauth2/registration` (RFC 7591, OpenID Connect
 * Dynamic Client Registration 1.0). A confidential client manages its registration at the URL below it (RFC 7592).
 * Registration grants no rights: the consent page shows users that the client is not verified.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import { metadataDeps } from '#oauth-endpoint/accept-metadata.ts';
import { countResult } from '#oauth-endpoint/count-results.ts';
import { metrics } from '#platform/base/metrics.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { deleteClient, readClient, replaceClient } from './manage.ts';
import { register } from './register.ts';

export function mount(core: Core, { urls }: Browser): Route[] {
  const deps = { ...metadataDeps(core), urls };
  const format = { resource: 'oauth', errorFormat: 'oauth-json' } as const;
  const own = { ...format, path: '/oauth2/registration/:client_id', cors: 'get-put-delete' } as const;
  return [
    {
      ...format,
      method: 'POST',
      path: '/oauth2/registration',
      cors: 'get-post',
      handle: async (context) => await counted('create', register(deps, context)),
    },
    { ...own, method: 'GET', handle: async (context) => await readClient(deps, context) },
    { ...own, method: 'PUT', handle: async (context) => await counted('update', replaceClient(deps, context)) },
    { ...own, method: 'DELETE', handle: async (context) => await counted('delete', deleteClient(deps, context)) },
  ];
}

function counted(kind: 'create' | 'delete' | 'update', response: Promise<HttpResponse>): Promise<HttpResponse> {
  if (metrics === undefined) return response;
  return countResult(response, (result) => {
    metrics?.count('latchkey_oauth2_client_registrations_total', { kind, result });
  });
}
