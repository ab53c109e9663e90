/** Policy data in addition to the configuration (operations 4.11). */
import { z } from 'zod';
import { type PolicyDataRecord, policyDataRecords } from '#domain/administration/policy-data-listing.ts';
import { type PolicyDataId, storePolicyData } from '#domain/policy/store-policy-data.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { toUuid } from '#platform/base/ids.ts';
import { type Resource, single, time } from '../definition/documents.ts';
import {
  change,
  getOperation,
  logAction,
  type Operation,
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

export const policyDataOperations: readonly Operation[] = [
  {
    id: 'setPolicyData',
    method: 'POST',
    path: POLICY_DATA.path,
    tag: POLICY_DATA.type,
    summary: 'Stores policy data, replacing the previous data',
    description:
      'The data is validated and merged with `policy.data` of the configuration. This process applies it ' +
      'immediately, others within a second.',
    body: dataBody,
    answers: [singleResponse(201, POLICY_DATA)],
    errors: ['invalid_body', 'invalid_policy_data'],
    run: async (call) => {
      const { core, context } = call;
      const { data } = await readBody(context, dataBody, { maxMembers: MAX_MEMBERS });
      const judged = core.policy.judge(data);
      if (!judged.ok) {
        const pointer = ['', ...judged.path].join('/');
        throw new LatchkeyError('invalid_policy_data', {
          description: `${pointer}: ${judged.problem}`,
          members: { pointer },
        });
      }
      const now = core.clock.now();
      const action = (id: PolicyDataId) => ({
        operation: 'setPolicyData',
        target: { type: POLICY_DATA.type, id },
        changed: Object.keys(data),
      });
      const id = await change(call, action, (joined) => storePolicyData(joined.database, data, now));
      core.policy.adopt(toUuid(id), judged.data);
      logAction(call, 'setPolicyData', id);
      return single(201, POLICY_DATA, { id: toUuid(id), data, created_at: now }, call);
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
      return single(200, POLICY_DATA, latest, call);
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
