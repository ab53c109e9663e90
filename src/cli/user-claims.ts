import { setClaims } from '#domain/accounts/set-claims.ts';
import { setGroups } from '#domain/accounts/set-groups.ts';
import { ExitCode, ExitError } from '#platform/base/errors.ts';
import { type ExtraClaims, extraClaimsProblem, isExtraClaims } from '#protocol/oidc/extra-claims.ts';
import { GROUP_NAME_RULE, isGroupName, MAX_GROUPS, sortedGroups } from '#protocol/oidc/group-names.ts';
import { findManagedUser, type ManageDeps } from './accounts.ts';
import { accountAction, operatorChange } from './operator-change.ts';
import { visible } from './visible-text.ts';

export interface GroupsOptions {
  /** A username, `@user:server` or an ID. */
  readonly user: string;
  readonly groups: readonly string[];
  readonly json: boolean;
}

/** `manage set-groups`. Throws `ExitError` 1 if the user does not exist or a group name is invalid. */
export async function setGroupsCommand(deps: ManageDeps, options: GroupsOptions): Promise<void> {
  const { id, username } = await findManagedUser(deps, options.user);
  const groups = sortedGroups(options.groups);
  const wrong = groups.find((name) => !isGroupName(name));
  if (wrong !== undefined) {
    throw new ExitError(ExitCode.failure, `"${visible(wrong)}" is not a valid group name: ${GROUP_NAME_RULE}`);
  }
  if (groups.length > MAX_GROUPS) throw new ExitError(ExitCode.failure, `more than ${MAX_GROUPS} groups`);
  const change = { user: id, groups, now: deps.clock.now() };
  const action = accountAction('set-groups', id, ['groups']);
  const isChanged = await operatorChange(deps, action, (transaction) => setGroups(transaction, change));
  if (options.json) deps.io.stdout(`${JSON.stringify({ id, username, groups, changed: isChanged })}\n`);
  else deps.io.stdout(`${username} is ${isChanged ? 'now' : 'already'} in ${groupsInWords(groups)}\n`);
}

function groupsInWords(groups: readonly string[]): string {
  return groups.length === 0 ? 'no group' : visible(groups.join(', '));
}

export interface ClaimsOptions {
  readonly user: string;
  /** JSON. */
  readonly claims: string;
  readonly json: boolean;
}

/** `manage set-claims`. Throws `ExitError` 1 if the user does not exist or the claims are not allowed. */
export async function setClaimsCommand(deps: ManageDeps, options: ClaimsOptions): Promise<void> {
  const { id, username } = await findManagedUser(deps, options.user);
  const claims = parseClaims(options.claims);
  const change = { user: id, claims, now: deps.clock.now() };
  const action = accountAction('set-claims', id, ['claims']);
  const isChanged = await operatorChange(deps, action, (transaction) => setClaims(transaction, change));
  if (options.json) deps.io.stdout(`${JSON.stringify({ id, username, claims, changed: isChanged })}\n`);
  else deps.io.stdout(`${username} ${isChanged ? 'now' : 'already'} has ${claimsInWords(claims)}\n`);
}

function parseClaims(text: string): ExtraClaims {
  const claims = parseJson(text);
  const found = extraClaimsProblem(claims);
  if (found === undefined && isExtraClaims(claims)) return claims;
  const { member, problem } = found ?? { member: undefined, problem: 'expected an object' };
  const where = member === undefined ? 'the claims are not valid' : `the claim "${visible(member)}" is not valid`;
  throw new ExitError(ExitCode.failure, `${where}: ${problem}`);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ExitError(ExitCode.failure, 'the claims are not valid JSON');
  }
}

function claimsInWords(claims: ExtraClaims): string {
  const names = Object.keys(claims);
  return names.length === 0 ? 'no additional claims' : `the additional claims ${visible(names.join(', '))}`;
}
