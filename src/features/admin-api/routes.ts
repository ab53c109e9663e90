/**
 * `/api/admin/v1` (operations 4): programs of the operator read and change the service's data. `operations/` defines
 * the operations. `openapi.ts` describes the API from the same definitions.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import { DpopProofs } from '#oauth-endpoint/dpop-proofs.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { Route } from '#platform/http/route.ts';
import { identifyAdmin } from './definition/caller.ts';
import { BASE_PATH } from './definition/documents.ts';
import type { Operation } from './definition/operation.ts';
import { descriptionOf } from './openapi.ts';
import { OPERATIONS } from './operations.ts';
import { referenceRoutes } from './reference-routes.ts';

const SPEC_PATH = '/api/spec.json';
const SHARED = { resource: 'adminapi', errorFormat: 'admin-json', cors: 'admin' } as const;

export function mount(core: Core, browser: Browser): Route[] {
  const proofs = new DpopProofs(core);
  return [
    ...OPERATIONS.map((operation) => routeOf(core, proofs, operation)),
    descriptionAt(SPEC_PATH, core, browser.urls),
    ...referenceRoutes(browser, SPEC_PATH),
  ];
}

function routeOf(core: Core, proofs: DpopProofs, operation: Operation): Route {
  return {
    ...SHARED,
    method: operation.method,
    path: `${BASE_PATH}/${operation.path}`,
    judgesRepeatedAuthorization: true,
    handle: async (context) => {
      const caller = await identifyAdmin(core, proofs, context, addressOf(operation, context));
      const response = await operation.run({ core, context, caller, base: context.prefix + BASE_PATH });
      return context.headers['dpop'] === undefined ? response : proofs.withNonce(response);
    },
  };
}

/** Returns the path of the request, below the public base URL. */
function addressOf({ path }: Operation, { params }: RequestContext): string {
  const filled = path.replace(/:([a-z_]+)/g, (_, name: string) => encodeURIComponent(params[name] ?? ''));
  return `${BASE_PATH.slice(1)}/${filled}`;
}

function descriptionAt(path: string, { process: { version } }: Core, urls: Browser['urls']): Route {
  return { ...SHARED, method: 'GET', path, handle: descriptionOf({ urls, version }) };
}
