import type { Sample } from '#browser/sample.ts';
import { renderCallback, renderReference } from './reference.page.tsx';

const NO_FILES = { find: () => undefined };

export const samples: readonly Sample[] = [
  {
    name: 'api-reference',
    render: ({ site }) =>
      renderReference(
        { site, assets: NO_FILES },
        { description: '/api/spec.json', callback: 'https://example.org/api/doc/oauth2-callback' },
      ),
  },
  { name: 'api-reference-callback', render: ({ site }) => renderCallback({ site, assets: NO_FILES }) },
];
