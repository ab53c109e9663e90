/**
 * `/api/admin/v1` (operations 4): programs of the operator read and change what the service keeps. `operations/` says what
 * there is; `openapi.ts` describes it from the same definitions.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
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
  return [
    ...OPERATIONS.map((operation) => routeOf(core, operation)),
    descriptionAt(SPEC_PATH, core, browser.urls),
    ...referenceRoutes(browser, SPEC_PATH),
  ];
}

function routeOf(core: Core, operation: Operation): Route {
  return {
    ...SHARED,
    method: operation.method,
    path: `${BASE_PATH}/${operation.path}`,
    judgesRepeatedAuthorization: true,
    handle: async (context) => {
      const caller = await identifyAdmin(core, context);
      return await operation.run({ core, context, caller, base: context.prefix + BASE_PATH });
    },
  };
}

function descriptionAt(path: string, { version }: Core, urls: Browser['urls']): Route {
  return { ...SHARED, method: 'GET', path, handle: descriptionOf({ urls, version }) };
}
