import type { VNode } from 'preact';
import { LinkButton } from '../../../src/browser/components/buttons.tsx';
import { PageTitle } from '../../components/page-title.tsx';
import { usePathTo } from '../../frame/config-context.ts';
import { PlainPage } from '../../frame/tabs-page.tsx';
import { useTranslations } from '../../i18n/translations.ts';

/** Confirms the change. */
export function PasswordChanged(): VNode {
  const { t } = useTranslations();
  const pathTo = usePathTo();
  return (
    <PlainPage>
      <PageTitle title={t('account.password.changed')} />
      <p role="status">{t('account.password.changed_text')}</p>
      <LinkButton kind="primary" href={pathTo('')}>
        {t('account.not_found.home')}
      </LinkButton>
    </PlainPage>
  );
}
