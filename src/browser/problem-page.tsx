import type { VNode } from 'preact';
import type { ErrorCode } from '#platform/base/errors.ts';
import { LinkButton } from './components/buttons.tsx';
import { Heading } from './components/text.tsx';
import type { MessageKey, Translations } from './translations.ts';

/** What a page says about an error: nothing of its cause, but what to do (browser-flows 10). */
export interface Problem {
  readonly code: ErrorCode;
  /** `<METHOD>-<counter>`, by which the operator finds the log lines. */
  readonly requestId: string;
  /** Plain English for who made the application: what its request got wrong. Absent when only a person can do something. */
  readonly description?: string | undefined;
  /** Where the page's link leads. */
  readonly wayOn: WayOn;
}

/**
 * `form`: opens a refused form again. `retry`: the same page once more. `restart`: the beginning of what cannot go on.
 * `home`: the index page.
 */
export interface WayOn {
  readonly kind: 'form' | 'retry' | 'restart' | 'home';
  readonly href: string;
}

interface ProblemText {
  readonly title: MessageKey;
  readonly text: MessageKey;
}

const REFUSED: ProblemText = { title: 'problem.refused.title', text: 'problem.refused.text' };
const CROSS_SITE: ProblemText = { title: 'problem.form.title', text: 'problem.cross_site.text' };
const FORM: ProblemText = { title: 'problem.form.title', text: 'problem.form.text' };
const MALFORMED: ProblemText = { title: 'problem.malformed.title', text: 'problem.malformed.text' };
const APPLICATION: ProblemText = { title: 'problem.application.title', text: 'problem.application.text' };
const TOO_LARGE: ProblemText = { title: 'problem.malformed.title', text: 'problem.too_large.text' };
const UNAVAILABLE: ProblemText = { title: 'problem.unavailable.title', text: 'problem.unavailable.text' };

const TEXTS: Record<ErrorCode, ProblemText> = {
  access_denied: REFUSED,
  already_used: { title: 'problem.already_used.title', text: 'problem.already_used.text' },
  body_too_large: TOO_LARGE,
  cross_site_request: CROSS_SITE,
  csrf_expired: FORM,
  csrf_mismatch: FORM,
  csrf_missing: FORM,
  embedding_refused: REFUSED,
  expired: { title: 'problem.expired.title', text: 'problem.expired.text' },
  headers_too_large: TOO_LARGE,
  insufficient_scope: REFUSED,
  internal: { title: 'problem.internal.title', text: 'problem.internal.text' },
  invalid_client: APPLICATION,
  invalid_grant: APPLICATION,
  invalid_redirect_uri: APPLICATION,
  invalid_request: APPLICATION,
  invalid_scope: APPLICATION,
  invalid_target: APPLICATION,
  invalid_token: REFUSED,
  malformed_request: MALFORMED,
  method_not_allowed: { title: 'problem.method.title', text: 'problem.method.text' },
  not_found: { title: 'problem.not_found.title', text: 'problem.not_found.text' },
  overloaded: UNAVAILABLE,
  registration_closed: { title: 'problem.registration_closed.title', text: 'problem.registration_closed.text' },
  registration_expired: { title: 'problem.registration_expired.title', text: 'problem.registration_expired.text' },
  registration_not_found: {
    title: 'problem.registration_not_found.title',
    text: 'problem.registration_not_found.text',
  },
  rate_limited: { title: 'problem.rate_limited.title', text: 'problem.rate_limited.text' },
  request_line_too_long: TOO_LARGE,
  request_timeout: { title: 'problem.timeout.title', text: 'problem.timeout.text' },
  temporarily_unavailable: UNAVAILABLE,
  unauthorized_client: APPLICATION,
  unsupported_grant_type: APPLICATION,
  unsupported_media_type: MALFORMED,
  unsupported_token_type: APPLICATION,
};

const WAYS_ON: Record<WayOn['kind'], MessageKey> = {
  form: 'problem.way.form',
  retry: 'problem.way.retry',
  restart: 'problem.way.restart',
  home: 'problem.way.home',
};

/** The step named in the document's title. */
export function problemTitle(translations: Translations, code: ErrorCode): string {
  return translations.t(TEXTS[code].title);
}

/** Content of an error page. `detail` takes the place of the general sentence where a route knows a better one. */
export function ProblemPage({
  translations,
  problem,
  detail,
}: {
  translations: Translations;
  problem: Problem;
  detail?: string;
}): VNode {
  const { code, description, requestId, wayOn } = problem;
  return (
    <>
      <Heading title={problemTitle(translations, code)} />
      <p>{detail ?? translations.t(TEXTS[code].text)}</p>
      <LinkButton kind="primary" href={wayOn.href}>
        {translations.t(WAYS_ON[wayOn.kind])}
      </LinkButton>
      <dl class="report" data-error-code={code}>
        <dt>{translations.t('problem.code')}</dt>
        <dd>
          <code>{code}</code>
        </dd>
        {description !== undefined && (
          <>
            <dt>{translations.t('problem.description')}</dt>
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
