import type { Urls } from '#browser/urls.ts';
import type { MetadataDeps } from '#oauth-endpoint/accept-metadata.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import type { RequestContext } from '#platform/http/request-context.ts';

export interface RegistrationDeps extends MetadataDeps {
  readonly urls: Urls;
}

/** @throws LatchkeyError `invalid_request` */
export async function readObject(context: RequestContext): Promise<object> {
  const body = await context.readJson();
  if (body !== null && typeof body === 'object' && !Array.isArray(body)) return body;
  throw new LatchkeyError('invalid_request', { description: 'The body must be a JSON object.' });
}

/** Runs `work`. If it is rejected, logs for the operator what the application's developer is told. */
export async function logRefusal<T>({ log }: RegistrationDeps, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof LatchkeyError) {
      const { code, description, details } = error;
      log.info('auth.refused', 'client registration refused', { code, reason: description, ...details });
    }
    throw error;
  }
}
