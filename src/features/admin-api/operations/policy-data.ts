/** Policy data in addition to the configuration (operations 4.11). */
import { z } from 'zod';
import { type PolicyDataRecord, policyDataRecords } from '#domain/administration/policy-data-listing.ts';
import {
  POLICY_WARNING_CODES,
  type PolicyDataWarning,
  policyDataWarnings,
} from '#domain/administration/policy-data-warnings.ts';
import { listPolicyVersions, type PolicyVersion } from '#domain/policy/list-policy-versions.ts';
import { type ExpectedVersions, type PolicyDataId, storePolicyData } from '#domain/policy/store-policy-data.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { fromUuid, parseId, toUuid } from '#platform/base/ids.ts';
import { type HttpResponse, json } from '#platform/http/response.ts';
import { type Resource, single, time } from '../definition/documents.ts';
import {
  type AdminCall,
  change,
  getOperation,
  logAction,
  type Operation,
  pointerOf,
  readBody,
  singleResponse,
  stored,
} from '../definition/operation.ts';

const POLICY_DATA: Resource<PolicyDataRecord> = {
  type: 'policy-data',
  path: 'policy-data',
  description: 'Stored policy data.',
  attributes: z.object({
    data: z.record(z.string(), z.unknown()).describe('Data merged into `policy.data` of the configuration.'),
    created_at: z.iso.datetime().describe('When it was stored.'),
  }),
  attributesOf: ({ data, created_at }) => ({ data, created_at: time(created_at) }),
};

const source = stored(policyDataRecords);
/** Operators may write lists of names as mappings. */
const MAX_MEMBERS = 10_000;
const dataBody = z.strictObject({
  data: z
    .record(z.string(), z.unknown())
    .describe('Members of `policy.data`: lists are appended to those of the configuration, other values replace them.'),
});

const versions = z.object({
  data: z
    .array(
      z
        .object({
          type: z.literal(POLICY_DATA.type).describe('Type of the object.'),
          id: z.string().describe('Identifier (ULID).'),
          attributes: z
            .object({
              created_at: z.iso.datetime().describe('When it was stored.'),
              created_by: z
                .object({
                  user_id: z.string().nullable().describe('The administrator; null: a client for itself.'),
                  username: z.string().nullable().describe('Their username; null: the account no longer exists.'),
                  client_id: z.string().nullable().describe('The client; null: a personal token.'),
                })
                .nullable()
                .describe('Who stored it; null: the audit event has been deleted.'),
            })
            .describe('Attributes of the object.'),
          links: z.object({ self: z.string().describe('Path of the object, with its data.') }).describe('Links.'),
        })
        .describe('A version of the policy data, without its data.'),
    )
    .describe('The kept versions, at most ten, the newest first.'),
  links: z.object({ self: z.string().describe('Path of this response.') }).describe('Links of the response.'),
});

const pointer = z.string().describe('Member of the body, as a JSON pointer (RFC 6901).');

const validation = z.object({
  data: z
    .object({
      valid: z.boolean().describe('Whether the data could be stored.'),
      problem: z
        .object({ pointer, message: z.string().describe('The problem, in English.') })
        .nullable()
        .describe('The first error; null: none.'),
      warnings: z
        .array(
          z
            .object({
              code: z
                .enum(POLICY_WARNING_CODES)
                .describe(
                  '`locks_out_caller`: the caller would lose the admin right. `bans_caller`: the address or user agent ' +
                    'of the request would be banned. `unknown_user`, `unknown_client`: it does not exist. ' +
                    '`respelled_user`: the account has another spelling.',
                ),
              pointer,
              subject: z.string().describe('The name, ID, address or user agent.'),
            })
            .describe('Something that is valid, but may not be intended.'),
        )
        .describe('Empty if the data is invalid.'),
    })
    .describe('Result of the validation.'),
});

/** A change is based on the latest version, whose tag is its ID. */
function tagged(response: HttpResponse, id: string): HttpResponse {
  return { ...response, headers: { ...response.headers, etag: `"${id}"` } };
}

/**
 * Reads `If-Match` and `If-None-Match` (RFC 9110 13.1).
 * @returns undefined: no condition
 * @throws LatchkeyError `invalid_precondition`
 */
function expectedVersions(headers: AdminCall['context']['headers']): ExpectedVersions | undefined {
  const [match, noneMatch] = [headers['if-match'], headers['if-none-match']];
  if (noneMatch !== undefined && (noneMatch.trim() !== '*' || match !== undefined)) {
    throw new LatchkeyError('invalid_precondition');
  }
  if (noneMatch !== undefined) return [];
  if (match === undefined || match.trim() === '*') return undefined;
  return match.split(',').map((tag) => {
    const id = parseId<'policy-data'>(/^"([^"]*)"$/.exec(tag.trim())?.[1] ?? '');
    if (id === undefined) throw new LatchkeyError('invalid_precondition');
    return id;
  });
}

export const policyDataOperations: readonly Operation[] = [
  {
    id: 'setPolicyData',
    method: 'POST',
    path: POLICY_DATA.path,
    tag: POLICY_DATA.type,
    summary: 'Stores policy data, replacing the previous data',
    description:
      'The data is validated and merged with `policy.data` of the configuration. This process applies it ' +
      'immediately, others within a second. With `If-Match`, the change is rejected if other data has been stored ' +
      'since the version that `ETag` named; with `If-None-Match: *`, if any is stored. Without them, the last change ' +
      'wins.',
    body: dataBody,
    answers: [singleResponse(201, POLICY_DATA)],
    errors: ['invalid_body', 'invalid_policy_data', 'invalid_precondition', 'precondition_failed'],
    run: async (call) => {
      const { core, context } = call;
      const expected = expectedVersions(context.headers);
      const { data } = await readBody(context, dataBody, { maxMembers: MAX_MEMBERS });
      const judged = core.policy.judge(data);
      if (!judged.ok) {
        const at = pointerOf(judged.path);
        throw new LatchkeyError('invalid_policy_data', {
          description: `${at}: ${judged.problem}`,
          members: { pointer: at },
        });
      }
      const now = core.clock.now();
      const { id } = await change(
        call,
        (done: { readonly id: PolicyDataId }) => ({
          operation: 'setPolicyData',
          target: { type: POLICY_DATA.type, id: done.id },
          changed: Object.keys(data),
        }),
        async (joined) => {
          const outcome = await storePolicyData(joined.database, data, now, expected);
          if (outcome.ok) return outcome;
          const headers = outcome.latest === undefined ? {} : { etag: `"${outcome.latest}"` };
          throw new LatchkeyError('precondition_failed', { headers });
        },
      );
      core.policy.adopt(toUuid(id), judged.data);
      logAction(call, 'setPolicyData', id);
      return tagged(single(201, POLICY_DATA, { id: toUuid(id), data, created_at: now }, call), id);
    },
  },
  {
    id: 'validatePolicyData',
    method: 'POST',
    path: `${POLICY_DATA.path}/draft/validate`,
    tag: POLICY_DATA.type,
    summary: 'Validates policy data without storing it',
    description:
      'Returns the first error of the data, or warnings about what is probably not intended. The response has status ' +
      '200 in both cases.',
    body: dataBody,
    answers: [{ status: 200, schema: validation, description: 'The result.' }],
    errors: ['invalid_body'],
    run: async ({ core, context, caller }) => {
      const { data } = await readBody(context, dataBody, { maxMembers: MAX_MEMBERS });
      const judged = core.policy.judge(data);
      if (!judged.ok) {
        const problem = { pointer: pointerOf(judged.path), message: judged.problem };
        return validated({ valid: false, problem, warnings: [] });
      }
      const { clientAddress: address, userAgent } = context;
      const editor = { user: caller.user, clientId: caller.clientId, address, userAgent };
      const warnings = await policyDataWarnings(core, { added: data, data: judged.data, editor });
      return validated({ valid: true, problem: null, warnings: warnings.map(warning) });
    },
  },
  {
    id: 'listPolicyData',
    method: 'GET',
    path: POLICY_DATA.path,
    tag: POLICY_DATA.type,
    summary: 'Lists the kept versions of the policy data',
    description: 'Returns the last ten versions with who stored them, without their data.',
    answers: [{ status: 200, schema: versions, description: 'The versions, the newest first.' }],
    errors: [],
    run: async ({ core, base }) => {
      const path = `${base}/${POLICY_DATA.path}`;
      const data = (await listPolicyVersions(core.database)).map((version) => versionDocument(version, path));
      return json(200, { data, links: { self: path } });
    },
  },
  {
    id: 'getLatestPolicyData',
    method: 'GET',
    path: `${POLICY_DATA.path}/latest`,
    tag: POLICY_DATA.type,
    summary: 'Gets the latest policy data',
    description: 'Returns the data in effect in addition to the configuration.',
    answers: [singleResponse(200, POLICY_DATA)],
    errors: ['not_found'],
    run: async (call) => {
      const window = { size: 1, isFromEnd: true, after: undefined, before: undefined };
      const [latest] = (await source.page(call.core, {}, window)).items;
      if (latest === undefined) throw new LatchkeyError('not_found', { description: 'no policy data is stored' });
      return tagged(single(200, POLICY_DATA, latest, call), fromUuid(latest.id));
    },
  },
  getOperation({
    id: 'getPolicyData',
    summary: 'Gets stored policy data; the last ten versions are kept',
    description: 'Returns one of the last ten versions by its ID.',
    resource: POLICY_DATA,
    source,
  }),
];

function validated(data: z.input<typeof validation>['data']): HttpResponse {
  return json(200, { data });
}

function warning({ code, path, subject }: PolicyDataWarning) {
  return { code, pointer: pointerOf(['data', ...path]), subject };
}

function versionDocument({ id, createdAt, by }: PolicyVersion, path: string) {
  const author = by && {
    user_id: by.user?.id ?? null,
    username: by.user?.username ?? null,
    client_id: by.clientId ?? null,
  };
  return {
    type: POLICY_DATA.type,
    id,
    attributes: { created_at: time(createdAt), created_by: author ?? null },
    links: { self: `${path}/${id}` },
  };
}
