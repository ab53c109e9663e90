import { pageSample, sampleExpiry } from '#browser/sample.ts';
import { LogoutPage } from './logout.page.tsx';

export const samples = [
  pageSample('logout', ({ translations, token }) => ({
    title: translations.t('logout.title'),
    content: <LogoutPage translations={translations} logoutPath="/logout" csrf={token} problems={[]} fields={[]} />,
  })),
  pageSample('logout-expired', ({ translations, token }) => ({
    title: translations.t('logout.title'),
    isRejected: true,
    content: (
      <LogoutPage
        translations={translations}
        logoutPath="/logout"
        csrf={token}
        problems={sampleExpiry(translations)}
        fields={[['scope', 'everywhere']]}
      />
    ),
  })),
];
