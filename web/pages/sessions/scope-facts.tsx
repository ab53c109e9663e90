import type { VNode } from 'preact';
import { ScopeList } from '../../../src/browser/components/scope-list.tsx';
import { useTranslations } from '../../i18n/translations.ts';

/** Describes the scopes of a client. */
export function ScopeFacts({ scope }: { scope: string }): VNode {
  const translations = useTranslations();
  return (
    <section class="section">
      <h2>{translations.t('account.session.scopes')}</h2>
      <ScopeList translations={translations} scopes={scope.split(' ').filter((part) => part !== '')} />
    </section>
  );
}
