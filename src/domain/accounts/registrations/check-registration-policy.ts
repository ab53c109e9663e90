/** Asks the rule `register` of the operator's policy module about a new account. */
import type { ModuleRules } from '#domain/policy/module/module-rules.ts';
import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import { requesterInput } from '#domain/policy/module/rule-inputs.ts';
import { moduleSetting } from '#domain/policy/violations.ts';
import type { Log } from '#platform/base/log.ts';

interface JudgeDeps {
  readonly moduleRules: Pick<ModuleRules, 'judge'>;
  readonly log: Log;
}

export interface JudgedRegistration {
  readonly username: string;
  readonly email: string | undefined;
  readonly method: 'password' | 'upstream-oauth2';
  readonly address: string | undefined;
  readonly userAgent: string | undefined;
}

export async function checkRegistrationPolicy(
  { moduleRules, log }: JudgeDeps,
  { username, email, method, address, userAgent }: JudgedRegistration,
): Promise<readonly ModuleViolation[]> {
  const found = await moduleRules.judge('register', {
    ...{ registration_method: method, username, email: email ?? null },
    requester: requesterInput(address, userAgent),
  });
  const setting = moduleSetting(found);
  if (setting !== undefined) log.info('auth.refused', 'registration refused by policy', { code: 'policy', setting });
  return found;
}
