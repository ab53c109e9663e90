import type { LanguageRequest, Pages } from '#browser/pages.ts';
import type { Translations } from '#browser/translations.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';

const NO_QUERY = FormParameters.of({});

/**
 * The language of a page about an authorization request. `ui_locales` in the query of `/authorize` is the client's
 * wish for this request, not the reader's for good, so the query is left out.
 * @param locale what the client asked for, of the installed languages
 */
export function readerLanguage(
  pages: Pages,
  context: Pick<LanguageRequest, 'headers' | 'cookies'>,
  locale: string | undefined,
): Translations {
  return pages.language({ headers: context.headers, cookies: context.cookies, query: NO_QUERY }, locale);
}
