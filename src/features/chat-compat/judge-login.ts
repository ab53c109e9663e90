import type { ModuleRules } from '#domain/policy/module/module-rules.ts';
import { type RuleInputs, requesterInput } from '#domain/policy/module/rule-inputs.ts';
import { type BanDeps, findBan } from '#domain/policy/requester-policy.ts';
import type { Violation } from '#domain/policy/violations.ts';
import type { RequestContext } from '#platform/http/request-context.ts';

interface JudgeDeps extends Pick<BanDeps, 'policy'> {
  readonly moduleRules: Pick<ModuleRules, 'judge' | 'replaces'>;
}

/** Returns the violations of the rule `compatLogin`: the requester's ban, or else the results of the policy module. */
export async function judgeCompatLogin(
  deps: JudgeDeps,
  login: Pick<RuleInputs['compatLogin'], 'login_type' | 'user'>,
  { clientAddress, userAgent }: RequestContext,
): Promise<readonly Violation[]> {
  const setting = findBan(deps, 'compatLogin', clientAddress, userAgent);
  if (setting !== undefined) return [{ code: 'requester-banned', setting }];
  const { login_type, user } = login;
  const found = await deps.moduleRules.judge('compatLogin', {
    user: { id: user.id, username: user.username },
    login_type,
    requester: requesterInput(clientAddress, userAgent),
  });
  return found.map((violation) => ({ code: 'policy-module', violation }));
}
