import type { TextMatcher } from '#config/sections/policy.ts';
import { type Cidr, Networks } from '#platform/base/ip-address.ts';
import { matches } from './text-matcher.ts';

/** Who may not register, whatever the name (browser-flows 5.5). */
export class RequesterPolicy {
  readonly #bannedNetworks: Networks;
  readonly #bannedUserAgents: TextMatcher;

  constructor(banned: { readonly bannedIps: readonly Cidr[]; readonly bannedUserAgents: TextMatcher }) {
    this.#bannedNetworks = new Networks(banned.bannedIps);
    this.#bannedUserAgents = banned.bannedUserAgents;
  }

  /**
   * The setting that bans a requester; undefined when none does.
   * @param address in canonical form
   */
  ban(address: string | undefined, userAgent: string | undefined): 'banned_ips' | 'banned_user_agents' | undefined {
    if (address !== undefined && this.#bannedNetworks.has(address)) return 'banned_ips';
    return userAgent !== undefined && matches(this.#bannedUserAgents, userAgent) ? 'banned_user_agents' : undefined;
  }
}
