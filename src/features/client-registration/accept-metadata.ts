import type { Urls } from '#browser/urls.ts';
import type { Core } from '#domain/core.ts';
import type { ModuleViolation } from '#domain/policy/module/module-violations.ts';
import { requesterInput } from '#domain/policy/module/rule-inputs.ts';
import { moduleSetting } from '#domain/policy/violations.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import {
  parseRegistration,
  type RegisteredMetadata,
  type RegistrationRules,
} from '#protocol/oauth/registration-request.ts';
import type { SoftwareStatements } from './software-statement.ts';

export interface RegistrationDeps extends Core {
  readonly urls: Urls;
  readonly rules: Pick<RegistrationRules, 'grantTypes'>;
  readonly statements: SoftwareStatements;
}

/** @throws LatchkeyError `invalid_request` */
export async function readObject(context: RequestContext): Promise<object> {
  const body = await context.readJson();
  if (body !== null && typeof body === 'object' && !Array.isArray(body)) return body;
  throw new LatchkeyError('invalid_request', { description: 'The body must be a JSON object.' });
}

/**
 * What a client may say of itself, from this requester.
 * @throws LatchkeyError for the developer of the application
 */
export async function acceptMetadata(
  { clock, moduleRules, policy, requesterPolicy, rules, signingKeys, statements }: RegistrationDeps,
  { clientAddress, userAgent }: RequestContext,
  body: object,
): Promise<RegisteredMetadata> {
  const setting = requesterPolicy.ban('clientRegistration', clientAddress, userAgent);
  if (setting !== undefined) {
    throw new LatchkeyError('invalid_client_metadata', {
      description: `Registration is refused by the policy here (${setting}).`,
      details: { refusal: 'requester_banned', setting },
    });
  }
  const isReplaced = moduleRules.replaces('clientRegistration');
  const metadata = parseRegistration(await statements.apply(body, clock.now()), {
    ...rules,
    ...(isReplaced ? LEFT_TO_MODULE : policy.data.clientRegistration),
    signingAlgorithms: signingKeys.algorithms(),
  });
  const requester = requesterInput(clientAddress, userAgent);
  const found = await moduleRules.judge('clientRegistration', {
    client_metadata: structuredClone(metadata),
    requester,
  });
  if (found.length > 0) throw refusedByModule(found);
  return metadata;
}

/** The addresses of a client are what the built-in rule judges. */
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

/** Runs `work`, and says to the operator what the developer of the application is told when it is refused. */
export async function logRefusal<T>({ log }: RegistrationDeps, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LatchkeyError) {
      const { code, description, details } = error;
      log.info('auth.refused', 'registration of a client refused', { code, reason: description, ...details });
    }
    throw error;
  }
}
