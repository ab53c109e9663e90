import { type ComponentChildren, createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Language, type MessageKey, type Messages, type Translations } from '../../src/browser/i18n/language.ts';

/** Key of a text in the account area. `scripts/steps/catalogues.js` includes keys with these prefixes in its files. */
export type AreaKey = Extract<
  MessageKey,
  `${'account' | 'field' | 'footer' | 'page' | 'scope' | 'strength' | 'verify_email'}.${string}`
>;

/** Texts of the account area in the user's language. */
export interface AreaTranslations {
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  t(key: AreaKey, values?: Readonly<Record<string, string | number>>): string;
  rich(key: AreaKey, values: Readonly<Record<string, ComponentChildren>>): ComponentChildren;
}

/** Loads the texts at this URL, in the language that the server chose. */
export async function loadTranslations(address: string): Promise<AreaTranslations> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the texts of the account area were answered ${response.status}`);
  const messages: Messages = await response.json();
  return areaTranslations(new Language(document.documentElement.lang, messages, undefined));
}

/** Its methods can be destructured, as components do. */
export function areaTranslations(language: Translations): AreaTranslations {
  return {
    language: language.language,
    direction: language.direction,
    t: (key, values) => language.t(key, values),
    rich: (key, values) => language.rich(key, values),
  };
}

const TranslationsContext = createContext<AreaTranslations | undefined>(undefined);
export const TranslationsProvider = TranslationsContext.Provider;

export function useTranslations(): AreaTranslations {
  const translations = useContext(TranslationsContext);
  if (translations === undefined) throw new Error('no texts around this component');
  return translations;
}
