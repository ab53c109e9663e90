import { writtenPolicyData } from '#config/policy-data.ts';
import type { PolicyData } from '#config/sections/policy.ts';
import type { Log } from '#platform/base/log.ts';
import { inTime } from './in-time.ts';
import { type ModuleViolation, POLICY_ERROR, readViolations } from './module-violations.ts';
import { firstLine, type PolicyModule, type PolicyRule } from './policy-module.ts';
import type { RuleInputs } from './rule-inputs.ts';

export interface ModuleRulesDeps {
  /** Undefined: the built-in rules decide. */
  readonly module: PolicyModule | undefined;
  readonly policy: { readonly data: PolicyData };
  readonly log: Log;
  /** How long a rule may take that answers later; less in tests. */
  readonly deadlineMs?: number;
}

/** Requests wait for the answer. A rule that never returns at all stops the process, like any endless loop in it. */
const DEADLINE_MS = 2_000;

/** The rules of the operator's module, where it has some. */
export class ModuleRules {
  readonly #deps: ModuleRulesDeps;

  constructor(deps: ModuleRulesDeps) {
    this.#deps = deps;
  }

  /** Whether the built-in rule of that name is out of force. */
  replaces(rule: PolicyRule): boolean {
    return this.#deps.module?.[rule] !== undefined;
  }

  /**
   * Every reason against it by the module's rule; empty when there is none, or no such rule. Never throws: what a rule
   * does not answer as it must is a refusal with `policy_error`, and an error in the log.
   */
  async judge<Rule extends PolicyRule>(rule: Rule, input: RuleInputs[Rule]): Promise<readonly ModuleViolation[]> {
    const { module, policy, log, deadlineMs = DEADLINE_MS } = this.#deps;
    const apply = module?.[rule];
    if (apply === undefined) return [];
    try {
      const answer = apply(input, readableData(policy.data));
      const problem = `no answer within ${deadlineMs} ms`;
      const violations = readViolations(isThenable(answer) ? await inTime(answer, deadlineMs, problem) : answer);
      if (rule !== 'clientRegistration' && violations.some(({ redirect }) => redirect !== undefined)) {
        throw new Error('"redirect" belongs to the rule clientRegistration');
      }
      return violations;
    } catch (error) {
      log.error('policy.failed', 'a rule of the policy module failed, so what was asked for is refused', {
        rule,
        reason: firstLine(error),
      });
      return [POLICY_ERROR];
    }
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === 'object' && value !== null && 'then' in value && typeof value.then === 'function';
}

const readable = new WeakMap<PolicyData, object>();

/** The data as a file would have it. Frozen: a rule that changed it would change it for everybody. */
function readableData(data: PolicyData): object {
  const known = readable.get(data) ?? deepFreeze(structuredClone(writtenPolicyData(data)));
  readable.set(data, known);
  return known;
}

function deepFreeze(value: object): object {
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) deepFreeze(member);
  return Object.freeze(value);
}
