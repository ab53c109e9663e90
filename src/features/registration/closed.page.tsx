import type { VNode } from 'preact';
import { LinkButton } from '#browser/components/buttons.tsx';
import { Heading } from '#browser/components/text.tsx';
import type { Translations } from '#browser/translations.ts';

/** Says that nobody can make an account here. */
export function ClosedPage({ translations, loginPath }: { translations: Translations; loginPath: string }): VNode {
  return (
    <>
      <Heading title={translations.t('register.closed.title')} />
      <p>{translations.t('register.closed.text')}</p>
      <LinkButton kind="primary" href={loginPath}>
        {translations.t('register.closed.sign_in')}
      </LinkButton>
    </>
  );
}
