import { pageSample, SAMPLE_ACTION, type SampleContext, sampleExpiry, sampleUser } from '#browser/sample.ts';
import { UpstreamRegisterPage } from './register.page.tsx';
import { ContinuePage, LinkPage, MismatchPage, NoAccountPage, RepostPage } from './upstream.page.tsx';

const LINK_PATH = '/upstream/link/x';

type RegisterProps = Parameters<typeof UpstreamRegisterPage>[0];

function registerPage(
  { translations, token, text }: SampleContext,
  isFixed: boolean,
  problems: RegisterProps['problems'] = [],
) {
  return {
    title: translations.t('register.title'),
    isRejected: problems.length > 0,
    content: (
      <UpstreamRegisterPage
        translations={translations}
        provider={{ name: text, brand: isFixed ? 'google' : undefined, accountName: text }}
        path={LINK_PATH}
        csrf={token}
        problems={problems}
        username={{ isFixed, value: text }}
        suggestions={isFixed ? undefined : { names: [text], sentAs: 'username' }}
        email={{ value: text, isFixed, isTaken: true }}
        displayName={{ value: text, isFixed, isTaken: false }}
        serverName="example.org"
        terms={{ uri: 'https://example.org/terms', isAccepted: false }}
        linkPath="/login"
      />
    ),
  };
}

function common({ translations, token, text }: SampleContext) {
  return { translations, csrf: token, provider: text, problems: [] };
}

function signedIn({ text }: SampleContext) {
  return { viewer: sampleUser(text), logoutPath: '/logout', action: SAMPLE_ACTION, stayHref: '/account/' };
}

export const samples = [
  pageSample('upstream-repost', ({ translations, text }) => ({
    title: translations.t('upstream.repost.title'),
    content: <RepostPage translations={translations} path="/upstream/callback/x" fields={[['state', text]]} />,
  })),
  ...['upstream-continue', 'upstream-continue-expired'].map((name) =>
    pageSample(name, (context) => ({
      title: context.translations.t('upstream.continue.title', { user: 'amira' }),
      content: (
        <ContinuePage
          {...common(context)}
          problems={name === 'upstream-continue' ? [] : sampleExpiry(context.translations)}
          path={LINK_PATH}
          user={sampleUser(context.text)}
        />
      ),
    })),
  ),
  ...['/login', undefined].map((linkPath) =>
    pageSample(linkPath === undefined ? 'upstream-no-account' : 'upstream-no-account-link', (context) => ({
      title: context.translations.t('upstream.no_account.title'),
      content: <NoAccountPage {...common(context)} linkPath={linkPath} loginPath="/login" />,
    })),
  ),
  ...[true, false].map((isAllowed) =>
    pageSample(isAllowed ? 'upstream-link' : 'upstream-link-off', (context) => ({
      title: context.translations.t(isAllowed ? 'upstream.link.title' : 'upstream.link.off_title'),
      content: <LinkPage {...common(context)} {...signedIn(context)} path={LINK_PATH} isAllowed={isAllowed} />,
    })),
  ),
  pageSample('upstream-mismatch', (context) => ({
    title: context.translations.t('upstream.mismatch.title'),
    content: <MismatchPage {...common(context)} {...signedIn(context)} />,
  })),
  pageSample('upstream-register', (context) => registerPage(context, false)),
  pageSample('upstream-register-fixed', (context) => registerPage(context, true)),
  pageSample('upstream-register-expired', (context) =>
    registerPage(context, false, sampleExpiry(context.translations)),
  ),
];
