/** Evaluates the configured templates on a provider's claims (browser-flows 8.6). */
import type { Log } from '#platform/base/log.ts';
import { type Template, TemplateError } from '#platform/templates/template.ts';
import type { UpstreamResponse } from './sealed-columns.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface ClaimDeps {
  readonly log: Log;
}

/** Context of a user who is sent to a provider. */
export interface Arrival {
  /** Parameters of the application's authorization request; empty if there is none. */
  readonly params: Readonly<Record<string, string>>;
  /** Whether a user has just signed out in this browser. */
  readonly isSignedOut: boolean;
}

/** What a template is for, named like its setting. */
export type ClaimAttribute = 'subject' | 'localpart' | 'displayname' | 'email' | 'groups' | 'account_name';

const MAX_SUBJECT_BYTES = 255;
const MAX_NAME_CHARACTERS = 255;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const PLAIN = /^[^\u0000-\u001f\u007f]+$/;
const UNPRINTABLE = /\p{C}/gu;

/** Returns the ID of the user at the provider; undefined if the template has no usable result. */
export function subjectOf(deps: ClaimDeps, provider: UpstreamProvider, response: UpstreamResponse): string | undefined {
  const subject = renderClaim(deps, {
    provider,
    attribute: 'subject',
    template: provider.subjectTemplate,
    answer: response,
  });
  if (subject === undefined || !PLAIN.test(subject)) return undefined;
  return Buffer.byteLength(subject) <= MAX_SUBJECT_BYTES ? subject : undefined;
}

/** Returns the name of the account at the provider, shown only to its user; undefined if unknown. */
export function accountNameOf(
  deps: ClaimDeps,
  provider: UpstreamProvider,
  response: UpstreamResponse,
): string | undefined {
  const template = provider.accountNameTemplate;
  if (template === undefined) return undefined;
  const name = renderClaim(deps, { provider, attribute: 'account_name', template, answer: response })?.replace(
    UNPRINTABLE,
    '',
  );
  return name === undefined || name === '' ? undefined : [...name].slice(0, MAX_NAME_CHARACTERS).join('');
}

/** Returns the operator's additional request parameters. Omits those without a result. */
export function additionalParameters(
  { log }: ClaimDeps,
  provider: UpstreamProvider,
  { params, isSignedOut }: Arrival,
): readonly (readonly [name: string, value: string])[] {
  return provider.additionalParameters.flatMap(({ name, template }) => {
    try {
      const value = template.render({ params, logged_out: isSignedOut }).trim();
      return value === '' ? [] : [[name, value] as const];
    } catch (error) {
      if (!(error instanceof TemplateError)) throw error;
      // Normal for a parameter that few applications send.
      log.debug('upstream.template_failed', 'parameter template for a sign-in provider failed', {
        provider: provider.id,
        parameter: name,
        problem: error.message,
      });
      return [];
    }
  });
}

/** Returns the trimmed text; undefined if it is empty or the template fails, which is logged. */
export function renderClaim(
  { log }: ClaimDeps,
  {
    provider,
    attribute,
    template,
    answer: response,
  }: {
    readonly provider: UpstreamProvider;
    readonly attribute: ClaimAttribute;
    readonly template: Template;
    readonly answer: UpstreamResponse;
  },
): string | undefined {
  try {
    const text = template.render(claimVariables(response)).trim();
    return text === '' ? undefined : text;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    // The message contains no claims.
    log.info('upstream.template_failed', 'claim template failed for the claims of a sign-in provider', {
      provider: provider.id,
      attribute,
      problem: error.message,
    });
    return undefined;
  }
}

/** In `user`, ID token claims take precedence because they are signed. */
function claimVariables({ idTokenClaims, userinfoClaims, extraCallbackParameters }: UpstreamResponse) {
  return {
    user: { ...userinfoClaims, ...idTokenClaims },
    id_token_claims: idTokenClaims,
    userinfo_claims: userinfoClaims,
    extra_callback_parameters: extraCallbackParameters,
  };
}
