import type { VNode } from 'preact';
import type { Cookie } from '#platform/http/cookies.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { CaptchaWidget } from './captcha.ts';
import type { LanguageLink } from './components/language-menu.tsx';
import { matchLanguages, negotiateLanguage, ownLanguage } from './i18n/negotiate-language.ts';
import type { TranslationCatalog, Translations } from './i18n/translations.ts';
import { type PageFrame, renderPage, type Site } from './layout.tsx';
import { contentSecurityPolicy } from './page-headers.ts';

/** The language that the user chose. */
const LANGUAGE_COOKIE: Cookie = { name: 'lang', maxAgeSeconds: 400 * 86_400 };

/** The parts of a request that determine the language. */
export type LanguageRequest = Pick<RequestContext, 'headers' | 'cookies' | 'query'>;

export interface Page {
  /** Defaults to 200. */
  readonly status?: number;
  /** The step, first part of the document's title. */
  readonly title: string;
  readonly translations: Translations;
  readonly width?: PageFrame['width'];
  readonly client?: PageFrame['client'];
  /** The form was rejected, which the document's title says. */
  readonly isRejected?: boolean;
  /** The page has a new password, whose strength is shown. */
  readonly hasNewPassword?: boolean;
  /** The page accepts a passkey, see `PasskeyForm`. */
  readonly hasPasskey?: boolean;
  /** The page creates a passkey. */
  readonly hasNewPasskey?: boolean;
  /** The CAPTCHA of its form. */
  readonly captcha?: CaptchaWidget | undefined;
  /** URLs that an accepted form may redirect to. Browsers check `form-action` for redirects too. */
  readonly formActions?: readonly string[];
  /** Target of a form that does not post to this service. */
  readonly formTarget?: string;
  /** For pages that read `ui_locales`, see `Pages.languageLinks`. */
  readonly languageLinks?: readonly LanguageLink[];
  readonly headers?: HttpResponse['headers'];
  readonly content: VNode;
}

function ownSources({ cookies, headers }: Pick<LanguageRequest, 'cookies' | 'headers'>) {
  const cookie = cookies.open(LANGUAGE_COOKIE);
  return {
    cookie: typeof cookie === 'string' ? cookie : undefined,
    acceptLanguage: headers['accept-language'],
  };
}

/** Turns the content of a page into a complete response: language, frame and the headers of browser-flows 2.3. */
export class Pages {
  readonly #site: Site;
  readonly #catalog: TranslationCatalog;
  readonly #defaultLanguage: string;
  readonly #formActions: readonly string[];

  /** @param options.formActions URLs that a form of any page may lead to, like `Page.formActions` */
  constructor(options: {
    site: Site;
    catalog: TranslationCatalog;
    defaultLanguage: string;
    formActions?: readonly string[];
  }) {
    this.#site = options.site;
    this.#catalog = options.catalog;
    this.#defaultLanguage = options.defaultLanguage;
    this.#formActions = options.formActions ?? [];
  }

  /**
   * Returns the user's language (browser-flows 12.3). A language in the page's own `ui_locales` is remembered in the
   * `lang` cookie.
   * @param preferred `ui_locales` of the pending authorization grant
   */
  language(context: LanguageRequest, preferred?: string): Translations {
    const requested = matchLanguages(context.query.get('ui_locales'), this.#catalog.languages);
    if (requested !== undefined && context.cookies.open(LANGUAGE_COOKIE) !== requested)
      context.cookies.set(LANGUAGE_COOKIE, requested);
    const language = negotiateLanguage(
      { uiLocales: preferred, query: requested, ...ownSources(context), defaultLanguage: this.#defaultLanguage },
      this.#catalog.languages,
    );
    return this.#catalog.in(language);
  }

  /** Returns the installed language that the user's browser asks for, ignoring a client's wish and the default. */
  ownLanguage(context: Pick<LanguageRequest, 'cookies' | 'headers'>): string | undefined {
    return ownLanguage(ownSources(context), this.#catalog.languages);
  }

  /**
   * Returns links to this page in every language, for the footer. @param hrefOf returns the page's URL with
   * `ui_locales`
   */
  languageLinks(hrefOf: (language: string) => string): LanguageLink[] {
    return this.#catalog.languages.map((language) => ({ language, href: hrefOf(language) }));
  }

  answer(page: Page): HttpResponse {
    const { title, translations, captcha, languageLinks } = page;
    const { width, client, isRejected, hasNewPassword, hasPasskey, hasNewPasskey } = page;
    const frame = {
      ...{ site: this.#site, title, translations, width, client, isRejected, captcha, languageLinks },
      ...{ hasNewPassword, hasPasskey, hasNewPasskey },
    };
    return {
      status: page.status ?? 200,
      headers: {
        'content-type': 'text/html; charset=utf-8',
        'content-language': translations.language,
        'content-security-policy': contentSecurityPolicy(
          { redirects: [...this.#formActions, ...(page.formActions ?? [])], post: page.formTarget },
          captcha?.sources,
        ),
        ...PAGE_HEADERS,
        ...page.headers,
      },
      body: renderPage(frame, page.content),
    };
  }
}

/** Headers of every page, regardless of its content. The server adds those common to all responses at a page's URL. */
export const PAGE_HEADERS = {
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  vary: 'Accept-Language, Cookie',
} as const;
