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
import { actionOperation, change, getOperation, type Operation, readBody, stored } from '../definition/operation.ts';

const USER_GROUPS: Resource<UserClaimsRecord> = {
  type: 'user-groups',
  description: 'Groups of a user.',
  path: 'users',
  part: { of: 'user', path: 'groups' },
  accountOf: ({ id }) => id,
  attributes: z.object({
    groups: z.array(z.string()).describe('Set by administrators.'),
    upstream: z
      .array(
        z.object({
          provider_id: z.string().describe('The provider that supplies the groups.'),
          groups: z.array(z.string()).describe('Groups from the provider.'),
        }),
      )
      .describe('Groups that sign-in providers supplied at the last sign-in.'),
    effective: z.array(z.string()).describe('All groups, as released to clients.'),
  }),
  attributesOf: ({ groups, upstream }) => ({
    groups,
    upstream: upstream.map((of) => ({ provider_id: fromUuid(of.provider_id), groups: of.groups })),
    effective: sortedGroups([...groups, ...upstream.flatMap((of) => of.groups)]),
  }),
};

const USER_CLAIMS: Resource<UserClaimsRecord> = {
  type: 'user-claims',
  description: 'Custom claims of a user, set by administrators.',
  path: 'users',
  part: { of: 'user', path: 'claims' },
  accountOf: ({ id }) => id,
  attributes: z.object({
    claims: z
      .record(z.string(), z.unknown())
      .describe('Names and values; released to clients with the scope `profile`.'),
  }),
  attributesOf: ({ claims }) => ({ claims: extraClaimsFromJson(claims) }),
};

const source = stored(userClaims);

const groupsBody = z.strictObject({
  groups: z
    .array(z.string().refine(isGroupName, `expected ${GROUP_NAME_RULE}`).meta({ minLength: 1, maxLength: 255 }))
    .max(MAX_GROUPS, `must have at most ${MAX_GROUPS} groups`)
    .describe('Groups set by administrators; an empty list: none.'),
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
    .describe('All custom claims, replacing the previous ones; names defined by standards are rejected.'),
});

export const userClaimOperations: readonly Operation[] = [
  getOperation({
    id: 'getUserGroups',
    summary: 'Gets the groups of an account',
    description: 'Returns the groups set by administrators, those from sign-in providers, and the combined list.',
    resource: USER_GROUPS,
    source,
  }),
  actionOperation({
    id: 'setUserGroups',
    method: 'PUT',
    summary: 'Replaces the groups set by administrators; those from sign-in providers are kept',
    description: 'Clients that request groups receive them with their next tokens.',
    resource: USER_GROUPS,
    source,
    body: groupsBody,
    errors: ['invalid_body', 'group_exists'],
    run: async (call, { id }, action) => {
      const { core, context, caller } = call;
      const { groups } = await readBody(context, groupsBody);
      const wanted = { user: fromUuid<'user'>(id), groups, by: actorOf(caller), now: core.clock.now() };
      await change(call, { ...action, changed: ['groups'] }, (_, transaction) => setGroups(transaction, wanted));
    },
  }),
  getOperation({
    id: 'getUserClaims',
    summary: 'Gets the custom claims of an account',
    description: 'Returns the claims set by administrators, without built-in claims (name, email address and so on).',
    resource: USER_CLAIMS,
    source,
  }),
  actionOperation({
    id: 'setUserClaims',
    method: 'PUT',
    summary: 'Replaces the custom claims, which clients receive with the scope `profile`',
    description: 'At most 32 claims, with a total of 8 KiB of JSON. Names of built-in claims are rejected.',
    resource: USER_CLAIMS,
    source,
    body: claimsBody,
    errors: ['invalid_body'],
    run: async (call, { id }, action) => {
      const { core, context, caller } = call;
      const { claims } = await readBody(context, claimsBody);
      const wanted = { user: fromUuid<'user'>(id), claims, by: actorOf(caller), now: core.clock.now() };
      await change(call, { ...action, changed: ['claims'] }, (_, transaction) => setClaims(transaction, wanted));
    },
  }),
];
