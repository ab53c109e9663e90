import type { ComponentChildren, VNode } from 'preact';
import { usePageQuery } from '../../api/page-query.ts';
import { DeviceIcon } from '../../components/empty-state.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { Loaded } from '../../components/states.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { TabsPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';
import { useSessionsOverview } from '../sessions/overview.ts';
import { EndAllSessions } from './end-all-sessions.tsx';
import { SecurityOverview } from './security.generated.ts';

const NONE = {};

/** What to do if someone else may have used the account, step by step. */
export function SecureAccount(): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  const query = usePageQuery(SecurityOverview, NONE);
  const overview = useSessionsOverview();
  return (
    <TabsPage tab="security">
      <PageTitle title={t('account.secure.title')} />
      <p>{t('account.secure.text')}</p>
      <Step icon="devices" title={t('account.secure.sign_out')} text={t('account.secure.sign_out_text')}>
        <Loaded query={overview}>
          {({ viewer }) =>
            viewer.__typename === 'User' && (
              <EndAllSessions
                browsers={viewer.browserSessions.totalCount}
                applications={viewer.appSessions.totalCount}
              />
            )
          }
        </Loaded>
      </Step>
      <Loaded query={query}>
        {({ viewer, siteConfig }) =>
          viewer.__typename === 'User' && (
            <>
              {viewer.hasPassword && siteConfig.passwordChangeAllowed && (
                <Step icon="key" title={t('account.secure.password')} text={t('account.secure.password_text')}>
                  <a class="button button-secondary" href={pathTo('password/change')}>
                    {t('account.profile.change_password')}
                  </a>
                </Step>
              )}
              <Step icon="shield" title={t('account.secure.recovery')} text={t('account.secure.recovery_text')}>
                <ul class="links-list">
                  <li>
                    <a href={pathTo('')}>{t('account.secure.check_emails')}</a>
                  </li>
                  <li>
                    <a href={pathTo('security')}>{t('account.secure.check_methods')}</a>
                  </li>
                  <li>
                    <a href={pathTo('applications')}>{t('account.secure.check_apps')}</a>
                  </li>
                </ul>
              </Step>
            </>
          )
        }
      </Loaded>
    </TabsPage>
  );
}

function Step({
  icon,
  title,
  text,
  children,
}: {
  icon: string;
  title: string;
  text: string;
  children: ComponentChildren;
}): VNode {
  return (
    <section class="section">
      <div class="section-head">
        <DeviceIcon icon={icon} />
        <h2>{title}</h2>
      </div>
      <p>{text}</p>
      {children}
    </section>
  );
}
