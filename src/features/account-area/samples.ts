import type { Sample } from '#browser/sample.ts';
import { renderArea } from './area.page.tsx';

export const samples: readonly Sample[] = [
  {
    name: 'account-area',
    render: ({ site, translations, languages }) => {
      const parts = {
        files: {
          site,
          integrityOf: () => undefined,
          imports: [],
          languages,
          publishedPath: (name: string) => `${site.indexPath}assets/${name}`,
        },
        protocolName: 'chat',
        version: '0.0.0',
        hasCrossSigning: true,
        recoveryEndsApplications: false,
        minimumPasswordLength: 8,
        codeMinutes: 5,
        clientLogosPath: '/client-logos/',
        hasPlanManagement: true,
        frames: [],
        rootPath: '/account/',
        graphqlPath: '/graphql',
        loginPath: '/login',
        logoutPath: '/logout',
      };
      return String(renderArea(parts, translations).body);
    },
  },
];
