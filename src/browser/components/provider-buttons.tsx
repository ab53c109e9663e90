import type { VNode } from 'preact';
import type { Translations } from '../i18n/translations.ts';
import { LinkButton } from './buttons.tsx';
import { ProviderMark } from './provider-mark.tsx';
import { ProviderName } from './text.tsx';

/** Another service that people may sign in with. */
export interface ShownProvider {
  /** What people call it. */
  readonly name: string;
  /** Whose mark its button has; undefined: none. */
  readonly brand: string | undefined;
  /** Where signing in with it begins. */
  readonly href: string;
}

/** One button for each provider; nothing without any. */
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
          {brand !== undefined && <ProviderMark brand={brand} />}
          <span>{translations.rich('upstream.with', { provider: <ProviderName name={name} /> })}</span>
        </LinkButton>
      ))}
    </div>
  );
}
