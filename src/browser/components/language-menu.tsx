import type { VNode } from 'preact';
import { languageName } from '#vocabulary/languages.ts';
import type { Translations } from '../i18n/translations.ts';
import { Icon } from './icon.tsx';

export interface LanguageLink {
  readonly language: string;
  /** This page in the language. */
  readonly href: string;
}

/** The languages of the page, each by its own name, behind the current one. It works without scripts. */
export function LanguageMenu({
  translations,
  links,
}: {
  translations: Translations;
  links: readonly LanguageLink[];
}): VNode {
  const current = translations.language;
  return (
    <nav class="languages" aria-label={translations.t('footer.languages')}>
      <details>
        <summary>
          <Icon name="language" />
          <span>{languageName(current)}</span>
        </summary>
        <ul>
          {links.map(({ language, href }) => (
            <li>
              <a
                href={href}
                lang={language}
                hreflang={language}
                aria-current={language === current ? 'true' : undefined}
              >
                {languageName(language)}
              </a>
            </li>
          ))}
        </ul>
      </details>
    </nav>
  );
}
