import type { Urls } from '#base/urls.ts';
import type { Pages } from '../pages.ts';
import type { Face } from '../route.ts';
import type { RenderError } from './face.ts';
import { oauthJsonFace } from './oauth-json.ts';
import { pageFace } from './page.tsx';
import { renderPlainJson } from './plain-json.ts';

/** One way of putting errors for each kind of reader. */
export function createFaces(options: { issuer: string; pages: Pages; urls: Urls }): Record<Face, RenderError> {
  return {
    'oauth-json': oauthJsonFace(options.issuer),
    page: pageFace(options.pages, options.urls),
    'plain-json': renderPlainJson,
  };
}
