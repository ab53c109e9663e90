import type { Client } from '#domain/clients/client.ts';
import type { Core } from '#domain/core.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { MAX_RESOURCES } from '#protocol/oauth/resource-rules.ts';
import { valuesForLog } from '#protocol/oauth/uris-in-logs.ts';

/**
 * Reads the form of a machine route. The query string is never read, and unknown names are ignored.
 * @param singleNames parameters that must not be repeated (RFC 6749 3.2)
 * @throws LatchkeyError `invalid_request`, and the errors of `readForm`
 */
export async function readOAuthForm(context: RequestContext, singleNames: readonly string[]): Promise<FormParameters> {
  const form = await context.readForm();
  const repeated = singleNames.find((name) => form.isRepeated(name));
  if (repeated !== undefined) {
    throw new LatchkeyError('invalid_request', {
      description: `The parameter ${repeated} must not be given more than once.`,
    });
  }
  return form;
}

/** @throws LatchkeyError `invalid_request` if the parameter is absent or empty */
export function required(form: FormParameters, name: string): string {
  const value = form.get(name);
  if (value === undefined) {
    throw new LatchkeyError('invalid_request', { description: `The parameter ${name} is missing.` });
  }
  return value;
}

/**
 * Returns the requested resource servers (RFC 8707 2). Without the parameter there are none.
 * @throws LatchkeyError `invalid_target`
 */
export function acceptedResources(
  { log, resourceRules }: Pick<Core, 'log' | 'resourceRules'>,
  form: FormParameters,
  client: Client,
): readonly string[] {
  const requested = form.all('resource');
  const resources = resourceRules.accepted(requested);
  if (resources !== undefined) return resources;
  throw refusedResources(
    { log },
    client,
    requested,
    `resource must be at most ${MAX_RESOURCES} of the configured resource servers.`,
    resourceRules.identifiers,
  );
}

/** Logs the resources as received, so that an operator can copy them into the configuration. */
export function refusedResources(
  { log }: Pick<Core, 'log'>,
  client: Client,
  received: readonly string[],
  description: string,
  expected?: readonly string[],
): LatchkeyError {
  log.info('auth.refused', 'requested resource refused', {
    code: 'invalid_target',
    client: client.identifier,
    received: valuesForLog(received),
    expected: expected === undefined ? undefined : valuesForLog(expected),
  });
  return new LatchkeyError('invalid_target', { description });
}
