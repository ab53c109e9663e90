import { pageSample, sampleUser } from '#browser/sample.ts';
import { SignedInPage, VisitorPage } from './index.page.tsx';

export const samples = [
  pageSample('index', ({ translations, text }) => ({
    title: translations.t('index.step'),
    content: (
      <VisitorPage
        translations={translations}
        serviceName={text}
        discoveryUrl="https://example.org/.well-known/openid-configuration"
        loginPath="/login"
        registerPath="/register"
      />
    ),
  })),
  pageSample('index-signed-in', ({ translations, text, token }) => ({
    title: translations.t('index.step'),
    content: (
      <SignedInPage
        translations={translations}
        serviceName={text}
        discoveryUrl={undefined}
        user={sampleUser(text)}
        logoutPath="/logout"
        csrf={token}
        accountPath="/account/"
      />
    ),
  })),
];
