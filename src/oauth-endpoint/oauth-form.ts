import { LatchkeyError } from '#platform/base/errors.ts';
import type { FormParameters } from '#platform/http/form-parameters.ts';
import type { RequestContext } from '#platform/http/request-context.ts';

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
