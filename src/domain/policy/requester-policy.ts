import type { PolicyData } from '#config/sections/policy.ts';
import { type Cidr, Networks } from '#platform/base/ip-address.ts';
import type { ModuleRules } from './module/module-rules.ts';
import type { PolicyRule } from './module/policy-module.ts';
import { matches } from './text-matcher.ts';

/** The setting of `policy.data.requester` that bans a requester. */
export type BanSetting = 'banned_ips' | 'banned_user_agents';

/** Rules that check where a request comes from. */
type RequesterRule = Exclude<PolicyRule, 'email' | 'password'>;

/** Bans IP addresses and user agents from registering, authorizing clients and getting tokens (oauth 14.3). */
export class RequesterPolicy {
  readonly #policy: { readonly data: Pick<PolicyData, 'requester'> };
  readonly #moduleRules: Pick<ModuleRules, 'replaces'>;

  constructor(policy: { readonly data: Pick<PolicyData, 'requester'> }, moduleRules: Pick<ModuleRules, 'replaces'>) {
    this.#policy = policy;
    this.#moduleRules = moduleRules;
  }

  /**
   * Returns the setting that bans a requester. Undefined if there is none, or if the operator's own rule decides
   * instead.
   * @param address in canonical form
   */
  ban(rule: RequesterRule, address: string | undefined, userAgent: string | undefined): BanSetting | undefined {
    if (this.#moduleRules.replaces(rule)) return undefined;
    const { bannedIps, bannedUserAgents } = this.#policy.data.requester;
    if (address !== undefined && networksOf(bannedIps).has(address)) return 'banned_ips';
    return userAgent !== undefined && matches(bannedUserAgents, userAgent) ? 'banned_user_agents' : undefined;
  }
}

const networks = new WeakMap<readonly Cidr[], Networks>();

function networksOf(list: readonly Cidr[]): Networks {
  const known = networks.get(list) ?? new Networks(list);
  networks.set(list, known);
  return known;
}
