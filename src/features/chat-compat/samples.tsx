import { pageSample, type SampleContext, sampleExpiry, sampleId } from '#browser/sample.ts';
import { ssoTarget } from '#protocol/chat/sso-redirect.ts';
import { CompleteSsoPage, SsoForbiddenPage } from './complete-sso.page.tsx';

/** A redirect URL of each kind that can receive a token. */
const TARGETS = { https: 'https://app.example/', http: 'http://app.example/', app: 'app.example:/signed-in' } as const;

function account(text: string) {
  const action = { kind: 'continue_compat_sso_login', id: sampleId<'compat-sso-login'>() } as const;
  return { displayName: text, identifier: text, logoutPath: '/logout', action };
}

/** @param address where the token goes */
export function ssoSamples(name: string, address: string) {
  const target = ssoTarget(address);
  const completePage = ({ translations, token, text }: SampleContext, isExpired: boolean) => ({
    title: translations.t('sso.title', { target: target.name }),
    isRejected: isExpired,
    content: (
      <CompleteSsoPage
        translations={translations}
        target={target}
        account={account(text)}
        form={{ path: '/complete-compat-sso/x', csrf: token, fields: [['rendered', text]] }}
        problems={isExpired ? sampleExpiry(translations) : []}
      />
    ),
  });
  return [
    pageSample(`sso-${name}`, (context) => completePage(context, false)),
    pageSample(`sso-${name}-expired`, (context) => completePage(context, true)),
    pageSample(`sso-${name}-forbidden`, ({ translations, token, text }) => ({
      title: translations.t('problem.refused.title'),
      content: (
        <SsoForbiddenPage
          translations={translations}
          client={{ name: target.name, host: undefined, isVerified: false }}
          violations={[{ code: 'too-many-sessions', needToRemove: 2 }]}
          account={account(text)}
          csrf={token}
          help={{ serviceName: text, contact: undefined }}
          retryPath="/complete"
          sessionsPath="/account/sessions"
        />
      ),
    })),
  ];
}

export const samples = Object.entries(TARGETS).flatMap(([name, address]) => ssoSamples(name, address));
