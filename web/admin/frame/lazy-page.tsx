import type { ComponentChildren, ComponentType, VNode } from 'preact';
import { useErrorBoundary } from 'preact/hooks';
import lazy from 'preact-iso/lazy';
import { Notice } from '../../../src/browser/components/text.tsx';
import { Button } from '../../components/button.tsx';
import { PageTitle } from '../components/page-title.tsx';
import { useTexts } from '../i18n/translations.ts';

/** A page whose code is loaded when it is first shown. Its file may be missing after an upgrade. */
export function lazyPage(load: () => Promise<ComponentType>): ComponentType {
  return lazy(async () => {
    try {
      return await load();
    } catch {
      return BrokenPage;
    }
  });
}

/** Error boundary: shows an error with a reload button in place of a page that fails to render. */
export function Unbroken({ children }: { children: ComponentChildren }): ComponentChildren {
  const [error] = useErrorBoundary((problem: unknown) => reportError(problem));
  return error === undefined ? children : <BrokenPage />;
}

function BrokenPage(): VNode {
  const { t } = useTexts();
  return (
    <>
      <PageTitle title={t('admin.broken.title')} />
      <div role="alert">
        <Notice kind="danger">{t('admin.broken.text')}</Notice>
      </div>
      <Button onClick={() => location.reload()}>{t('admin.reload')}</Button>
    </>
  );
}
