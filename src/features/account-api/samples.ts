import { pageSample } from '#browser/sample.ts';
import { PlaygroundPage } from './playground.page.tsx';

export const samples = [
  pageSample('playground', ({ site, translations }) => ({
    title: translations.t('playground.title'),
    width: 'broad',
    content: PlaygroundPage({ translations, endpoint: '/graphql', scriptPath: site.assetPath('playground.js') }),
  })),
];
