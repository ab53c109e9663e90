import type { ComponentChildren, VNode } from 'preact';
import { PageTitle } from '../components/page-title.tsx';
import { usePathTo } from '../frame/config-context.ts';
import { useReportContentShown } from '../frame/content-shown.ts';
import { PlainPage } from '../frame/tabs-page.tsx';
import { useTranslations } from '../i18n/translations.ts';

/** Shown for an unknown path of the area. */
export function NotFound(): VNode {
  return (
    <PlainPage>
      <NotFoundContent />
    </PlainPage>
  );
}

export function NotFoundContent(): VNode {
  useReportContentShown();
  const { t } = useTranslations();
  const pathTo = usePathTo();
  return (
    <>
      <PageTitle title={t('account.not_found.title')} />
      <p>{t('account.not_found.text')}</p>
      <p>
        <a href={pathTo('')}>{t('account.not_found.home')}</a>
      </p>
    </>
  );
}

/** Shown if the object does not exist or belongs to another user. */
export function SessionNotFound({ children }: { children?: ComponentChildren }): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  return (
    <>
      <PageTitle title={t('account.session_not_found.title')} />
      <p>{children ?? t('account.session_not_found.text')}</p>
      <p>
        <a href={pathTo('sessions')}>{t('account.session_not_found.link')}</a>
      </p>
    </>
  );
}
