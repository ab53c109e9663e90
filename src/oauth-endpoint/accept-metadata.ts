import { offeredGrantTypes } from '#domain/clients/offered-grant-types.ts';
import type { Core } from '#domain/core.ts';
import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import { requesterInput } from '#domain/policy/module/rule-inputs.ts';
import { findBan } from '#domain/policy/requester-policy.ts';
import { moduleSetting } from '#domain/policy/violations.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { builtinNameProblem, builtinRedirectUriProblem } from '#protocol/oauth/builtin-clients.ts';
import { REGISTRABLE_GRANT_TYPES } from '#protocol/oauth/client-metadata.ts';
import { invalidMetadata } from '#protocol/oauth/metadata-members.ts';
import {
  parseRegistration,
  type RegisteredMetadata,
  type RegistrationRules,
} from '#protocol/oauth/registration-request.ts';
import { SoftwareStatements } from './software-statement.ts';

export interface MetadataDeps extends Core {
  readonly rules: Pick<RegistrationRules, 'grantTypes'>;
  readonly statements: SoftwareStatements;
}

export function metadataDeps(core: Core): MetadataDeps {
  const grantTypes = offeredGrantTypes(core.config, REGISTRABLE_GRANT_TYPES);
  const statements = new SoftwareStatements(core.config.oauth.dynamicRegistration.softwareStatementIssuers);
  return { ...core, rules: { grantTypes }, statements };
}

/**
 * Validates what a client says about itself, in its registration or in its published document, for this requester.
 * @param documentUrl where the document was fetched from; undefined if the client sent it
 * @throws LatchkeyError for the application's developer
 */
export async function acceptMetadata(
  { clock, config, moduleRules, policy, rules, signingKeys, statements }: MetadataDeps,
  { clientAddress, userAgent }: RequestContext,
  body: object,
  documentUrl?: string,
): Promise<RegisteredMetadata> {
  const setting = findBan({ policy, moduleRules }, 'clientRegistration', clientAddress, userAgent);
  if (setting !== undefined) {
    throw new LatchkeyError('invalid_client_metadata', {
      description: `Registration is refused by the policy (${setting}).`,
      details: { refusal: 'requester_banned', setting },
    });
  }
  const isReplaced = moduleRules.replaces('clientRegistration');
  const metadata = parseRegistration(await statements.apply(body, clock.now()), {
    ...rules,
    ...(isReplaced ? LEFT_TO_MODULE : policy.data.clientRegistration),
    signingAlgorithms: signingKeys.algorithms(),
    documentUrl,
  });
  refuseBuiltinClient(metadata, config.http.publicBase);
  const requester = requesterInput(clientAddress, userAgent);
  const found = await moduleRules.judge('clientRegistration', {
    client_metadata: { ...(documentUrl !== undefined && { client_id: documentUrl }), ...structuredClone(metadata) },
    requester,
  });
  if (found.length > 0) throw refusedByModule(found);
  return metadata;
}

/** Refuses clients that would pass for one of the service's own (security S-196). */
function refuseBuiltinClient({ client_name: names = {}, redirect_uris }: RegisteredMetadata, publicBase: string): void {
  for (const name of Object.values(names)) {
    const problem = builtinNameProblem(name);
    if (problem !== undefined) throw invalidMetadata('client_name', problem);
  }
  for (const uri of redirect_uris) {
    const problem = builtinRedirectUriProblem(uri, publicBase);
    if (problem !== undefined)
      throw new LatchkeyError('invalid_redirect_uri', { description: `redirect_uris: ${problem}` });
  }
}

/** The built-in rule judges only a client's URLs. */
const LEFT_TO_MODULE = {
  allowHostMismatch: true,
  allowInsecureUris: true,
  allowMissingClientUri: true,
  allowPrivateUseSchemes: true,
};

/** RFC 7591 3.2.2: the description is for the developer, in ASCII. */
function refusedByModule(found: readonly ModuleViolation[]): LatchkeyError {
  const ofRedirect = found.some(({ redirect }) => redirect !== undefined);
  const texts = found.map(({ field, msg, redirect }) => [redirect ?? field, msg].filter(Boolean).join(': '));
  return new LatchkeyError(ofRedirect ? 'invalid_redirect_uri' : 'invalid_client_metadata', {
    description: texts.join(' '),
    details: { refusal: 'policy', setting: moduleSetting(found) ?? '' },
  });
}
