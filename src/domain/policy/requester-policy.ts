import type { PolicyData } from '#config/sections/policy.ts';
import { type Cidr, Networks } from '#platform/base/ip-address.ts';
import { matches } from './text-matcher.ts';

/** The setting of `policy.data.requester` that bans a requester. */
export type BanSetting = 'banned_ips' | 'banned_user_agents';

/** From where and with which program nobody may register, let a client in or get tokens (oauth 14.3). */
export class RequesterPolicy {
  readonly #policy: { readonly data: Pick<PolicyData, 'requester'> };

  constructor(policy: { readonly data: Pick<PolicyData, 'requester'> }) {
    this.#policy = policy;
  }

  /**
   * The setting that bans a requester; undefined when none does.
   * @param address in canonical form
   */
  ban(address: string | undefined, userAgent: string | undefined): BanSetting | undefined {
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
