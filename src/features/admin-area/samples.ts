import type { Sample } from '#browser/sample.ts';
import { renderAdminArea } from './admin.page.tsx';

export const samples: readonly Sample[] = [
  {
    name: 'admin-area',
    render: ({ site, translations, languages }) => {
      const files = {
        site,
        integrityOf: () => undefined,
        imports: [],
        languages,
        publishedPath: (name: string) => `${site.indexPath}assets/${name}`,
      };
      const parts = {
        files,
        rootPath: '/admin/',
        basePath: '/',
        clientId: '00ADM1NAREA000000000000000',
        version: '0.0.0',
      };
      return String(renderAdminArea(parts, translations).body);
    },
  },
];
