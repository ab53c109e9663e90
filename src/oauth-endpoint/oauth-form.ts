import { LatchkeyError } from '#platform/base/errors.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';
import { MAX_RESOURCES, type ResourceRules } from '#protocol/oauth/resource-rules.ts';

/**
 * The form of a machine route. The query string is never read there, and unknown names are ignored.
 * @param singleNames parameters that may be given once only (RFC 6749 3.2)
 * @throws LatchkeyError `invalid_request`, and what `readForm` throws
 */
export async function readOAuthForm(context: RequestContext, singleNames: readonly string[]): Promise<FormParameters> {
  const form = await context.readForm();
  const repeated = singleNames.find((name) => form.isRepeated(name));
  if (repeated !== undefined) {
    throw new LatchkeyError('invalid_request', { description: `The parameter ${repeated} may be given once only.` });
  }
  return form;
}

/** @throws LatchkeyError `invalid_request` when the parameter is absent or empty */
export function required(form: FormParameters, name: string): string {
  const value = form.get(name);
  if (value === undefined) {
    throw new LatchkeyError('invalid_request', { description: `The parameter ${name} is missing.` });
  }
  return value;
}

/**
 * The resource servers that a form asks for (RFC 8707 2); none without the parameter.
 * @throws LatchkeyError `invalid_target`
 */
export function acceptedResources(rules: ResourceRules, form: FormParameters): readonly string[] {
  const resources = rules.accepted(form.all('resource'));
  if (resources !== undefined) return resources;
  throw new LatchkeyError('invalid_target', {
    description: `resource must name up to ${MAX_RESOURCES} of the resource servers that are configured here.`,
  });
}
