/**
 * `GET` and `POST /graphql` (account-graphql 1 to 5): people read and change their accounts, sessions and settings, in the
 * account area by the session cookie, and in applications by an access token where the operator allows that.
 *
 * The transport is here; `schema/` says what there is, by the operations of the domain.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import { outside } from '#platform/base/tasks.ts';
import type { Route } from '#platform/http/route.ts';
import type { GraphqlEndpoint } from './endpoint.ts';
import { readGet, readPost } from './payload.ts';

export function mount(core: Core, browser: Browser): Route[] {
  let loading: Promise<GraphqlEndpoint> | undefined;
  const load = async (): Promise<GraphqlEndpoint> => {
    const { GraphqlEndpoint: Endpoint } = await outside(import('./endpoint.ts'));
    return new Endpoint({ core, browser });
  };
  const endpoint = async (): Promise<GraphqlEndpoint> => {
    loading ??= load();
    return await outside(loading);
  };
  const route = {
    path: '/graphql',
    resource: 'graphql',
    errorFormat: 'graphql-json',
    cors: core.config.graphql.acceptsAccessTokens ? 'graphql' : 'none',
  } as const;
  return [
    {
      ...route,
      method: 'GET',
      handle: async (context) => {
        const payload = readGet(context);
        return await (await endpoint()).answer(context, payload);
      },
    },
    {
      ...route,
      method: 'POST',
      preload: async () => {
        await endpoint();
      },
      handle: async (context) => {
        const payload = await readPost(context, core);
        return await (await endpoint()).answer(context, payload);
      },
    },
  ];
}
