import { isGroupName, MAX_GROUPS, sortedGroups } from '#protocol/oidc/group-names.ts';
import { type ClaimDeps, renderClaim } from './claim-templates.ts';
import type { UpstreamResponse } from './sealed-columns.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

/**
 * Returns the groups from the provider, sorted. Undefined if groups are not imported. Also undefined if the template
 * has no usable result, because a user who has left all groups must not keep the earlier ones. Invalid group names are
 * omitted.
 */
export function groupsOf(
  deps: ClaimDeps,
  provider: UpstreamProvider,
  response: UpstreamResponse,
): readonly string[] | undefined {
  const { action, template } = provider.claimsImports.groups;
  if (action === 'ignore') return undefined;
  const text = renderClaim(deps, { provider, attribute: 'groups', template, answer: response });
  const named = text === undefined ? [] : listOf(text);
  const usable = sortedGroups(named.filter((name) => typeof name === 'string').map((name) => name.trim())).filter(
    isGroupName,
  );
  const groups = usable.slice(0, MAX_GROUPS);
  // Only the count is logged, because the names may identify the user.
  const unusable = new Set(named).size - groups.length;
  if (unusable > 0) {
    deps.log.warn('upstream.groups_left_out', 'groups from a sign-in provider skipped: too many or invalid names', {
      provider: provider.id,
      left_out: unusable,
    });
  }
  return groups.length === 0 ? undefined : groups;
}

/** Parses a JSON list, a single JSON string, or lines. */
function listOf(text: string): readonly unknown[] {
  const value = parsed(text);
  if (Array.isArray(value)) return value;
  const isOne = typeof value === 'string' || (typeof value === 'object' && value !== null);
  return isOne ? [value] : text.split('\n').filter((line) => line.trim() !== '');
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
