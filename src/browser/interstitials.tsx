import type { User } from '#domain/records/user.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import type { HttpResponse } from '#platform/http/response.ts';
import type { PostAuthAction } from '#protocol/post-auth-action.ts';
import type { Csrf } from './csrf.ts';
import { type DeadSessionKind, DeadSessionPage, deadSessionTitle } from './dead-session-page.tsx';
import type { Translations } from './i18n/translations.ts';
import type { Pages } from './pages.ts';
import type { Urls } from './urls.ts';

/** Pages that replace any other while the viewer's session or account is dead (browser-flows 2.5). */
export class Interstitials {
  readonly #pages: Pages;
  readonly #csrf: Csrf;
  readonly #urls: Urls;

  constructor(options: { pages: Pages; csrf: Csrf; urls: Urls }) {
    this.#pages = options.pages;
    this.#csrf = options.csrf;
    this.#urls = options.urls;
  }

  /**
   * Returns 200 with a button that signs out and continues with `action`.
   * @param viewer any dead kind of viewer, or what `/login` found after the correct password
   * @param formActions where the button may eventually lead, see `Page.formActions`
   */
  answer(
    context: RequestContext,
    viewer: { readonly kind: DeadSessionKind; readonly user: User },
    options: {
      readonly action?: PostAuthAction | undefined;
      readonly translations?: Translations;
      readonly formActions?: readonly string[];
    } = {},
  ): HttpResponse {
    const translations = options.translations ?? this.#pages.language(context);
    return this.#pages.answer({
      title: deadSessionTitle(translations, viewer.kind),
      translations,
      formActions: options.formActions ?? [],
      content: (
        <DeadSessionPage
          translations={translations}
          kind={viewer.kind}
          username={viewer.user.username}
          logoutPath={this.#urls.logout()}
          csrf={this.#csrf.field(context)}
          action={options.action}
        />
      ),
    });
  }
}
