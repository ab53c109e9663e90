import { createContext } from 'preact';
import { useContext } from 'preact/hooks';
import { Language, type MessageKey, type Messages } from '../../../src/browser/i18n/language.ts';

/** Key of a text in the admin area. `scripts/steps/catalogues.js` includes keys with these prefixes in its files. */
export type AdminKey = Extract<MessageKey, `${'admin' | 'field' | 'page'}.${string}`>;

/** Texts of the admin area in the user's language. */
export interface Texts {
  readonly language: string;
  t(key: AdminKey, values?: Readonly<Record<string, string | number>>): string;
}

/** Loads the texts at this URL, in the language that the server chose. */
export async function loadLanguage(address: string): Promise<Language> {
  const response = await fetch(address);
  if (!response.ok) throw new Error(`the texts of the admin area were answered ${response.status}`);
  const messages: Messages = await response.json();
  return new Language(document.documentElement.lang, messages, undefined);
}

/** Its method can be destructured, as components do. */
export function textsOf(language: Language): Texts {
  return { language: language.language, t: (key, values) => language.t(key, values) };
}

const TextsContext = createContext<Texts | undefined>(undefined);
export const TextsProvider = TextsContext.Provider;

export function useTexts(): Texts {
  const texts = useContext(TextsContext);
  if (texts === undefined) throw new Error('no texts around this component');
  return texts;
}
