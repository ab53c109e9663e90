import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { type MergedWindow, useMergedWindow } from '../../api/merged-lists.ts';
import { together, usePageQuery } from '../../api/page-query.ts';
import { Button } from '../../components/button.tsx';
import { EmptyState } from '../../components/empty-state.tsx';
import { useFocusAfterRemoval } from '../../components/focus-after-removal.ts';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { useContentShown } from '../../frame/content-shown.ts';
import { TabsPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { type Application, ApplicationEntry } from './application-entry.tsx';
import {
  ConnectedApplicationFacts,
  type ConnectedApplicationFactsData,
  ConnectedApplicationList,
  type ConnectedApplicationListData,
  ConsentList,
  type ConsentListData,
} from './applications.generated.ts';

type User<Data extends { readonly viewer: { readonly __typename: string } }> = Extract<
  Data['viewer'],
  { __typename: 'User' }
>;
type Connected = User<ConnectedApplicationListData>['connectedApplications'];
type Consents = User<ConsentListData>['consents'];
type Facts = User<ConnectedApplicationFactsData>['connectedApplications']['nodes'][number];

const FIRST_SIZE = 8;

/** Apps with access to the account (account-graphql 7.6). */
export function Applications(): VNode {
  const { t } = useTranslations();
  const window = useMergedWindow(FIRST_SIZE);
  const [ofConnected, ofConsents] = window.parts;
  const connected = usePageQuery(ConnectedApplicationList, ofConnected);
  const consents = usePageQuery(ConsentList, ofConsents);
  // Slow with many sessions, so the list is shown first.
  const facts = usePageQuery(ConnectedApplicationFacts, ofConnected, !useContentShown());
  const both = together(connected, consents);
  const lists = {
    ...both,
    reload: () => {
      both.reload();
      if (facts.problem !== undefined) facts.reload();
    },
  };
  return (
    <TabsPage tab="applications">
      <PageTitle title={t('account.applications.title')} />
      <p>{t('account.applications.intro')}</p>
      <section class="section">
        <Loaded query={lists}>
          {({ one: { viewer }, other: { viewer: ofSaved } }) =>
            viewer.__typename === 'User' &&
            ofSaved.__typename === 'User' && (
              <Entries
                connected={viewer.connectedApplications}
                consents={ofSaved.consents}
                facts={facts.data}
                window={window}
              />
            )
          }
        </Loaded>
        {facts.problem !== undefined && lists.problem === undefined && <Loaded query={facts}>{() => null}</Loaded>}
      </section>
    </TabsPage>
  );
}

function Entries({
  connected,
  consents,
  facts,
  window: { merge, isMoved, reset },
}: {
  connected: Connected;
  consents: Consents;
  facts: ConnectedApplicationFactsData | undefined;
  window: MergedWindow;
}): VNode {
  const { t } = useTranslations();
  // All loaded items are shown: an app may be in one list only.
  const { more } = merge<Connected['nodes'][number] | Consents['nodes'][number]>(connected, consents);
  const applications = mergedByClient(connected, consents);
  useFocusAfterRemoval(applications.length);
  const isPastEnd = isMoved && applications.length === 0;
  useEffect(() => {
    if (isPastEnd) reset();
  }, [isPastEnd]);
  return (
    <>
      {applications.length === 0 && !isPastEnd && (
        <EmptyState icon="apps">
          <p>{t('account.applications.none')}</p>
        </EmptyState>
      )}
      <ul class="sessions">
        {applications.map((application) => (
          <ApplicationEntry
            key={application.client.id}
            application={application}
            facts={factsOf(facts, application.connected?.id)}
          />
        ))}
      </ul>
      {(more !== undefined || isMoved) && (
        <div class="pages">
          {isMoved && (
            <Button kind="secondary" onClick={reset}>
              {t('account.sessions.newest')}
            </Button>
          )}
          {more !== undefined && (
            <Button kind="secondary" onClick={more}>
              {t('account.sessions.more')}
            </Button>
          )}
        </div>
      )}
    </>
  );
}

/** Newest first. Apps that are signed in come before those with saved permissions only. */
function mergedByClient(connected: Connected, consents: Consents): readonly Application[] {
  const saved = new Map(consents.nodes.map((consent) => [consent.client.id, consent]));
  const signedIn = connected.nodes.toReversed().map((one) => ({
    client: one.client,
    connected: one,
    consent: saved.get(one.client.id),
  }));
  const known = new Set(signedIn.map(({ client }) => client.id));
  const others = consents.nodes
    .toReversed()
    .filter(({ client }) => !known.has(client.id))
    .map((consent) => ({ client: consent.client, connected: undefined, consent }));
  return [...signedIn, ...others];
}

/** Undefined while loading. */
function factsOf(data: ConnectedApplicationFactsData | undefined, id: string | undefined): Facts | undefined {
  return data?.viewer.__typename === 'User'
    ? data.viewer.connectedApplications.nodes.find((application) => application.id === id)
    : undefined;
}
