import type { ComponentType, VNode } from 'preact';
import lazy from 'preact-iso/lazy';
import { Notice } from '../../src/browser/components/text.tsx';
import { Button } from '../components/button.tsx';
import { useTranslations } from '../i18n/translations.ts';
import { PlainPage } from './tabs-page.tsx';

const KEY = 'account.reloaded-for-files';

/**
 * A page whose code is loaded when it is first shown. If its file is missing after an upgrade, the application reloads
 * once. If that does not help, it shows an error.
 */
export function lazyPage(load: () => Promise<ComponentType>): ComponentType {
  return lazy(async () => {
    try {
      const page = await load();
      sessionStorage.removeItem(KEY);
      return page;
    } catch {
      if (sessionStorage.getItem(KEY) !== null) return FailedPage;
      sessionStorage.setItem(KEY, 'true');
      location.reload();
      return EmptyPage;
    }
  });
}

function EmptyPage(): null {
  return null;
}

function FailedPage(): VNode {
  const { t } = useTranslations();
  return (
    <PlainPage>
      <h1>{t('account.files_missing.title')}</h1>
      <div role="alert">
        <Notice kind="danger">{t('account.files_missing.text')}</Notice>
      </div>
      <Button
        onClick={() => {
          sessionStorage.removeItem(KEY);
          location.reload();
        }}
      >
        {t('account.reload')}
      </Button>
    </PlainPage>
  );
}
