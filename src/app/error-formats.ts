import type { Pages } from '#browser/pages.ts';
import { pageFace } from '#browser/problem-format.tsx';
import type { Urls } from '#browser/urls.ts';
import { oauthJsonFace } from '#oauth-endpoint/oauth-json.ts';
import type { RenderError } from '#platform/http/error-format.ts';
import { renderPlainJson } from '#platform/http/plain-json.ts';
import type { Face } from '#platform/http/route.ts';

/** One way of putting errors for each kind of reader. */
export function createFaces(options: { issuer: string; pages: Pages; urls: Urls }): Record<Face, RenderError> {
  return {
    'oauth-json': oauthJsonFace(options.issuer),
    page: pageFace(options.pages, options.urls),
    'plain-json': renderPlainJson,
  };
}
