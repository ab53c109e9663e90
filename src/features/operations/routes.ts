/**
 * What a service needs around its features: `GET /health` for load balancers and service managers, `GET /assets/*`
 * for the files that pages name, `GET /favicon.ico` and `GET /robots.txt` for who asks without being told. None of
 * them reads a cookie, and only the database check of readiness sends a statement.
 */
import type { AssetFile } from '#browser/asset-files.ts';
import type { Browser } from '#browser/browser.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { acceptsEncoding } from '#platform/http/accept.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { Route } from '#platform/http/route.ts';
import { answerHealth, type HealthDeps } from './health.ts';

const ROBOTS_HEADERS = { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'public, max-age=86400' };

export function mount(core: HealthDeps, { assets, brand }: Pick<Browser, 'assets' | 'brand'>): Route[] {
  const icon = brand.icon?.name ?? 'favicon.svg';
  // Asked for by pages of ours, which may be on their way while the event loop lags.
  const file = { method: 'GET', errorFormat: 'page', embedding: 'allowed', priority: true } as const;
  return [
    {
      method: 'GET',
      path: '/health',
      resource: 'health',
      errorFormat: 'plain-json',
      priority: true,
      capacity: 'essential',
      handle: (context) => answerHealth(context, core),
    },
    {
      ...file,
      path: '/assets/*',
      resource: 'assets',
      handle: ({ headers, params }) => answerAsset(assets.find(params['*'] ?? ''), headers),
    },
    {
      ...file,
      path: '/favicon.ico',
      resource: 'human',
      handle: ({ headers }) => answerAsset(assets.find(icon), headers),
    },
    {
      ...file,
      path: '/robots.txt',
      resource: 'human',
      handle: () => ({ status: 200, headers: ROBOTS_HEADERS, body: 'User-agent: *\nDisallow: /\n' }),
    },
  ];
}

// Opened by itself, a drawing is a document: it may hold scripts, which must not run on this origin.
const SVG_POLICY = "default-src 'none'; style-src 'unsafe-inline'; sandbox";

/** A file in the smallest coding that the browser takes, or 304 for one that it has. Throws `not_found`. */
export function answerAsset(file: AssetFile | undefined, headers: RequestContext['headers']): HttpResponse {
  if (file === undefined) throw new LatchkeyError('not_found');
  const { body, coding } = choose(file, headers['accept-encoding']);
  // Each coding is a representation of its own, and a strong validator says which (RFC 9110 8.8.3.3).
  const etag = `"${file.tag}${coding === undefined ? '' : `-${coding}`}"`;
  const caching = {
    'cache-control': file.isImmutable ? 'public, max-age=31536000, immutable' : 'no-cache',
    etag,
    vary: 'Accept-Encoding',
    // Also with 304, whose headers replace those in the browser's cache.
    ...(file.contentType === 'image/svg+xml' && { 'content-security-policy': SVG_POLICY }),
  };
  const known = headers['if-none-match']?.split(',').map((tag) => tag.trim().replace(/^W\//, ''));
  if (known?.includes(etag) === true || known?.includes('*') === true) return { status: 304, headers: caching };
  const encoding = coding === undefined ? {} : { 'content-encoding': coding };
  return { status: 200, headers: { 'content-type': file.contentType, ...caching, ...encoding }, body };
}

function choose(file: AssetFile, accepted: string | string[] | undefined): { body: Buffer; coding?: string } {
  if (file.brotli !== undefined && acceptsEncoding(accepted, 'br')) return { body: file.brotli, coding: 'br' };
  if (file.gzip !== undefined && acceptsEncoding(accepted, 'gzip')) return { body: file.gzip, coding: 'gzip' };
  return { body: file.content };
}
