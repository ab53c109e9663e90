import { afterAll } from 'vitest';

/** A database, service or peer. Only one of the methods exists. */
type Ending = { stop(): unknown } | { close(): unknown } | { drop(): unknown };

/**
 * Starts a resource that all tests of the file share, and ends it after the last of them. Resources end in the reverse
 * order, so that a service stops before its database is dropped. Call it at the top level of the file.
 */
export async function sharedByTests<T extends Ending>(starting: Promise<T>): Promise<T> {
  const resource = await starting;
  afterAll(async () => {
    if ('stop' in resource) await resource.stop();
    else if ('close' in resource) await resource.close();
    else await resource.drop();
  });
  return resource;
}
