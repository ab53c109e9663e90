/** Which email addresses users may register (browser-flows 5.6): the operator's policy. */
import { RE2JS } from 're2js';
import type { Config } from '#config/config.ts';
import type { PolicyData, TextMatcher } from '#config/sections/policy.ts';
import type { ModuleRules } from '#domain/policy/module/module-rules.ts';
import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import { isEmpty, matches } from '#domain/policy/text-matcher.ts';
import { isInternationalized, lacksSmtpUtf8 } from '#platform/mail/smtp-utf8.ts';
import { type EmailAddress, parseEmailAddress } from '../email-address.ts';

/** Why an address is rejected. All but `invalid` and `email-unreachable` are policy codes. */
export type EmailProblem =
  | 'invalid'
  | 'email-domain-not-allowed'
  | 'email-domain-banned'
  | 'email-not-allowed'
  | 'email-banned'
  | 'email-unreachable'
  | ModuleViolation;

export interface EmailPolicy {
  /** Domain patterns in which `*` matches any characters but a dot. Empty: every domain. */
  readonly allowedDomains: readonly string[];
  readonly bannedDomains: readonly string[];
  /** Empty: every address. */
  readonly allowedAddresses: TextMatcher;
  readonly bannedAddresses: TextMatcher;
  /** Domains without a dot that are also accepted. */
  readonly allowSingleLabelDomains: readonly string[];
  /** Whether the SMTP server is known to reject addresses with non-ASCII characters before the @. */
  readonly lacksSmtpUtf8: boolean;
  readonly moduleRules: Pick<ModuleRules, 'judge' | 'replaces'>;
}

/** Returns the policy with getters, because the policy data can change while the service runs. */
export function emailPolicyOf({ config, policy, moduleRules }: EmailPolicyDeps): EmailPolicy {
  return {
    get allowedDomains() {
      return policy.data.emails.allowedDomains;
    },
    get bannedDomains() {
      return policy.data.emails.bannedDomains;
    },
    get allowedAddresses() {
      return policy.data.emails.allowedAddresses;
    },
    get bannedAddresses() {
      return policy.data.emails.bannedAddresses;
    },
    allowSingleLabelDomains: config.email.allowSingleLabelDomains,
    get lacksSmtpUtf8() {
      return lacksSmtpUtf8(config.email.transport);
    },
    moduleRules,
  };
}

interface EmailPolicyDeps {
  readonly config: Pick<Config, 'email'>;
  readonly policy: { readonly data: Pick<PolicyData, 'emails'> };
  readonly moduleRules: EmailPolicy['moduleRules'];
}

export type JudgedEmail =
  | { readonly ok: true; readonly email: EmailAddress }
  | { readonly ok: false; readonly problems: readonly EmailProblem[] };

/** Parses an address that a user typed and returns every rule that it violates. */
export async function checkEmailPolicy(text: string, policy: EmailPolicy): Promise<JudgedEmail> {
  const checked = checkEmail(text, policy);
  if (!checked.ok) return checked;
  if (isUnreachable(checked.email, policy)) return { ok: false, problems: ['email-unreachable'] };
  const problems = await policy.moduleRules.judge('email', { email: checked.email.address });
  return problems.length === 0 ? checked : { ok: false, problems };
}

/** Returns whether mail cannot be delivered to the address, so that it cannot be proven. */
export function isUnreachable({ address }: EmailAddress, policy: Pick<EmailPolicy, 'lacksSmtpUtf8'>): boolean {
  return isInternationalized(address) && policy.lacksSmtpUtf8;
}

/** Like `checkEmailPolicy`, but skips the operator's policy module and the check whether mail can be delivered. */
export function checkEmail(text: string, policy: EmailPolicy): JudgedEmail {
  const email = parseEmailAddress(text, policy.allowSingleLabelDomains);
  if (email === undefined) return { ok: false, problems: ['invalid'] };
  const problems = policy.moduleRules.replaces('email') ? [] : brokenRules(email.key, policy);
  return problems.length === 0 ? { ok: true, email } : { ok: false, problems };
}

function brokenRules(key: string, policy: EmailPolicy): EmailProblem[] {
  const { allowedDomains, bannedDomains, allowedAddresses, bannedAddresses } = policy;
  const domain = key.slice(key.lastIndexOf('@') + 1);
  const problems: EmailProblem[] = [];
  if (allowedDomains.length > 0 && !fitsDomain(allowedDomains, domain)) problems.push('email-domain-not-allowed');
  if (fitsDomain(bannedDomains, domain)) problems.push('email-domain-banned');
  if (!isEmpty(allowedAddresses) && !matches(allowedAddresses, key)) problems.push('email-not-allowed');
  if (matches(bannedAddresses, key)) problems.push('email-banned');
  return problems;
}

const compiled = new WeakMap<readonly string[], readonly RE2JS[]>();

function fitsDomain(patterns: readonly string[], domain: string): boolean {
  const known = compiled.get(patterns) ?? patterns.map((pattern) => RE2JS.compile(expressionOf(pattern)));
  compiled.set(patterns, known);
  return known.some((expression) => expression.matches(domain));
}

/** Patterns contain only letters, digits, hyphens, dots and asterisks. */
function expressionOf(pattern: string): string {
  return pattern.replaceAll('.', '\\.').replaceAll('*', '[^.]*');
}
