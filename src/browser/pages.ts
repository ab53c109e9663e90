import type { VNode } from 'preact';
import type { Cookie } from '#platform/http/cookies.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { CaptchaWidget } from './captcha.ts';
import { matchLanguages, negotiateLanguage, ownLanguage } from './i18n/negotiate-language.ts';
import type { TranslationCatalog, Translations } from './i18n/translations.ts';
import { type LanguageLink, renderPage, type Site } from './layout.tsx';
import { contentSecurityPolicy } from './page-headers.ts';

/** The language that somebody chose. */
const LANGUAGE_COOKIE: Cookie = { name: 'lang', maxAgeSeconds: 400 * 86_400 };

/** What the choice of a language is made from. */
export type LanguageRequest = Pick<RequestContext, 'headers' | 'cookies' | 'query'>;

export interface Page {
  /** 200 unless given. */
  readonly status?: number;
  /** The step, first part of the document's title. */
  readonly title: string;
  readonly translations: Translations;
  readonly width?: 'form' | 'decision' | 'broad';
  /** The form was rejected, which the document's title says. */
  readonly isRejected?: boolean;
  /** A password is chosen here: its strength is shown. */
  readonly hasNewPassword?: boolean;
  /** A passkey can be used here: see `PasskeyForm`. */
  readonly hasPasskey?: boolean;
  /** The puzzle of its form. */
  readonly captcha?: CaptchaWidget | undefined;
  /** Addresses to which a successful submit may redirect; browsers hold `form-action` against redirects as well. */
  readonly formActions?: readonly string[];
  /** Where a form of the page posts to, when that is not an address of this service. */
  readonly formTarget?: string;
  /** Of pages that read `ui_locales`; see `Pages.languageLinks`. */
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

/** Turns the content of a page into a complete answer: language, frame and the headers of browser-flows 2.3. */
export class Pages {
  readonly #site: Site;
  readonly #catalog: TranslationCatalog;
  readonly #defaultLanguage: string;
  readonly #formActions: readonly string[];

  /** @param options.formActions addresses to which a form of any page may lead, as `Page.formActions` */
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
   * The reader's language (browser-flows 12.3). One asked for by the page's own `ui_locales` is remembered in the
   * `lang` cookie.
   * @param preferred `ui_locales` of the pending authorization grant
   */
  language(context: LanguageRequest, preferred?: string): Translations {
    const asked = matchLanguages(context.query.get('ui_locales'), this.#catalog.languages);
    if (asked !== undefined && context.cookies.open(LANGUAGE_COOKIE) !== asked)
      context.cookies.set(LANGUAGE_COOKIE, asked);
    const language = negotiateLanguage(
      { uiLocales: preferred, query: asked, ...ownSources(context), defaultLanguage: this.#defaultLanguage },
      this.#catalog.languages,
    );
    return this.#catalog.in(language);
  }

  /** The installed language that the reader's browser names by itself: neither an application's wish nor our default. */
  ownLanguage(context: Pick<LanguageRequest, 'cookies' | 'headers'>): string | undefined {
    return ownLanguage(ownSources(context), this.#catalog.languages);
  }

  /** This page in every language, for the footer. @param hrefOf the page's address with `ui_locales` of a language */
  languageLinks(hrefOf: (language: string) => string): LanguageLink[] {
    return this.#catalog.languages.map((language) => ({ language, href: hrefOf(language) }));
  }

  answer(page: Page): HttpResponse {
    const { title, translations, width, isRejected, hasNewPassword, hasPasskey, captcha, languageLinks } = page;
    const frame = {
      site: this.#site,
      title,
      translations,
      width,
      isRejected,
      hasNewPassword,
      hasPasskey,
      captcha,
      languageLinks,
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

/** Headers of every page, whatever it shows; the server adds those that all answers of a page's address carry. */
export const PAGE_HEADERS = {
  'cross-origin-resource-policy': 'same-origin',
  'cache-control': 'no-store',
  vary: 'Accept-Language, Cookie',
} as const;
