import { writtenPolicyData } from '#config/policy-data.ts';
import type { PolicyData } from '#config/sections/policy.ts';
import type { Log } from '#platform/base/log.ts';
import { inTime } from './in-time.ts';
import { type ModuleViolation, POLICY_ERROR, readViolations } from './module-violations.ts';
import { firstLine, type PolicyModule, type PolicyRule } from './policy-module.ts';
import type { RuleInputs } from './rule-inputs.ts';

export interface ModuleRulesDeps {
  /** Undefined to use the built-in rules. */
  readonly module: PolicyModule | undefined;
  readonly policy: { readonly data: PolicyData };
  readonly log: Log;
  /** Time limit for asynchronous rules; shorter in tests. */
  readonly deadlineMs?: number;
}

/** Requests wait for the result. A synchronous rule that never returns blocks the process, like any endless loop. */
const DEADLINE_MS = 2_000;

/** The rules of the operator's policy module, if any. */
export class ModuleRules {
  readonly #deps: ModuleRulesDeps;

  constructor(deps: ModuleRulesDeps) {
    this.#deps = deps;
  }

  /** Returns whether the module replaces the built-in rule. */
  replaces(rule: PolicyRule): boolean {
    return this.#deps.module?.[rule] !== undefined;
  }

  /**
   * Returns the violations found by the module's rule; empty if there are none, or no such rule. Never throws: a rule
   * that fails or returns an invalid result counts as a refusal with `policy_error` and is logged as an error.
   */
  async judge<Rule extends PolicyRule>(rule: Rule, input: RuleInputs[Rule]): Promise<readonly ModuleViolation[]> {
    const { module, policy, log, deadlineMs = DEADLINE_MS } = this.#deps;
    const apply = module?.[rule];
    if (apply === undefined) return [];
    try {
      const response = apply(input, readableData(policy.data));
      const problem = `no result within ${deadlineMs} ms`;
      const violations = readViolations(isThenable(response) ? await inTime(response, deadlineMs, problem) : response);
      if (rule !== 'clientRegistration' && violations.some(({ redirect }) => redirect !== undefined)) {
        throw new Error('"redirect" is supported only by the rule clientRegistration');
      }
      return violations;
    } catch (error) {
      log.error('policy.failed', 'policy module rule failed; the request was refused', {
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

/**
 * Returns the data in the format of the configuration file. It is frozen, because a rule's change would affect all
 * calls.
 */
function readableData(data: PolicyData): object {
  const known = readable.get(data) ?? deepFreeze(structuredClone(writtenPolicyData(data)));
  readable.set(data, known);
  return known;
}

function deepFreeze(value: object): object {
  for (const member of Object.values(value)) if (typeof member === 'object' && member !== null) deepFreeze(member);
  return Object.freeze(value);
}
