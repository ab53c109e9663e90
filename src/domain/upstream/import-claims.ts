import { parseDisplayName } from '#domain/accounts/account-names.ts';
import { type EmailAddress, parseEmailAddress, parseStoredEmailAddress } from '#domain/accounts/email-address.ts';
import {
  checkEmail,
  type EmailPolicy,
  type EmailProblem,
  isUnreachable,
} from '#domain/accounts/email-authentications/email-policy.ts';
import type { Template } from '#platform/templates/template.ts';
import { type ClaimAttribute, type ClaimDeps, renderClaim } from './claim-templates.ts';
import type { UpstreamResponse } from './sealed-columns.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

/** A value from a provider for a new user. */
export interface Imported<Value> {
  readonly value: Value;
  /** The user can neither change nor reject it. */
  readonly isFixed: boolean;
}

export interface ImportedClaims {
  /** As the provider sends it. Its availability is not checked yet. */
  readonly localpart: Imported<string> | undefined;
  readonly displayName: Imported<string> | undefined;
  readonly email: Imported<ImportedEmail> | undefined;
}

export interface ImportedEmail {
  readonly email: EmailAddress;
  /** The provider confirms the address. */
  readonly isProven: boolean;
  /** Violated rules. Callers that need the operator's policy module call it themselves. */
  readonly problems: readonly EmailProblem[];
}

export interface ImportDeps extends ClaimDeps {
  readonly emailPolicy: EmailPolicy;
  /** Whether codes can be sent by email. */
  readonly sendsMail: boolean;
}

export type ClaimsOutcome =
  | { readonly ok: true; readonly claims: ImportedClaims }
  /** A claim required for registration. */
  | { readonly ok: false; readonly missing: ClaimAttribute };

const MAX_DISPLAY_NAME_CHARACTERS = 255;

interface Source {
  readonly provider: UpstreamProvider;
  readonly answer: UpstreamResponse;
}

/**
 * Reads the attributes of a new account from claims (browser-flows 8.6). Results of templates are validated like user
 * input (security S-112): an unusable value counts as missing.
 */
export function importClaims(deps: ImportDeps, provider: UpstreamProvider, response: UpstreamResponse): ClaimsOutcome {
  const { localpart, displayName, email } = provider.claimsImports;
  const source = { provider, answer: response };
  const importedName = importOne(deps, source, 'localpart', localpart, (text) => text);
  if (importedName === 'missing') return { ok: false, missing: 'localpart' };
  const importedDisplayName = importOne(deps, source, 'displayname', displayName, cutDisplayName);
  if (importedDisplayName === 'missing') return { ok: false, missing: 'displayname' };
  const importedEmail = importOne(deps, source, 'email', email, (text) => readEmail(deps, source, text));
  if (importedEmail === 'missing') return { ok: false, missing: 'email' };
  const claims = { localpart: importedName, displayName: importedDisplayName, email: importedEmail };
  return { ok: true, claims };
}

/** @param parse returns undefined for unusable text */
function importOne<Value>(
  deps: ClaimDeps,
  source: Source,
  attribute: ClaimAttribute,
  { action, template }: { readonly action: 'ignore' | 'suggest' | 'force' | 'require'; readonly template: Template },
  parse: (text: string) => Value | undefined,
): Imported<Value> | 'missing' | undefined {
  if (action === 'ignore') return undefined;
  const text = renderClaim(deps, { ...source, attribute, template });
  const value = text === undefined ? undefined : parse(text);
  if (value === undefined) return action === 'require' ? 'missing' : undefined;
  return { value, isFixed: action !== 'suggest' };
}

function cutDisplayName(text: string): string | undefined {
  return parseDisplayName([...text].slice(0, MAX_DISPLAY_NAME_CHARACTERS).join(''));
}

/** An address that would need a confirmation email counts as missing if no email can be sent to it. */
function readEmail(
  { emailPolicy, sendsMail }: ImportDeps,
  { provider, answer: response }: Source,
  text: string,
): ImportedEmail | undefined {
  const email = parseEmailAddress(text, emailPolicy.allowSingleLabelDomains);
  if (email === undefined) return undefined;
  const isVerified = isEmailVerified(provider, response, email);
  if (!isVerified && (!sendsMail || isUnreachable(email, emailPolicy))) return undefined;
  const judged = checkEmail(text, emailPolicy);
  return { email, isProven: isVerified, problems: judged.ok ? [] : judged.problems };
}

/** Returns whether the provider confirms the address, whatever claims the template uses. */
function isEmailVerified(provider: UpstreamProvider, response: UpstreamResponse, { key }: EmailAddress): boolean {
  const { setEmailVerification } = provider.claimsImports.email;
  return setEmailVerification === 'import' ? confirmedEmailKey(response) === key : setEmailVerification === 'always';
}

/**
 * Returns the normalized address that the provider has verified. `email_verified` applies to `email` in the same
 * document.
 */
export function confirmedEmailKey({ idTokenClaims, userinfoClaims }: UpstreamResponse): string | undefined {
  const { email, email_verified: isVerified } = idTokenClaims['email'] === undefined ? userinfoClaims : idTokenClaims;
  // Apple sends a string.
  const isConfirmed = isVerified === true || isVerified === 'true';
  return typeof email === 'string' && isConfirmed ? parseStoredEmailAddress(email)?.key : undefined;
}
