/** Computes a digest of the settings that all instances must share (operations 8.1). */
import { createHmac } from 'node:crypto';
import type { KeyRing } from '#platform/base/sealing.ts';
import { Secret } from '#platform/base/secret.ts';
import type { Config } from './config.ts';

/**
 * Returns a keyed digest that shows whether two instances have the same settings, and reveals nothing else: the
 * settings contain secrets. It omits what may differ between machines: addresses and proxies, the database connection,
 * logging, telemetry, limits and the number of workers. It also omits keys, which the key ring and the key set cover.
 */
export function sharedSettingsDigest(config: Config, keyRing: KeyRing): Buffer {
  const { dataDir, database, http, jobs, limits, logging, outbound, secrets, telemetry, ...rest } = config;
  const shared = {
    ...rest,
    // If mail is written to files, the directory may differ.
    email: { ...rest.email, transport: rest.email.transport.kind },
    http: { publicBase: http.publicBase, issuer: http.issuer },
  };
  return createHmac('sha256', keyRing.derive('config-digest')).update(JSON.stringify(shared, revealed)).digest();
}

/** Secrets are compared here, so they must not be redacted. */
function revealed(this: unknown, key: string, value: unknown): unknown {
  const original: unknown = typeof this === 'object' && this !== null ? Reflect.get(this, key) : value;
  return original instanceof Secret ? original.reveal() : value;
}
