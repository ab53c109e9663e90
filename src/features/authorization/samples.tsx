import type { VNode } from 'preact';
import type { Translations } from '#browser/i18n/translations.ts';
import { pageSample, type SampleContext, sampleId } from '#browser/sample.ts';
import { ConsentPage, ForbiddenPage, OtherAccountPage } from './consent.page.tsx';
import { ExpiredPage, FormPostPage, LeavingPage, OpeningPage } from './finished.page.tsx';

const CALLBACK = 'https://app.example.org/callback';

export function decisionProps({ translations, token, text }: Pick<SampleContext, 'translations' | 'token' | 'text'>) {
  return {
    translations,
    client: {
      name: text,
      host: text,
      redirectTarget: text,
      isVerified: false,
      policyUri: `https://app.example.org/?${text}`,
      tosUri: 'https://app.example.org/terms',
    },
    scopes: ['openid', 'urn:latchkey:admin', text],
    resources: [text],
    account: {
      displayName: `A ${text}`,
      identifier: text,
      logoutPath: '/logout',
      action: { kind: 'continue_authorization_grant', id: sampleId<'authorization-grant'>() },
    },
    form: { path: '/authorize', csrf: token, grantId: text },
  } as const;
}

/** A page that asks the user for a decision. */
function decision(name: string, title: (translations: Translations, text: string) => string, page: Page) {
  return pageSample(name, (context) => ({
    title: title(context.translations, context.text),
    client: { name: context.text, logoPath: '/client-logos/x' },
    content: page(context),
  }));
}

type Page = (context: SampleContext) => VNode;

const consentTitle = (translations: Translations, client: string) => translations.t('consent.title', { client });
const otherAccountTitle = (translations: Translations) => translations.t('consent.other_account.title');
const refusedTitle = (translations: Translations) => translations.t('problem.refused.title');
const noAccessTitle = (translations: Translations, client: string) =>
  translations.t('consent.no_access.title', { client });
const expiredTitle = (translations: Translations) => translations.t('problem.expired.title');

export const samples = [
  decision('consent', consentTitle, (context) => <ConsentPage {...decisionProps(context)} problems={[]} />),
  decision('consent-published', consentTitle, (context) => {
    const { client, ...props } = decisionProps(context);
    const published = { ...client, publisher: 'apps.example.org', isLocal: true };
    return <ConsentPage {...props} client={published} problems={[]} />;
  }),
  decision('consent-rejected', consentTitle, (context) => (
    <ConsentPage {...decisionProps(context)} problems={[{ code: 'invalid_action', message: context.text }]} />
  )),
  decision('consent-forbidden', refusedTitle, (context) => (
    <ForbiddenPage
      {...decisionProps(context)}
      violations={[
        { code: 'admin-scope', scopes: ['urn:latchkey:admin', context.text] },
        { code: 'requester-banned', setting: 'banned_ips' },
        { code: 'too-many-sessions', needToRemove: 3 },
      ]}
      help={{ serviceName: context.text, contact: undefined }}
      retryPath="/authorize/1"
      sessionsPath="/account/sessions"
    />
  )),
  ...Object.entries({
    'no-access': 'mailto:help@example.org?subject=Access',
    'no-access-uncontactable': undefined,
  }).map(([name, contact]) =>
    decision(name, noAccessTitle, (context) => (
      <ForbiddenPage
        {...decisionProps(context)}
        violations={[{ code: 'not-in-group' }]}
        help={{ serviceName: context.text, contact }}
        retryPath="/authorize/1"
        sessionsPath="/account/sessions"
      />
    )),
  ),
  ...(['named', 'gone', 'unnamed'] as const).map((kind) =>
    decision(`other-account-${kind}`, otherAccountTitle, (context) => (
      <OtherAccountPage {...decisionProps(context)} wanted={{ kind, identifier: context.text }} />
    )),
  ),
  decision('request-expired', expiredTitle, ({ translations }) => (
    <ExpiredPage translations={translations} returnToClient={undefined} />
  )),
  decision('request-expired-link', expiredTitle, ({ translations }) => (
    <ExpiredPage translations={translations} returnToClient={{ kind: 'link', href: CALLBACK }} />
  )),
  decision('request-expired-form', expiredTitle, ({ translations, text }) => (
    <ExpiredPage
      translations={translations}
      returnToClient={{ kind: 'form', action: CALLBACK, fields: [['state', text]] }}
    />
  )),
  pageSample('opening', ({ translations }) => ({
    title: translations.t('consent.opening.title'),
    content: <OpeningPage translations={translations} />,
  })),
  pageSample('form-post', ({ translations, text }) => ({
    title: translations.t('form_post.title'),
    content: <FormPostPage translations={translations} redirectUri={CALLBACK} fields={[['state', text]]} />,
  })),
  ...['leaving', 'leaving-form'].map((name) =>
    pageSample(name, ({ translations, text }) => ({
      title: translations.t('leaving.title'),
      content: (
        <LeavingPage
          translations={translations}
          host={text}
          error="invalid_scope"
          returnToClient={
            name === 'leaving'
              ? { kind: 'link', href: CALLBACK }
              : { kind: 'form', action: CALLBACK, fields: [['error', text]] }
          }
          homePath="/"
        />
      ),
    })),
  ),
];
