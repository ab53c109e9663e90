import type { VNode } from 'preact';
import { usePageQuery } from '../api/page-query.ts';
import { useTranslations } from '../i18n/translations.ts';
import { useContentShown } from './content-shown.ts';
import { Footer as FooterQuery } from './frame.generated.ts';

const NONE = {};

/** Links of the operator. They load after the page, and are omitted if that fails. */
export function Footer(): VNode {
  const { t } = useTranslations();
  const { data } = usePageQuery(FooterQuery, NONE, !useContentShown());
  const { policyUri, tosUri, imprint } = data?.siteConfig ?? {};
  return (
    <footer class="foot">
      {policyUri && (
        <a href={policyUri} rel="noreferrer">
          {t('footer.privacy')}
        </a>
      )}
      {tosUri && (
        <a href={tosUri} rel="noreferrer">
          {t('footer.terms')}
        </a>
      )}
      {imprint && (
        <p class="imprint" dir="auto">
          {imprint}
        </p>
      )}
    </footer>
  );
}
