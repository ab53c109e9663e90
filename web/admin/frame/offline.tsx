import type { VNode } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import { Notice } from '../../../src/browser/components/text.tsx';
import { useTexts } from '../i18n/translations.ts';

/** Tells the user while the browser has no network. */
export function Offline(): VNode {
  const { t } = useTexts();
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
  return <div role="status">{!isOnline && <Notice kind="warning">{t('admin.offline')}</Notice>}</div>;
}
