import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Notice } from '../../src/browser/components/text.tsx';
import { useTranslations } from '../i18n/translations.ts';

/** Tells the user while offline that changes are not possible. */
export function OfflineBanner(): VNode {
  const { t } = useTranslations();
  const [isOnline, setOnline] = useState(navigator.onLine);
  useEffect(() => {
    const update = () => setOnline(navigator.onLine);
    addEventListener('online', update);
    addEventListener('offline', update);
    return () => {
      removeEventListener('online', update);
      removeEventListener('offline', update);
    };
  }, []);
  return <div role="status">{!isOnline && <Notice kind="warning">{t('account.offline')}</Notice>}</div>;
}
