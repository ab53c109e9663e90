import type { ComponentChildren, VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useLocation } from 'preact-iso/router';
import { Notice } from '../../../src/browser/components/text.tsx';
import { usePageQuery } from '../../api/page-query.ts';
import { Button } from '../../components/button.tsx';
import { nameOfClient } from '../../components/client-mark.tsx';
import { DeviceIcon } from '../../components/empty-state.tsx';
import { FactList, FactRow, Moment } from '../../components/facts.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { usePathRest } from '../../frame/path-rest.ts';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { SessionNotFound } from '../not-found.tsx';
import { EndSessionDialog } from './end-session.tsx';
import { RenameSessionDialog } from './rename-session.tsx';
import { ScopeFacts } from './scope-facts.tsx';
import { AppMark, LastActive } from './session-card.tsx';
import { appSubtitle, appTitle, browserTitle, sessionIcon } from './session-text.ts';
import { type SessionDetailData, SessionDetail as SessionDetailQuery } from './sessions.generated.ts';

type Session = Extract<
  NonNullable<SessionDetailData['node']>,
  { __typename: 'BrowserSession' | 'CompatSession' | 'Oauth2Session' }
>;

/** Details of one session, with a sign-out button. */
export function SessionDetail(): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  const id = usePathRest('sessions');
  const query = usePageQuery(SessionDetailQuery, { id });
  const isMalformed = query.problem?.kind === 'refused' && query.problem.code === 'BAD_USER_INPUT';
  return (
    <PlainPage>
      <p>
        <a href={pathTo('sessions')}>{t('account.sessions.back')}</a>
      </p>
      {isMalformed ? (
        <SessionNotFound />
      ) : (
        <Loaded query={query} title={t('account.session.title')}>
          {({ node }) => {
            switch (node?.__typename) {
              case 'BrowserSession':
              case 'CompatSession':
              case 'Oauth2Session':
                return <Detail key={node.id} session={node} />;
              default:
                return <SessionNotFound />;
            }
          }}
        </Loaded>
      )}
    </PlainPage>
  );
}

function Detail({ session }: { session: Session }): VNode {
  const translations = useTranslations();
  const { t } = translations;
  const { url } = useLocation();
  const isActive = session.finishedAt === null;
  // An account action only opens the confirmation.
  const isRequested = new URL(url, location.origin).searchParams.get('dialog') === 'end';
  const [isEnding, setEnding] = useState(isRequested && isActive);
  const [isRenaming, setRenaming] = useState(false);
  const isBrowser = session.__typename === 'BrowserSession';
  const title = isBrowser ? browserTitle(translations, session) : appTitle(translations, session);
  return (
    <>
      <div class="session-head">
        {isBrowser ? <DeviceIcon icon={sessionIcon(session.userAgent)} /> : <AppMark session={session} />}
        <PageTitle title={title}>
          {isBrowser && session.isCurrent && <span class="badge">{t('account.session.this_browser')}</span>}
        </PageTitle>
      </div>
      {session.finishedAt !== null && (
        <Notice kind="info">
          {translations.rich('account.session.ended', { when: <Moment at={session.finishedAt} /> })}
        </Notice>
      )}
      <FactList>
        <KindFacts session={session} />
        <FactRow name={t('account.session.signed_in')}>
          <Moment at={session.createdAt} />
        </FactRow>
        {session.lastActiveAt !== null && (
          <FactRow name={t('account.session.last_active')}>
            <LastActive at={session.lastActiveAt} />
          </FactRow>
        )}
        {session.lastActiveIp !== null && (
          <FactRow name={t('account.session.address')}>
            <code>{session.lastActiveIp}</code>
          </FactRow>
        )}
        {session.userAgent !== null && (
          <FactRow name={t('account.session.software')}>
            <bdi>{softwareOf(session.userAgent)}</bdi>
          </FactRow>
        )}
      </FactList>
      {session.__typename === 'Oauth2Session' && <ScopeFacts scope={session.scope} />}
      {isActive && !isBrowser && (
        <Button
          kind="secondary"
          label={t('account.rename.button_for', { name: title })}
          onClick={() => setRenaming(true)}
        >
          {t('account.rename.button')}
        </Button>
      )}
      {isRenaming && !isBrowser && <RenameSessionDialog session={session} onClose={() => setRenaming(false)} />}
      {isActive && (
        <Button kind="danger" label={t('account.session.sign_out_of', { name: title })} onClick={() => setEnding(true)}>
          {t('account.sign_out')}
        </Button>
      )}
      {isEnding && <EndSessionDialog session={session} name={title} onClose={() => setEnding(false)} />}
    </>
  );
}

function softwareOf(agent: NonNullable<Session['userAgent']>): string {
  const parts = [
    [agent.name, agent.version],
    [agent.os, agent.osVersion],
  ].map((pair) => pair.filter((part) => part !== null).join(' '));
  return parts.filter((part) => part !== '').join(', ') || agent.raw;
}

/** Details specific to this kind of session. */
function KindFacts({ session }: { session: Session }): ComponentChildren {
  const translations = useTranslations();
  const { t } = translations;
  const pathTo = usePathTo();
  if (session.__typename === 'BrowserSession') {
    return (
      <>
        {session.lastAuthentication !== null && (
          <FactRow name={t('account.session.proven')}>
            <Moment at={session.lastAuthentication.createdAt} />
          </FactRow>
        )}
      </>
    );
  }
  return (
    <>
      {session.__typename === 'Oauth2Session' && (
        <FactRow name={t('account.session.application')}>
          <a href={pathTo(`clients/${session.client.id}`)}>
            <bdi>{nameOfClient(session.client)}</bdi>
          </a>
        </FactRow>
      )}
      {session.__typename === 'CompatSession' && session.ssoLogin !== null && (
        <FactRow name={t('account.session.application')}>
          <bdi>{appSubtitle(session, '')}</bdi>
        </FactRow>
      )}
      {session.deviceId !== null && (
        <FactRow name={t('account.session.device_id')}>
          <code>{session.deviceId}</code>
        </FactRow>
      )}
    </>
  );
}
