/** What the configuration makes of a provider's claims, by templates (browser-flows 8.6). */
import type { Log } from '#platform/base/log.ts';
import { type Template, TemplateError } from '#platform/templates/template.ts';
import type { UpstreamAnswer } from './sealed-columns.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

export interface ClaimDeps {
  readonly log: Log;
}

/** What a person who goes to a provider brings along. */
export interface Arrival {
  /** What the application asked with that the person comes from; empty: there is none. */
  readonly params: Readonly<Record<string, string>>;
  /** Somebody signed out in this browser a moment ago. */
  readonly isSignedOut: boolean;
}

/** What a template is for; the name of its setting. */
export type ClaimAttribute = 'subject' | 'localpart' | 'displayname' | 'email' | 'groups' | 'account_name';

const MAX_SUBJECT_BYTES = 255;
const MAX_NAME_CHARACTERS = 255;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused
const PLAIN = /^[^\u0000-\u001f\u007f]+$/;
const UNPRINTABLE = /\p{C}/gu;

/** Who signed in, as the provider tells people apart; undefined when nothing usable comes of the template. */
export function subjectOf(deps: ClaimDeps, provider: UpstreamProvider, answer: UpstreamAnswer): string | undefined {
  const subject = renderClaim(deps, { provider, attribute: 'subject', template: provider.subjectTemplate, answer });
  if (subject === undefined || !PLAIN.test(subject)) return undefined;
  return Buffer.byteLength(subject) <= MAX_SUBJECT_BYTES ? subject : undefined;
}

/** What the person calls the account there, for their eyes only; undefined when it is not known. */
export function accountNameOf(deps: ClaimDeps, provider: UpstreamProvider, answer: UpstreamAnswer): string | undefined {
  const template = provider.accountNameTemplate;
  if (template === undefined) return undefined;
  const name = renderClaim(deps, { provider, attribute: 'account_name', template, answer })?.replace(UNPRINTABLE, '');
  return name === undefined || name === '' ? undefined : [...name].slice(0, MAX_NAME_CHARACTERS).join('');
}

/** Parameters that the operator adds to the request; those without a result are left out. */
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
      // Usual for a parameter that few applications send.
      log.debug('upstream.template_failed', 'a parameter for a sign-in provider has no result', {
        provider: provider.id,
        parameter: name,
        problem: error.message,
      });
      return [];
    }
  });
}

/** The text without the space around it; undefined when the template fails, with a line in the log, or is empty. */
export function renderClaim(
  { log }: ClaimDeps,
  {
    provider,
    attribute,
    template,
    answer,
  }: {
    readonly provider: UpstreamProvider;
    readonly attribute: ClaimAttribute;
    readonly template: Template;
    readonly answer: UpstreamAnswer;
  },
): string | undefined {
  try {
    const text = template.render(claimVariables(answer)).trim();
    return text === '' ? undefined : text;
  } catch (error) {
    if (!(error instanceof TemplateError)) throw error;
    // Its message holds no claim.
    log.info('upstream.template_failed', 'a template has no result for the claims of a sign-in provider', {
      provider: provider.id,
      attribute,
      problem: error.message,
    });
    return undefined;
  }
}

/** In `user`, what the ID token says wins: it is signed. */
function claimVariables({ idTokenClaims, userinfoClaims, extraCallbackParameters }: UpstreamAnswer) {
  return {
    user: { ...userinfoClaims, ...idTokenClaims },
    id_token_claims: idTokenClaims,
    userinfo_claims: userinfoClaims,
    extra_callback_parameters: extraCallbackParameters,
  };
}
