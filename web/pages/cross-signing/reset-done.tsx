import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { PageTitle } from '../../components/page-title.tsx';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';

declare global {
  interface Window {
    /** Of chat clients that show the page in a view of their own. */
    onAuthDone?: unknown;
  }
}

/** Says that the client may go on, to the person and to the client (the fallback of the client-server API). */
export function CrossSigningResetAllowed(): VNode {
  const { t } = useTranslations();
  useEffect(tellClient, []);
  return (
    <PlainPage>
      <PageTitle title={t('account.reset.allowed')} />
      <p role="status">{t('account.reset.allowed_text')}</p>
    </PlainPage>
  );
}

function tellClient(): void {
  // A window of another site is an instance of nothing here.
  const { opener }: { readonly opener: Window | null } = window;
  if (typeof window.onAuthDone === 'function') window.onAuthDone();
  // Whoever opened the window may know that it is done: the message says nothing else.
  else opener?.postMessage('authDone', '*');
}

export function CrossSigningResetCancelled(): VNode {
  const { t } = useTranslations();
  return (
    <PlainPage>
      <PageTitle title={t('account.reset.cancelled')} />
      <p role="status">{t('account.reset.cancelled_text')}</p>
    </PlainPage>
  );
}
