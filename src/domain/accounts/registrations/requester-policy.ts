import { BlockList, isIPv6 } from 'node:net';
import type { TextMatcher } from '#config/sections/policy.ts';
import type { Cidr } from '#platform/base/cidr.ts';
import { matches } from './text-matcher.ts';

/** Who may not register, whatever the name (browser-flows 5.5). */
export class RequesterPolicy {
  readonly #bannedNetworks = new BlockList();
  readonly #bannedUserAgents: TextMatcher;

  constructor(banned: { readonly bannedIps: readonly Cidr[]; readonly bannedUserAgents: TextMatcher }) {
    for (const { address, prefixLength, family } of banned.bannedIps) {
      this.#bannedNetworks.addSubnet(address, prefixLength, family);
    }
    this.#bannedUserAgents = banned.bannedUserAgents;
  }

  /**
   * The setting that bans a requester; undefined when none does.
   * @param address in canonical form
   */
  ban(address: string | undefined, userAgent: string | undefined): 'banned_ips' | 'banned_user_agents' | undefined {
    const isBanned = address !== undefined && this.#bannedNetworks.check(address, isIPv6(address) ? 'ipv6' : 'ipv4');
    if (isBanned) return 'banned_ips';
    return userAgent !== undefined && matches(this.#bannedUserAgents, userAgent) ? 'banned_user_agents' : undefined;
  }
}
