/** What connects a client with its application: what to enter there, and a test (administration 2). */
import { z } from 'zod';
import { Urls } from '#browser/urls.ts';
import type { Config } from '#config/config.ts';
import type { ClientDetailsRecord } from '#domain/administration/client-listing.ts';
import { filledSteps, programUrl, type StepValues, serviceValues } from '#domain/client-presets/apply-preset.ts';
import { findPreset } from '#domain/client-presets/presets.ts';
import type { Preset } from '#domain/client-presets/programs/preset.ts';
import { clientIdentifier } from '#domain/clients/client-names.ts';
import { type ClientFinding, FINDING_CODES, testClient } from '#domain/clients/test-client.ts';
import { fromUuid } from '#platform/base/ids.ts';
import { DEVICE_CODE_GRANT_TYPE } from '#protocol/oauth/client-metadata.ts';
import { CODE_CHALLENGE_METHOD } from '#protocol/oauth/pkce.ts';
import { administrator, takeForCheck } from '../definition/check-limits.ts';
import { type Resource, single } from '../definition/documents.ts';
import {
  type AdminCall,
  change,
  getOperation,
  idOfPath,
  logAction,
  missing,
  type Operation,
  singleResponse,
} from '../definition/operation.ts';
import { clientRefusal } from './client-changes.ts';
import { PRESET_STEP } from './client-presets.ts';
import { CLIENT_DETAILS, CLIENT_SOURCE } from './client-resource.ts';

const TESTS_PER_MINUTE = { burst: 10, perSecond: 10 / 60 };

/** Scopes for applications that sign users in, if the client may request any. */
const USUAL_SCOPES = ['openid', 'profile', 'email', 'groups'];

const url = (what: string) => z.string().describe(`URL of the ${what}.`);

const CONNECTION: Resource<ClientDetailsRecord> = {
  type: 'oauth2-client-connection',
  path: CLIENT_DETAILS.path,
  description: 'What to enter in the application of a client.',
  part: { of: CLIENT_DETAILS.type, path: 'connect' },
  attributes: z.object({
    issuer: z.string().describe('Issuer of the ID tokens.'),
    discovery_url: url('provider metadata, for applications that read the endpoints from there'),
    authorization_endpoint: url('authorization endpoint'),
    token_endpoint: url('token endpoint'),
    userinfo_endpoint: url('userinfo endpoint'),
    jwks_uri: url("service's public keys"),
    end_session_endpoint: url('logout endpoint'),
    device_authorization_endpoint: z
      .string()
      .nullable()
      .describe('URL where a device requests a code; null: the client does not use the grant, or it is off.'),
    client_id: z.string().describe('Value of `client_id` in requests.'),
    client_auth_method: z.string().describe('Authentication method at the token endpoint; `none`: public client.'),
    has_secret: z.boolean().describe('Whether the application needs a secret. It is never shown here.'),
    code_challenge_method: z.literal(CODE_CHALLENGE_METHOD).describe('Method of PKCE.'),
    scopes: z.array(z.string()).describe('Scopes to request.'),
    groups_claim: z
      .literal('groups')
      .nullable()
      .describe('Claim with the groups of the user; null: the client may not request its scope.'),
    redirect_uris: z.array(z.string()).describe('Redirect URIs that the application may use.'),
    post_logout_redirect_uris: z.array(z.string()).describe('URIs where the application may send users after logout.'),
    id_token_signed_response_alg: z.string().describe('Signature algorithm of ID tokens.'),
    preset: z.string().nullable().describe('Preset that the client was created from; null: none.'),
    program: z.string().nullable().describe('Name of the program of the preset; null: no preset.'),
    steps: z
      .array(PRESET_STEP)
      .readonly()
      .describe(
        "What to enter in the program of the preset, in English, with the client's values. `{client_secret}` stands " +
          'for the secret; `{url}` remains if no redirect URI shows the URL of the program. Empty: no preset.',
      ),
  }),
  attributesOf: (client, { config }) => {
    const { metadata } = client;
    const urls = new Urls(config.http.publicBase);
    const preset = client.preset === null ? undefined : findPreset(client.preset);
    const method = metadata.token_endpoint_auth_method;
    const scopes = metadata.scope?.split(' ') ?? USUAL_SCOPES;
    const usesDevice = metadata.grant_types.includes(DEVICE_CODE_GRANT_TYPE) && config.oauth.deviceCodeGrantEnabled;
    return {
      issuer: config.http.issuer,
      discovery_url: `${config.http.issuer.replace(/\/$/, '')}/.well-known/openid-configuration`,
      authorization_endpoint: urls.absolute('authorize'),
      token_endpoint: urls.absolute('oauth2/token'),
      userinfo_endpoint: urls.absolute('oauth2/userinfo'),
      jwks_uri: urls.absolute('oauth2/keys.json'),
      end_session_endpoint: urls.absolute('oauth2/logout'),
      device_authorization_endpoint: usesDevice ? urls.absolute('oauth2/device') : null,
      client_id: clientIdentifier(fromUuid(client.id), client.document_url),
      client_auth_method: method,
      has_secret: method !== 'none' && method !== 'private_key_jwt',
      code_challenge_method: CODE_CHALLENGE_METHOD,
      scopes,
      groups_claim: scopes.includes('groups') ? 'groups' : null,
      redirect_uris: metadata.redirect_uris,
      post_logout_redirect_uris: metadata.post_logout_redirect_uris ?? [],
      id_token_signed_response_alg: metadata.id_token_signed_response_alg,
      preset: client.preset,
      program: preset?.name ?? null,
      steps: preset === undefined ? [] : filledSteps(preset, stepValues(preset, client, config.http)),
    };
  },
};

/** Returns the values of the variables in the steps of a client's preset. The secret is not one of them. */
function stepValues(preset: Preset, client: ClientDetailsRecord, http: Config['http']): StepValues {
  const url = programUrl(preset, client.metadata.redirect_uris);
  return {
    ...serviceValues(http),
    client_id: clientIdentifier(fromUuid(client.id), client.document_url),
    ...(url !== undefined && { url }),
  };
}

interface ClientTest {
  readonly id: string;
  readonly findings: readonly ClientFinding[];
}

const finding = z
  .object({
    code: z.enum(FINDING_CODES).describe('What was found.'),
    status: z.enum(['ok', 'warning', 'error']).describe('Whether it prevents something.'),
    member: z.string().describe('Attribute of the client that was checked.'),
    url: z.string().nullable().describe('URL that was checked; null: the attribute as a whole.'),
    message: z.string().describe('What was found, in English.'),
    remedy: z.string().describe('What to do about it, in English; empty: nothing.'),
  })
  .describe('Result of one check.');

const TEST: Resource<ClientTest> = {
  type: 'oauth2-client-test',
  path: CLIENT_DETAILS.path,
  description: 'Results of the checks of a client.',
  part: { of: CLIENT_DETAILS.type, path: 'test' },
  attributes: z.object({ findings: z.array(finding).describe('Results of the checks.') }),
  attributesOf: ({ findings }) => ({ findings }),
};

export const clientConnectionOperations: readonly Operation[] = [
  getOperation({
    id: 'connectOAuth2Client',
    summary: 'Gets what to enter in the application of a client',
    description:
      'Returns the issuer, the endpoints, the `client_id`, the scopes, and the steps of the preset of the client. The ' +
      'secret is never returned.',
    resource: CONNECTION,
    source: CLIENT_SOURCE,
  }),
  {
    id: 'testOAuth2Client',
    method: 'POST',
    path: `${CLIENT_DETAILS.path}/:id/test`,
    tag: CLIENT_DETAILS.type,
    summary: 'Tests a client',
    description:
      'Checks what can be checked without a user: whether redirect URIs fit the type of the client, and whether its keys, ' +
      'sector identifier, logo and logout endpoint can be reached and are valid. URLs of clients that are not configured ' +
      'are requested only if they are public. The logout endpoint receives a logout token that is not valid. An ' +
      'administrator may run 10 tests a minute.',
    answers: [singleResponse(200, TEST, 'The results.')],
    errors: ['invalid_id', 'not_found', 'client_is_builtin', 'rate_limited'],
    run: async (call) => {
      const { core, context } = call;
      const id = idOfPath<'client'>(context);
      const client = await CLIENT_SOURCE.find(core, id);
      if (client === undefined) throw missing(CLIENT_DETAILS.type);
      if (client.kind === 'builtin') throw clientRefusal('builtin');
      await takeTest(call);
      // Recorded first, so that nothing is requested without an event.
      await change(call, { operation: 'testOAuth2Client', target: { type: CLIENT_DETAILS.type, id } }, async () => {});
      logAction(call, 'testOAuth2Client', id);
      const findings = await testClient(core, {
        kind: client.kind,
        isDisabled: client.disabled_at !== null,
        metadata: client.metadata,
        logoUri: client.logo_uri ?? undefined,
      });
      return single(200, TEST, { id: client.id, findings }, call);
    },
  },
];

/** @throws LatchkeyError `rate_limited` */
async function takeTest(call: AdminCall): Promise<void> {
  const bucket = { key: `client-test:admin:${administrator(call.caller)}`, limiter: TESTS_PER_MINUTE };
  await takeForCheck(call, [bucket], 'Too many clients were tested. Retry later.');
}
