import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { PageTitle } from '../../components/page-title.tsx';
import { useConfig } from '../../frame/config-context.ts';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';

/** What a person sees whose account has just ended, and with it their session. */
export function AccountDeactivated(): VNode {
  const { t } = useTranslations();
  const { root } = useConfig();
  // The button that had the focus is gone.
  useEffect(() => document.querySelector('h1')?.focus(), []);
  return (
    <PlainPage>
      <PageTitle title={t('account.deactivate.done')} />
      <p role="status">{t('account.deactivate.done_text')}</p>
      <p>
        {/* Leaves the application: who is not signed in has nothing else to see in it. */}
        <a href={root} target="_top">
          {t('account.deactivate.other')}
        </a>
      </p>
    </PlainPage>
  );
}
