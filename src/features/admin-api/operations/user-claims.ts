/** Groups and extra claims of accounts, for applications that request them. */
import { z } from 'zod';
import { setClaims } from '#domain/accounts/set-claims.ts';
import { setGroups } from '#domain/accounts/set-groups.ts';
import { type UserClaimsRecord, userClaims } from '#domain/administration/user-claims-listing.ts';
import { fromUuid } from '#platform/base/ids.ts';
import {
  type ExtraClaims,
  extraClaimsFromJson,
  extraClaimsProblem,
  isExtraClaims,
} from '#protocol/oidc/extra-claims.ts';
import { GROUP_NAME_RULE, isGroupName, MAX_GROUPS, sortedGroups } from '#protocol/oidc/group-names.ts';
import { actorOf } from '../definition/caller.ts';
import type { Resource } from '../definition/documents.ts';
import { actionOperation, getOperation, type Operation, readBody, stored } from '../definition/operation.ts';

const USER_GROUPS: Resource<UserClaimsRecord> = {
  type: 'user-groups',
  description: 'The groups that a person is in.',
  path: 'users',
  part: { of: 'user', path: 'groups' },
  attributes: z.object({
    groups: z.array(z.string()).describe('Set by administrators.'),
    upstream: z
      .array(
        z.object({
          provider_id: z.string().describe('The provider that says so.'),
          groups: z.array(z.string()).describe('The groups that it names.'),
        }),
      )
      .describe('What sign-in providers said when the person last came from there.'),
    effective: z.array(z.string()).describe('All of them: what applications get.'),
  }),
  attributesOf: ({ groups, upstream }) => ({
    groups,
    upstream: upstream.map((of) => ({ provider_id: fromUuid(of.provider_id), groups: of.groups })),
    effective: sortedGroups([...groups, ...upstream.flatMap((of) => of.groups)]),
  }),
};

const USER_CLAIMS: Resource<UserClaimsRecord> = {
  type: 'user-claims',
  description: 'What administrators have applications be told of a person.',
  path: 'users',
  part: { of: 'user', path: 'claims' },
  attributes: z.object({
    claims: z.record(z.string(), z.unknown()).describe('Names and values; applications get them with `profile`.'),
  }),
  attributesOf: ({ claims }) => ({ claims: extraClaimsFromJson(claims) }),
};

const source = stored(userClaims);

const groupsBody = z.strictObject({
  groups: z
    .array(z.string().refine(isGroupName, `expected ${GROUP_NAME_RULE}`).meta({ minLength: 1, maxLength: 255 }))
    .max(MAX_GROUPS, `at most ${MAX_GROUPS} groups`)
    .describe('All groups that the person is in by the word of administrators; an empty list: none.'),
});

const claimsBody = z.strictObject({
  // Zod's own record type silently drops `__proto__`.
  claims: z
    .unknown()
    .meta({ type: 'object', additionalProperties: true })
    .transform((claims, context): ExtraClaims => {
      const found = extraClaimsProblem(claims);
      if (found === undefined && isExtraClaims(claims)) return claims;
      const path = found?.member === undefined ? [] : [found.member];
      context.addIssue({ code: 'custom', path, message: found?.problem ?? 'expected an object' });
      return z.NEVER;
    })
    .describe(
      'All claims that administrators set of the person, in place of those of before; names of standards are refused.',
    ),
});

export const userClaimOperations: readonly Operation[] = [
  getOperation({
    id: 'getUserGroups',
    summary: 'Reads the groups of an account',
    description: 'Those that administrators set, those that sign-in providers name, and both together.',
    resource: USER_GROUPS,
    source,
  }),
  actionOperation({
    id: 'setUserGroups',
    method: 'PUT',
    summary: 'Puts a person into these groups and no others; those of sign-in providers stay',
    description: 'Applications that ask for groups get them with their next tokens.',
    resource: USER_GROUPS,
    source,
    body: groupsBody,
    errors: ['invalid_body'],
    run: async ({ core, context, caller }, { id }) => {
      const { groups } = await readBody(context, groupsBody);
      const change = { user: fromUuid<'user'>(id), groups, by: actorOf(caller), now: core.clock.now() };
      await core.database.transaction((transaction) => setGroups(transaction, change), { isRepeatable: true });
    },
  }),
  getOperation({
    id: 'getUserClaims',
    summary: 'Reads the claims about an account that administrators made up',
    description:
      'Those that administrators set; what the service says by itself (name, address and so on) is not among them.',
    resource: USER_CLAIMS,
    source,
  }),
  actionOperation({
    id: 'setUserClaims',
    method: 'PUT',
    summary: 'Sets claims that applications get with the scope `profile`, in place of those of before',
    description:
      'At most 32 claims, which take 8 KiB of JSON together. Names that the service gives a meaning of its own are refused.',
    resource: USER_CLAIMS,
    source,
    body: claimsBody,
    errors: ['invalid_body'],
    run: async ({ core, context, caller }, { id }) => {
      const { claims } = await readBody(context, claimsBody);
      const change = { user: fromUuid<'user'>(id), claims, by: actorOf(caller), now: core.clock.now() };
      await core.database.transaction((transaction) => setClaims(transaction, change), { isRepeatable: true });
    },
  }),
];
