import type { VNode } from 'preact';
import type { ErrorCode, LatchkeyError } from '#platform/base/errors.ts';
import { prefersJson } from '#platform/http/accept.ts';
import {
  describeForDevelopers,
  errorHeaders,
  type FailedRequest,
  plainJsonFormat,
  type RenderError,
} from '#platform/http/error-format.ts';
import { FormParameters } from '#platform/http/form-parameters.ts';
import { type HttpResponse, noStore } from '#platform/http/response.ts';
import { ERRORS, type ErrorPageText } from '#vocabulary/errors.ts';
import { LinkButton } from './components/buttons.tsx';
import { Heading } from './components/text.tsx';
import type { MessageKey, Translations } from './i18n/translations.ts';
import type { Pages } from './pages.ts';
import type { Urls } from './urls.ts';

const NO_QUERY = FormParameters.of({});

/**
 * Renders errors for users: a page in their language that says what to do next, without database access. Programs that
 * ask for JSON at a page's URL get JSON.
 */
export function pageFormat(pages: Pages, urls: Urls): RenderError {
  const renderJson = plainJsonFormat(ERRORS);
  return (error, failed): HttpResponse => {
    if (error.code === 'embedding_refused') return { status: 403, headers: noStore };
    if (prefersJson(failed.headers.accept)) return renderJson(error, failed);
    const { headers, cookies } = failed;
    const row = ERRORS[error.code];
    const translations = pages.language({ headers, cookies, query: NO_QUERY });
    const problem = {
      code: error.code,
      description: DESCRIBED.has(row.page) ? describeForDevelopers(error, row, failed.requestId) : undefined,
      requestId: failed.requestId,
      link: linkFor(error, failed, urls),
      address: error.code === 'cross_site_request' ? urls.base : undefined,
      alternativePath: error.code === 'upstream_unavailable' ? error.restartPath : undefined,
    };
    return pages.answer({
      status: row.status,
      title: problemTitle(translations, error.code),
      translations,
      headers: errorHeaders(error),
      content: <ProblemPage translations={translations} problem={problem} />,
    });
  };
}

/**
 * Pages that show the description, because only the operator of the application or the upstream provider can fix the
 * error.
 */
const DESCRIBED: ReadonlySet<ErrorPageText> = new Set(['application', 'upstream_claims']);

/** What may help after an error: reopening the rejected form, or retrying the same page. */
const LINKS: Partial<Record<ErrorPageText, 'form' | 'retry'>> = {
  cross_site: 'form',
  form: 'form',
  homeserver_unavailable: 'retry',
  internal: 'retry',
  rate_limited: 'retry',
  timeout: 'retry',
  unavailable: 'retry',
  upstream_unavailable: 'retry',
};

function linkFor({ code, restartPath }: LatchkeyError, failed: FailedRequest, urls: Urls): ProblemLink {
  if (restartPath !== undefined && code !== 'upstream_unavailable') return { kind: 'restart', href: restartPath };
  const kind = LINKS[ERRORS[code].page];
  if (kind === undefined || failed.reopenHref === undefined) return { kind: 'home', href: urls.index() };
  // The page may have been opened on another host, where the form would be rejected a second time.
  return { kind, href: kind === 'form' ? urls.origin + failed.reopenHref : failed.reopenHref };
}

/** What a page says about an error: not its cause, but what to do (browser-flows 10). */
export interface Problem {
  readonly code: ErrorCode;
  /** `<METHOD>-<counter>`. It identifies the log lines for the operator. */
  readonly requestId: string;
  /**
   * What the application's request got wrong, in plain English for its developer. Undefined if only the user can do
   * something.
   */
  readonly description?: string | undefined;
  /** The next step that the page offers. */
  readonly link: ProblemLink;
  /** The service's URL, for users who came through another one. */
  readonly address?: string | undefined;
  /** Path of another sign-in method. */
  readonly alternativePath?: string | undefined;
}

/**
 * `form`: reopens a rejected form. `retry`: reloads the page. `restart`: starts over what cannot be continued. `home`:
 * the index page.
 */
export interface ProblemLink {
  readonly kind: 'form' | 'retry' | 'restart' | 'home';
  readonly href: string;
}

const LINK_TEXTS: Record<ProblemLink['kind'], MessageKey> = {
  form: 'problem.way.form',
  retry: 'problem.way.retry',
  restart: 'problem.way.restart',
  home: 'problem.way.home',
};

/** Returns the step shown in the document's title. */
export function problemTitle(translations: Translations, code: ErrorCode): string {
  return translations.t(`problem.${ERRORS[code].page}.title`);
}

/** Content of an error page. `detail` replaces the general sentence if a route has a better one. */
export function ProblemPage({
  translations,
  problem,
  detail,
}: {
  translations: Translations;
  problem: Problem;
  detail?: string;
}): VNode {
  const { address, code, description, requestId, link, alternativePath } = problem;
  const isOfApplication = ERRORS[code].page === 'application';
  return (
    <>
      <Heading title={problemTitle(translations, code)} />
      <p>{detail ?? translations.t(`problem.${ERRORS[code].page}.text`)}</p>
      {address !== undefined && <p>{translations.t('problem.cross_site.address', { address })}</p>}
      <LinkButton kind="primary" href={link.href}>
        {translations.t(LINK_TEXTS[link.kind])}
      </LinkButton>
      {alternativePath !== undefined && (
        <LinkButton kind="quiet" href={alternativePath}>
          {translations.t('problem.way.other')}
        </LinkButton>
      )}
      <dl class="report" data-error-code={code}>
        <dt>{translations.t('problem.code')}</dt>
        <dd>
          <code>{code}</code>
        </dd>
        {description !== undefined && (
          <>
            <dt>{translations.t(isOfApplication ? 'problem.description' : 'problem.details')}</dt>
            <dd lang="en" dir="ltr">
              {description}
            </dd>
          </>
        )}
        <dt>{translations.t('problem.request')}</dt>
        <dd>
          <code>{requestId}</code>
        </dd>
      </dl>
    </>
  );
}
