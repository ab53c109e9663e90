import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { PageTitle } from '../../components/page-title.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';

/** Shown after the account was deactivated, which also ended the session. */
export function AccountDeactivated(): VNode {
  const { t } = useTranslations();
  const { root } = useConfig();
  // The focused button no longer exists.
  useEffect(() => document.querySelector('h1')?.focus(), []);
  return (
    <PlainPage>
      <PageTitle title={t('account.deactivate.done')} />
      <p role="status">{t('account.deactivate.done_text')}</p>
      <p>
        {/* A full page load: a signed-out user can see nothing else in the application. */}
        <a href={root} target="_top">
          {t('account.deactivate.other')}
        </a>
      </p>
    </PlainPage>
  );
}
