import type { VNode } from 'preact';
import { useEffect } from 'preact/hooks';
import { PageTitle } from '../../components/page-title.tsx';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';

declare global {
  interface Window {
    /** Set by chat clients that show the page in a web view. */
    onAuthDone?: unknown;
  }
}

/** Tells the user and the chat client that it may continue (fallback of the client-server API). */
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
  // A window of another origin is not an instance of any class here.
  const { opener }: { readonly opener: Window | null } = window;
  if (typeof window.onAuthDone === 'function') window.onAuthDone();
  // Any opener may learn that it is done; the message contains no other information.
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
