/** Gauges of expiring material: listener certificates, and signing keys due for rotation. */
import { stat } from 'node:fs/promises';
import { isAbsolute } from 'node:path';
import type { SigningKeys } from '#domain/keys/signing-keys.ts';
import type { Clock } from '#platform/base/clock.ts';
import type { HttpServer } from '#platform/http/server.ts';
import type { Gauges } from '#platform/metrics/registry.ts';

/** @param keys returns the current keys, which a reload replaces */
export function expiryGauges(
  server: Pick<HttpServer, 'listCertificates'>,
  clock: Clock,
  keys: () => Pick<SigningKeys, 'list'>,
): Gauges {
  return async (set) => {
    const now = clock.now();
    for (const { listener, validTo } of server.listCertificates()) {
      set('latchkey_certificate_expiry_seconds', { listener }, Math.round((validTo - now) / 1000));
    }
    // The age of keys in the configuration is unknown.
    const files = keys()
      .list()
      .filter(({ name }) => isAbsolute(name));
    for (const { kid, name } of files) {
      const written = await stat(name).catch(() => undefined);
      if (written !== undefined)
        set('latchkey_signing_key_age_seconds', { kid }, Math.max(0, Math.round((now - written.mtimeMs) / 1000)));
    }
  };
}
