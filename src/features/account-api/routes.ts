/**
 * `GET` and `POST /graphql` (account-graphql 1 to 5): users read and change their accounts, sessions and settings. The
 * account area uses the session cookie. Applications use an access token if the operator allows that.
 *
 * `GET /graphql/playground` (1.9): a page for trying documents. It reads no data.
 *
 * The transport is here. `schema/` defines the types on top of the domain's operations.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import { DpopProofs } from '#oauth-endpoint/dpop-proofs.ts';
import { outside } from '#platform/base/tasks.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import type { GraphqlEndpoint } from './endpoint.ts';
import { PLAYGROUND_POLICY, PlaygroundPage } from './playground.page.tsx';

export function mount(core: Core, browser: Browser): Route[] {
  const proofs = new DpopProofs(core);
  let loading: Promise<GraphqlEndpoint> | undefined;
  const load = async (): Promise<GraphqlEndpoint> => {
    const { GraphqlEndpoint: Endpoint } = await outside(import('./endpoint.ts'));
    return new Endpoint({ core, browser, proofs });
  };
  const endpoint = async (): Promise<GraphqlEndpoint> => {
    loading ??= load();
    return await outside(loading);
  };
  const withNonce = ({ headers }: RequestContext, response: HttpResponse) =>
    headers['dpop'] === undefined ? response : proofs.withNonce(response);
  const route = {
    path: '/graphql',
    resource: 'graphql',
    errorFormat: 'graphql-json',
    cors: core.config.graphql.acceptsAccessTokens ? 'graphql' : 'none',
  } as const;
  return [
    ...(core.config.graphql.hasPlayground ? [playground(browser)] : []),
    {
      ...route,
      method: 'GET',
      handle: async (context) => {
        return withNonce(context, await (await endpoint()).answerGet(context));
      },
    },
    {
      ...route,
      method: 'POST',
      preload: async () => {
        await endpoint();
      },
      handle: async (context) => {
        return withNonce(context, await (await endpoint()).answerPost(context));
      },
    },
  ];
}

function playground({ pages, site, urls }: Browser): Route {
  return {
    method: 'GET',
    path: '/graphql/playground',
    resource: 'graphql',
    errorFormat: 'page',
    handle: (context) => {
      const translations = pages.language(context);
      const parts = { translations, endpoint: urls.path('graphql'), scriptPath: site.assetPath('playground.js') };
      return pages.answer({
        title: translations.t('playground.title'),
        translations,
        width: 'broad',
        headers: { 'content-security-policy': PLAYGROUND_POLICY },
        content: PlaygroundPage(parts),
      });
    },
  };
}
