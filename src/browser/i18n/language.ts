import { IntlMessageFormat } from 'intl-messageformat';
import type { ComponentChildren } from 'preact';
import type en from '../../../locales/en.json';

/** Key of a message. `locales/en.json` lists them all. */
export type MessageKey = keyof typeof en;
export type Messages = Readonly<Partial<Record<MessageKey, string>>>;

/** The messages of one language. Missing messages fall back to English. */
export interface Translations {
  /** BCP 47 tag, used in `html lang` and `Content-Language`. */
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  /** Formats the ICU message with its placeholders filled in. The result is plain text: JSX escapes it. */
  t(key: MessageKey, values?: Readonly<Record<string, string | number>>): string;
  /** Like `t`, with elements as values, for names that stand out within a sentence. */
  rich(key: MessageKey, values: Readonly<Record<string, ComponentChildren>>): ComponentChildren;
}

/** The messages of one file: for pages on the server, or for the account area in the browser. */
export class Language implements Translations {
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  readonly #messages: Messages;
  readonly #fallback: Language | undefined;
  readonly #parsed = new Map<MessageKey, IntlMessageFormat>();

  constructor(language: string, messages: Messages, fallback: Language | undefined) {
    this.language = language;
    this.direction = directionOf(language);
    this.#messages = messages;
    this.#fallback = fallback;
  }

  t(key: MessageKey, values?: Readonly<Record<string, string | number>>): string {
    return this.#format(key)
      .formatToParts(values)
      .map((part) => String(part.value))
      .join('');
  }

  rich(key: MessageKey, values: Readonly<Record<string, ComponentChildren>>): ComponentChildren {
    return this.#format(key)
      .formatToParts<ComponentChildren>({ ...values })
      .map((part): ComponentChildren => part.value);
  }

  /** Returns unformatted messages, as written in the files. */
  messagesOf(keys: readonly string[]): Messages {
    const inherited = Object.entries(this.#fallback?.messagesOf(keys) ?? {});
    const own = Object.entries(this.#messages).filter(([key]) => keys.includes(key));
    return Object.fromEntries([...inherited.map(([key, text]) => [key, this.#borrowed(text)]), ...own]);
  }

  /** Parsed on first use: most processes never need most messages in most languages. */
  #format(key: MessageKey): IntlMessageFormat {
    const known = this.#parsed.get(key);
    if (known !== undefined) return known;
    const { text, language } = this.#find(key) ?? { text: key, language: this.language };
    const parsed = new IntlMessageFormat(text, language, undefined, { ignoreTag: true });
    this.#parsed.set(key, parsed);
    return parsed;
  }

  /** Returns the unformatted message and its language. */
  #find(key: MessageKey): { readonly text: string; readonly language: string } | undefined {
    const text = this.#messages[key];
    if (text !== undefined) return { text, language: this.language };
    if (this.#fallback === undefined) return undefined;
    const found = this.#fallback.#find(key);
    return found && { ...found, text: this.#borrowed(found.text) };
  }

  /**
   * Isolates a fallback text whose writing direction differs. Otherwise its full stop would appear on the wrong side.
   */
  #borrowed(text: string): string {
    if (this.#fallback === undefined || this.#fallback.direction === this.direction) return text;
    return `${this.#fallback.direction === 'ltr' ? LEFT_TO_RIGHT_ISOLATE : RIGHT_TO_LEFT_ISOLATE}${text}${END_OF_ISOLATE}`;
  }
}

const LEFT_TO_RIGHT_ISOLATE = '\u2066';
const RIGHT_TO_LEFT_ISOLATE = '\u2067';
const END_OF_ISOLATE = '\u2069';

const RIGHT_TO_LEFT_SCRIPTS = new Set(['Adlm', 'Arab', 'Hebr', 'Nkoo', 'Rohg', 'Syrc', 'Thaa']);

function directionOf(language: string): 'ltr' | 'rtl' {
  const script = new Intl.Locale(language).maximize().script;
  return script !== undefined && RIGHT_TO_LEFT_SCRIPTS.has(script) ? 'rtl' : 'ltr';
}
