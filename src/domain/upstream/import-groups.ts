import { isGroupName, MAX_GROUPS, sortedGroups } from '#protocol/oidc/group-names.ts';
import { type ClaimDeps, renderClaim } from './claim-templates.ts';
import type { UpstreamAnswer } from './sealed-columns.ts';
import type { UpstreamProvider } from './upstream-providers.ts';

/**
 * The groups that the provider names, sorted; undefined when it is not asked, and where nothing usable comes of the
 * template: who is in no group any more must not keep those of before. What is no name of a group is left out.
 */
export function groupsOf(
  deps: ClaimDeps,
  provider: UpstreamProvider,
  answer: UpstreamAnswer,
): readonly string[] | undefined {
  const { action, template } = provider.claimsImports.groups;
  if (action === 'ignore') return undefined;
  const text = renderClaim(deps, { provider, attribute: 'groups', template, answer });
  const named = text === undefined ? [] : listOf(text);
  const usable = sortedGroups(named.filter((name) => typeof name === 'string').map((name) => name.trim())).filter(
    isGroupName,
  );
  const groups = usable.slice(0, MAX_GROUPS);
  // Counted, not shown: they may say who it is.
  const unusable = new Set(named).size - groups.length;
  if (unusable > 0) {
    deps.log.warn('upstream.groups_left_out', 'groups of a sign-in provider are too many, or are no names', {
      provider: provider.id,
      left_out: unusable,
    });
  }
  return groups.length === 0 ? undefined : groups;
}

/** A list in JSON, a single text in JSON, or lines. */
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
