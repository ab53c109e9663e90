import type { VNode } from 'preact';
import { PageTitle } from '../components/page-title.tsx';
import { useConfig } from '../frame/config-context.ts';
import { useTexts } from '../i18n/translations.ts';

export function NotFound(): VNode {
  const { t } = useTexts();
  const { root } = useConfig();
  return (
    <>
      <PageTitle title={t('admin.not_found.title')} />
      <p>{t('admin.not_found.text')}</p>
      <p>
        <a href={`${root}users`}>{t('admin.users.title')}</a>
      </p>
    </>
  );
}
