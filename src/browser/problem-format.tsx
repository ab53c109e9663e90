import type { ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import { prefersJson } from '#platform/http/accept.ts';
import {
  describeForDevelopers,
  errorHeaders,
  type FailedRequest,
  type RenderError,
} from '#platform/http/error-format.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import { renderPlainJson } from '#platform/http/plain-json.ts';
import { type HttpResponse, noStore } from '#platform/http/response.ts';
import { STATUSES } from '#platform/http/statuses.ts';
import type { Pages } from './pages.ts';
import { ProblemPage, problemTitle, type WayOn } from './problem-page.tsx';
import type { Urls } from './urls.ts';

const NO_QUERY = FormParameters.of({});

/**
 * Errors for people: a page in their language that says what to do next, made without the database. A program that
 * asks for JSON at a page's address gets that.
 */
export function pageFormat(pages: Pages, urls: Urls): RenderError {
  return (error, failed): HttpResponse => {
    if (error.code === 'embedding_refused') return { status: 403, headers: noStore };
    if (prefersJson(failed.headers.accept)) return renderPlainJson(error, failed);
    const { headers, cookies } = failed;
    const translations = pages.language({ headers, cookies, query: NO_QUERY });
    const problem = {
      code: error.code,
      description: APPLICATION_CODES.has(error.code) ? describeForDevelopers(error, failed.requestId) : undefined,
      requestId: failed.requestId,
      wayOn: wayOn(error, failed, urls),
    };
    return pages.answer({
      status: STATUSES[error.code],
      title: problemTitle(translations, error.code),
      translations,
      headers: errorHeaders(error),
      content: <ProblemPage translations={translations} problem={problem} />,
    });
  };
}

const FORM_CODES: ReadonlySet<ErrorCode> = new Set(['cross_site_request', 'csrf_mismatch', 'csrf_missing']);
/** Refusals that only the developer of the client can mend. */
const APPLICATION_CODES: ReadonlySet<ErrorCode> = new Set([
  ...(['invalid_client', 'invalid_redirect_uri', 'invalid_request', 'invalid_scope', 'invalid_target'] as const),
  'unauthorized_client',
]);
const PASSING_CODES: ReadonlySet<ErrorCode> = new Set([
  'internal',
  'overloaded',
  'rate_limited',
  'request_timeout',
  'temporarily_unavailable',
]);

function wayOn({ code, restartPath }: LatchkeyError, failed: FailedRequest, urls: Urls): WayOn {
  if (restartPath !== undefined) return { kind: 'restart', href: restartPath };
  const home: WayOn = { kind: 'home', href: urls.index() };
  if (failed.reopenHref === undefined) return home;
  if (FORM_CODES.has(code)) return { kind: 'form', href: failed.reopenHref };
  return PASSING_CODES.has(code) ? { kind: 'retry', href: failed.reopenHref } : home;
}
