import type { VNode } from 'preact';
import { useState } from 'preact/hooks';
import { usePageQuery } from '../../api/page-query.ts';
import { FactList, FactRow, Moment } from '../../components/facts.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { chatIdOf } from '../../frame/chat-id.ts';
import { useConfig, usePathTo } from '../../frame/config-context.ts';
import { TabsPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { AccountDeactivated } from './account-deactivated.tsx';
import { DataExport } from './data-export.tsx';
import { DeactivateAccount } from './deactivate-account.tsx';
import { DetailRows, EditDetails } from './details.tsx';
import { DisplayName } from './display-name.tsx';
import { Emails } from './emails.tsx';
import { UserProfile } from './profile.generated.ts';

const NONE = {};

/** The account itself. */
export function Profile(): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  const { hasCrossSigning } = useConfig();
  const [isDeactivated, setDeactivated] = useState(false);
  const query = usePageQuery(UserProfile, NONE, isDeactivated);
  if (isDeactivated) return <AccountDeactivated />;
  return (
    <TabsPage tab="profile">
      <PageTitle title={t('account.profile.title')} />
      <Loaded query={query}>
        {({ viewer, siteConfig, upstreamOauth2Providers }) =>
          viewer.__typename === 'User' && (
            <>
              <section class="section">
                <h2>{t('account.details.title')}</h2>
                <FactList>
                  <FactRow name={t('account.profile.username')}>
                    <bdi>{viewer.username}</bdi>
                  </FactRow>
                  <ChatId username={viewer.username} serverName={siteConfig.serverName} />
                  <FactRow name={t('account.display_name.title')}>
                    {viewer.matrix.available ? (
                      <DisplayName
                        userId={viewer.id}
                        name={viewer.matrix.displayName}
                        mayChange={siteConfig.displayNameChangeAllowed}
                      />
                    ) : (
                      t('account.display_name.unknown')
                    )}
                  </FactRow>
                  <DetailRows user={viewer} />
                  <FactRow name={t('account.profile.created')}>
                    <Moment at={viewer.createdAt} />
                  </FactRow>
                </FactList>
                <EditDetails
                  user={viewer}
                  languages={siteConfig.languages}
                  mayChange={siteConfig.profileChangeAllowed}
                />
              </section>
              <Emails
                mayChange={siteConfig.emailChangeAllowed}
                hasPassword={siteConfig.passwordLoginEnabled && viewer.hasPassword}
              />
              {upstreamOauth2Providers.nodes.length > 0 && (
                <section class="section">
                  <h2>{t('account.linked.title')}</h2>
                  <p>
                    <a href={pathTo('linked-accounts')}>{t('account.linked.manage')}</a>
                  </p>
                </section>
              )}
              {hasCrossSigning && (
                <section class="section">
                  <h2>{t('account.reset.section')}</h2>
                  <p>
                    <a href={pathTo('reset-cross-signing')}>{t('account.reset.link')}</a>
                  </p>
                </section>
              )}
              {siteConfig.dataExportEnabled && <DataExport />}
              {siteConfig.accountDeactivationAllowed && (
                <DeactivateAccount
                  username={viewer.username}
                  userId={chatIdOf(viewer.username, siteConfig.serverName, hasCrossSigning) ?? viewer.username}
                  hasPassword={siteConfig.passwordLoginEnabled && viewer.hasPassword}
                  onDeactivated={() => setDeactivated(true)}
                />
              )}
            </>
          )
        }
      </Loaded>
    </TabsPage>
  );
}

function ChatId({ username, serverName }: { username: string; serverName: string }): VNode | null {
  const { t } = useTranslations();
  const { hasCrossSigning } = useConfig();
  const id = chatIdOf(username, serverName, hasCrossSigning);
  if (id === undefined) return null;
  return (
    <FactRow name={t('account.profile.user_id')}>
      <bdi>{id}</bdi>
    </FactRow>
  );
}
