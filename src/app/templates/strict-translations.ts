import type { ComponentChildren } from 'preact';
import type { MessageKey, Translations } from '#browser/i18n/translations.ts';

/** Translations that throw for an unknown key instead of returning the key. */
export class StrictTranslations implements Translations {
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  readonly #translations: Translations;
  readonly #known: ReadonlySet<string>;

  /** @param known keys of the existing texts */
  constructor(translations: Translations, known: ReadonlySet<string>) {
    this.language = translations.language;
    this.direction = translations.direction;
    this.#translations = translations;
    this.#known = known;
  }

  t(key: MessageKey, values?: Readonly<Record<string, string | number>>): string {
    return this.#translations.t(this.#checked(key), values);
  }

  rich(key: MessageKey, values: Readonly<Record<string, ComponentChildren>>): ComponentChildren {
    return this.#translations.rich(this.#checked(key), values);
  }

  #checked(key: MessageKey): MessageKey {
    if (!this.#known.has(key)) throw new Error(`unknown text "${key}"`);
    return key;
  }
}
