import { expect, test } from 'vitest';
import { headerOf, sendRequest } from '../attacks/raw-http.ts';
import { RESOURCES, startService } from '../support/service.ts';
import { sharedByTests } from '../support/shared-by-tests.ts';

const METHODS = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'TRACE', 'PROPFIND'];

const service = await sharedByTests(
  startService({ account: { password_registration_enabled: true, password_recovery_enabled: true } }),
);

/** Returns a URL of every route of the listener, including those at the origin. */
function addresses(): ReadonlySet<string> {
  const mounted = service.routes.filter(({ resource }) => RESOURCES.includes(resource));
  return new Set(mounted.map(({ path }) => path.replaceAll(/:\w+/g, '01JD3Q5Z8W2N4K6M7P9R0S1T00')));
}

async function statusAndAllow(method: string, path: string): Promise<{ status: number; allow: string | undefined }> {
  const { host } = new URL(service.publicBase);
  const response = await sendRequest(service.address, { method, target: path, headers: [['Host', host]] });
  return { status: response.status, allow: headerOf(response, 'allow') };
}

test('every URL answers 405 exactly to the methods not in its Allow header, with the same list each time', async () => {
  for (const path of addresses()) {
    const { allow, status } = await statusAndAllow('OPTIONS', path);
    expect([path, status]).toEqual([path, 204]);
    const listed = allow?.split(', ') ?? [];
    expect(listed, path).toContain('OPTIONS');
    for (const method of METHODS) {
      const response = await statusAndAllow(method, path);
      expect([method, path, response.status === 405]).toEqual([method, path, !listed.includes(method)]);
      if (response.status === 405) expect([method, path, response.allow]).toEqual([method, path, allow]);
    }
  }
});
