/**
 * Routes for operating the service: `GET /health` for load balancers and service managers, `GET /metrics` for
 * monitoring, and `GET /connection-info` for setting up a reverse proxy. `GET /assets/*` serves the files that pages
 * use. Clients request `GET /favicon.ico` and `GET /robots.txt` on their own. These routes read no cookies. Only the
 * database check of readiness sends a statement.
 */
import type { Browser } from '#browser/browser.ts';
import type { Core } from '#domain/core.ts';
import type { Route } from '#platform/http/route.ts';
import { handleAsset } from './assets.ts';
import { connectionInfoResponse } from './connection-info.ts';
import { type HealthDeps, handleHealth } from './health.ts';
import { handleMetrics } from './metrics.ts';

const ROBOTS_HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, max-age=86400' };

export function mount(
  core: HealthDeps & { readonly process: Pick<Core['process'], 'metricsPage'> },
  { assets, brand }: Pick<Browser, 'assets' | 'brand'>,
): Route[] {
  const icon = brand.icon?.name ?? 'favicon.svg';
  // Pages that were already served need these files, even while the event loop lags.
  const file = {
    method: 'GET',
    errorFormat: 'page',
    embedding: 'allowed',
    priority: true,
    isClockIndependent: true,
  } as const;
  return [
    {
      method: 'GET',
      path: '/metrics',
      resource: 'prometheus',
      errorFormat: 'plain-json',
      isClockIndependent: true,
      priority: true,
      capacity: 'essential',
      handle: (context) => handleMetrics(context, core.process.metricsPage),
    },
    {
      method: 'GET',
      path: '/health',
      resource: 'health',
      errorFormat: 'plain-json',
      isClockIndependent: true,
      priority: true,
      capacity: 'essential',
      handle: (context) => handleHealth(context, core),
    },
    {
      method: 'GET',
      path: '/connection-info',
      resource: 'connection-info',
      errorFormat: 'plain-json',
      isClockIndependent: true,
      handle: ({ connectionInfo }) => connectionInfoResponse(connectionInfo),
    },
    {
      ...file,
      path: '/assets/*',
      resource: 'assets',
      handle: ({ headers, params }) => handleAsset(assets.find(params['*'] ?? ''), headers),
    },
    {
      ...file,
      path: '/favicon.ico',
      // Browsers request it at the origin, even for documents below a path that name no icon.
      isAtOrigin: true,
      resource: 'human',
      handle: ({ headers }) => handleAsset(assets.find(icon), headers),
    },
    {
      ...file,
      path: '/robots.txt',
      // RFC 9309 2.3
      isAtOrigin: true,
      resource: 'human',
      handle: () => ({ status: 200, headers: ROBOTS_HEADERS, body: 'User-agent: *\nDisallow: /\n' }),
    },
  ];
}
