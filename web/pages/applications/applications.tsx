import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { useAction } from '../../api/action.ts';
import { usePageQuery } from '../../api/page-query.ts';
import { Moment } from '../../components/facts.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { NEWEST, ShortList } from '../../components/short-list.tsx';
import { Loaded } from '../../components/states.tsx';
import { useContentShown } from '../../frame/content-shown.ts';
import { TabsPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { LastActive } from '../sessions/session-card.tsx';
import { AllowedClientCard } from './allowed-client.tsx';
import {
  ConnectedApplicationFacts,
  type ConnectedApplicationFactsData,
  ConnectedApplicationList,
  type ConnectedApplicationListData,
  ConsentList,
  type ConsentListData,
  RevokeApplication,
  RevokeConsent,
} from './applications.generated.ts';
import { RevokeDialog } from './revoke.tsx';

type Application = Extract<
  ConnectedApplicationListData['viewer'],
  { __typename: 'User' }
>['connectedApplications']['nodes'][number];
type Facts = Extract<
  ConnectedApplicationFactsData['viewer'],
  { __typename: 'User' }
>['connectedApplications']['nodes'][number];
type Consent = Extract<ConsentListData['viewer'], { __typename: 'User' }>['consents']['nodes'][number];

/** Connected clients and remembered consents (account-graphql 7.6). */
export function Applications(): VNode {
  const { t } = useTranslations();
  const [applicationsPart, setApplicationsPart] = useState(NEWEST);
  const [consentsPart, setConsentsPart] = useState(NEWEST);
  const applications = usePageQuery(ConnectedApplicationList, applicationsPart);
  // Slow with many sessions, so the list is shown first.
  const facts = usePageQuery(ConnectedApplicationFacts, applicationsPart, !useContentShown());
  const consents = usePageQuery(ConsentList, consentsPart);
  return (
    <TabsPage tab="applications">
      <PageTitle title={t('account.applications.title')} />
      <section class="section">
        <h2>{t('account.applications.connected')}</h2>
        <Loaded query={applications}>
          {({ viewer }) =>
            viewer.__typename === 'User' && (
              <ShortList
                kind="sessions"
                list={viewer.connectedApplications}
                empty={t('account.applications.none')}
                pages={t('account.applications.pages')}
                onPart={setApplicationsPart}
              >
                {(application) => (
                  <ApplicationCard
                    key={application.id}
                    application={application}
                    facts={factsOf(facts.data, application.id)}
                  />
                )}
              </ShortList>
            )
          }
        </Loaded>
        {facts.problem !== undefined && <Loaded query={facts}>{() => null}</Loaded>}
      </section>
      <section class="section">
        <h2>{t('account.consents.title')}</h2>
        <p>{t('account.consents.text')}</p>
        <Loaded query={consents}>
          {({ viewer }) =>
            viewer.__typename === 'User' && (
              <ShortList
                kind="sessions"
                list={viewer.consents}
                empty={t('account.consents.none')}
                pages={t('account.consents.pages')}
                onPart={setConsentsPart}
              >
                {(consent) => <ConsentCard key={consent.id} consent={consent} />}
              </ShortList>
            )
          }
        </Loaded>
      </section>
    </TabsPage>
  );
}

/** Undefined while loading. */
function factsOf(data: ConnectedApplicationFactsData | undefined, id: string): Facts | undefined {
  return data?.viewer.__typename === 'User'
    ? data.viewer.connectedApplications.nodes.find((application) => application.id === id)
    : undefined;
}

function ApplicationCard({ application, facts }: { application: Application; facts: Facts | undefined }): VNode {
  const { t, rich } = useTranslations();
  const { id, client } = application;
  const action = useAction(RevokeApplication);
  return (
    <AllowedClientCard
      client={client}
      scopes={facts?.scopes}
      facts={
        facts !== undefined && (
          <>
            {facts.lastActiveAt !== null && <LastActive at={facts.lastActiveAt} />}
            <span>{t('account.sessions.count', { total: facts.activeSessions })}</span>
            <span>{rich('account.applications.since', { when: <Moment at={facts.firstAuthorizedAt} /> })}</span>
          </>
        )
      }
      button={t('account.applications.revoke')}
      label={(name) => t('account.applications.revoke_from', { name })}
      dialog={(name, onClose) => (
        <RevokeDialog
          title={rich('account.applications.question', { name: <bdi>{name}</bdi> })}
          button={t('account.applications.revoke')}
          action={action}
          revoke={async () => (await action.run({ id }))?.revokeApplication.status}
          done={rich('account.applications.revoked', { name: <bdi>{name}</bdi> })}
          onClose={onClose}
        >
          <p>{t('account.applications.text')}</p>
          {facts?.scopes.some(isDevice) === true && <p>{t('account.applications.lost')}</p>}
        </RevokeDialog>
      )}
    />
  );
}

function ConsentCard({ consent: { id, client, scopes, updatedAt } }: { consent: Consent }): VNode {
  const { t, rich } = useTranslations();
  const action = useAction(RevokeConsent);
  return (
    <AllowedClientCard
      client={client}
      scopes={scopes}
      facts={<span>{rich('account.consents.since', { when: <Moment at={updatedAt} /> })}</span>}
      button={t('account.consents.revoke')}
      label={(name) => t('account.consents.revoke_from', { name })}
      dialog={(name, onClose) => (
        <RevokeDialog
          title={rich('account.consents.question', { name: <bdi>{name}</bdi> })}
          button={t('account.consents.revoke')}
          action={action}
          revoke={async () => (await action.run({ id }))?.revokeConsent.status}
          done={rich('account.consents.revoked', { name: <bdi>{name}</bdi> })}
          onClose={onClose}
        >
          <p>{t('account.consents.question_text')}</p>
        </RevokeDialog>
      )}
    />
  );
}

/** Device scope of a chat client, which may hold the only copy of encryption keys. */
function isDevice(scope: string): boolean {
  return scope.includes(':device:');
}
