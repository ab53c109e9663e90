import type { ComponentChildren, VNode } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import { Notice } from '../../src/browser/components/text.tsx';
import { Button } from '../components/button.tsx';
import { PageTitle } from '../components/page-title.tsx';
import { useTranslations } from '../i18n/translations.ts';
import { PlainPage } from './tabs-page.tsx';

/** Error boundary: shows an error with a reload button in place of a page that fails to render. */
export function Unbroken({ children }: { children: ComponentChildren }): ComponentChildren {
  const [error] = useErrorBoundary((problem: unknown) => reportError(problem));
  return error === undefined ? children : <BrokenPage />;
}

function BrokenPage(): VNode {
  const { t } = useTranslations();
  return (
    <PlainPage>
      <PageTitle title={t('account.broken.title')} />
      <div role="alert">
        <Notice kind="danger">{t('account.problem.general')}</Notice>
      </div>
      <Button onClick={() => location.reload()}>{t('account.reload')}</Button>
    </PlainPage>
  );
}
