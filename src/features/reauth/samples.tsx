import { pageSample, SAMPLE_ACTION, type SampleContext } from '#browser/sample.ts';
import { ReauthPage, type ReauthPageProps } from './reauth.page.tsx';

function reauthPage({ translations, token, text }: SampleContext, more: Partial<ReauthPageProps> = {}) {
  return {
    title: translations.t('reauth.title'),
    content: (
      <ReauthPage
        translations={translations}
        csrf={token}
        username={text}
        displayName={text}
        action={SAMPLE_ACTION}
        logoutPath="/logout"
        passwordPath="/reauth"
        passkey={{ path: '/reauth', optionsPath: '/login/passkey/options?purpose=reauth', csrf: token }}
        providers={[{ name: text, brand: 'github', href: '/upstream/authorize/x' }]}
        cancel={{ path: '/authorize', fields: [['grant_id', text]], value: 'cancel' }}
        problems={[]}
        {...more}
      />
    ),
  };
}

export const samples = [
  pageSample('reauth', (context) => reauthPage(context)),
  pageSample('reauth-rejected', (context) => ({
    ...reauthPage(context, {
      problems: [{ code: 'invalid', field: 'password', message: context.translations.t('login.invalid_credentials') }],
    }),
    isRejected: true,
  })),
  pageSample('reauth-provider', (context) => reauthPage(context, { passwordPath: undefined })),
  pageSample('reauth-impossible', (context) =>
    reauthPage(context, { passwordPath: undefined, passkey: undefined, providers: [] }),
  ),
  pageSample('reauth-passkey', (context) => reauthPage(context, { passwordPath: undefined, providers: [] })),
];
