import { pageSample, sampleUser } from '#browser/sample.ts';
import { ConfirmPage, SignedOutPage } from './end-session.page.tsx';

export const samples = [
  ...['end-session', 'end-session-unnamed'].map((name) =>
    pageSample(name, ({ translations, text, token }) => ({
      title: translations.t('end_session.title'),
      content: (
        <ConfirmPage
          translations={translations}
          serviceName={text}
          clientName={name === 'end-session' ? text : undefined}
          user={sampleUser(text)}
          logoutPath="/logout"
          csrf={token}
          logoutRequest={token}
          stayPath="/account/"
        />
      ),
    })),
  ),
  ...['end-session-done', 'end-session-onward'].map((name) =>
    pageSample(name, ({ translations, text }) => ({
      title: translations.t('end_session.done.title'),
      content: (
        <SignedOutPage
          translations={translations}
          loginPath="/login"
          onward={name === 'end-session-done' ? undefined : { href: 'https://app.example.org/bye', host: text }}
        />
      ),
    })),
  ),
];
