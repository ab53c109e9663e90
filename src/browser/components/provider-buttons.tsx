import type { VNode } from 'preact';
import type { Translations } from '../i18n/translations.ts';
import { LinkButton } from './buttons.tsx';
import { ProviderMark } from './provider-mark.tsx';
import { ProviderName } from './text.tsx';

/** An upstream provider that users can sign in with. */
export interface ShownProvider {
  /** Its name for users. */
  readonly name: string;
  /** Brand whose initial the button shows; undefined: the initial of the name. */
  readonly brand: string | undefined;
  /** Where sign-in with it starts. */
  readonly href: string;
}

/** One button per provider. Empty without providers. */
export function ProviderButtons({
  translations,
  providers,
}: {
  translations: Translations;
  providers: readonly ShownProvider[];
}): VNode | null {
  if (providers.length === 0) return null;
  return (
    <div class="providers">
      {providers.map(({ name, brand, href }) => (
        <LinkButton href={href}>
          <ProviderMark brand={brand ?? name} />
          <span>{translations.rich('upstream.with', { provider: <ProviderName name={name} /> })}</span>
        </LinkButton>
      ))}
    </div>
  );
}
