import { IntlMessageFormat } from 'intl-messageformat';
import type { ComponentChildren } from 'preact';
import type en from '../../../locales/en.json';

/** A text of the pages; `locales/en.json` is the list of them. */
export type MessageKey = keyof typeof en;
export type Messages = Readonly<Partial<Record<MessageKey, string>>>;

/** The texts of one language. A text missing there is taken from English. */
export interface Translations {
  /** BCP 47 tag, what `html lang` and `Content-Language` say. */
  readonly language: string;
  readonly direction: 'ltr' | 'rtl';
  /** The text in ICU message format, its placeholders filled in. The result is plain text: JSX escapes it. */
  t(key: MessageKey, values?: Readonly<Record<string, string | number>>): string;
  /** The same with elements as values, for a name that stands out within a sentence. */
  rich(key: MessageKey, values: Readonly<Record<string, ComponentChildren>>): ComponentChildren;
}

/** The texts of one message file: of the pages on the server, or of the account area in the browser. */
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

  /** Texts as they are written in the files. */
  messagesOf(keys: readonly string[]): Messages {
    const inherited = Object.entries(this.#fallback?.messagesOf(keys) ?? {});
    const own = Object.entries(this.#messages).filter(([key]) => keys.includes(key));
    return Object.fromEntries([...inherited.map(([key, text]) => [key, this.#borrowed(text)]), ...own]);
  }

  /** Parsed at first use: most processes never show most texts in most languages. */
  #format(key: MessageKey): IntlMessageFormat {
    const known = this.#parsed.get(key);
    if (known !== undefined) return known;
    const { text, language } = this.#find(key) ?? { text: key, language: this.language };
    const parsed = new IntlMessageFormat(text, language, undefined, { ignoreTag: true });
    this.#parsed.set(key, parsed);
    return parsed;
  }

  /** The text as it is written, and the language that it is in. */
  #find(key: MessageKey): { readonly text: string; readonly language: string } | undefined {
    const text = this.#messages[key];
    if (text !== undefined) return { text, language: this.language };
    if (this.#fallback === undefined) return undefined;
    const found = this.#fallback.#find(key);
    return found && { ...found, text: this.#borrowed(found.text) };
  }

  /** A text of the other language, kept apart from text of the other direction: its full stop would change sides. */
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
