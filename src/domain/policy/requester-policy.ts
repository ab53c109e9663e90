import type { PolicyData } from '#config/sections/policy.ts';
import { type Cidr, Networks } from '#platform/base/ip-address.ts';
import type { ModuleRules } from './module/module-rules.ts';
import type { PolicyRule } from './module/policy-module.ts';
import { matches } from './text-matcher.ts';

/** The setting of `policy.data.requester` that bans a requester. */
export type BanSetting = 'banned_ips' | 'banned_user_agents';

/** Rules that check where a request comes from. */
type RequesterRule = Exclude<PolicyRule, 'email' | 'password'>;

export interface BanDeps {
  readonly policy: { readonly data: Pick<PolicyData, 'requester'> };
  readonly moduleRules: Pick<ModuleRules, 'replaces'>;
}

/**
 * Returns the setting that bans an IP address or a user agent from registering, authorizing clients and getting tokens
 * (oauth 14.3). Undefined if there is none, or if the operator's own rule decides instead.
 * @param address in canonical form
 */
export function findBan(
  { policy, moduleRules }: BanDeps,
  rule: RequesterRule,
  address: string | undefined,
  userAgent: string | undefined,
): BanSetting | undefined {
  if (moduleRules.replaces(rule)) return undefined;
  const { bannedIps, bannedUserAgents } = policy.data.requester;
  if (address !== undefined && networksOf(bannedIps).has(address)) return 'banned_ips';
  return userAgent !== undefined && matches(bannedUserAgents, userAgent) ? 'banned_user_agents' : undefined;
}

const networks = new WeakMap<readonly Cidr[], Networks>();

function networksOf(list: readonly Cidr[]): Networks {
  const known = networks.get(list) ?? new Networks(list);
  networks.set(list, known);
  return known;
}
