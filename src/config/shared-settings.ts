/** A digest of the settings that all instances have to share (operations 8.1). */
import { createHmac } from 'node:crypto';
import type { KeyRing } from '#platform/base/sealing.ts';
import { Secret } from '#platform/base/secret.ts';
import type { Config } from './config.ts';

/**
 * Tells whether two instances are configured alike, and nothing else: it is made with a key, since the settings hold
 * secrets. Left out is what may differ from machine to machine: addresses and proxies, the database as it is reached
 * from there, the log, telemetry, limits and the amount of background work. So are keys, which the key ring and the key
 * set tell.
 */
export function sharedSettingsDigest(config: Config, keyRing: KeyRing): Buffer {
  const { dataDir, database, http, jobs, limits, logging, outbound, secrets, telemetry, ...rest } = config;
  const shared = {
    ...rest,
    // Its directory, when mails go into files, may be another one.
    email: { ...rest.email, transport: rest.email.transport.kind },
    http: { publicBase: http.publicBase, issuer: http.issuer },
  };
  return createHmac('sha256', keyRing.derive('config-digest')).update(JSON.stringify(shared, revealed)).digest();
}

/** Secrets are to be compared, not hidden. */
function revealed(this: unknown, key: string, value: unknown): unknown {
  const original: unknown = typeof this === 'object' && this !== null ? Reflect.get(this, key) : value;
  return original instanceof Secret ? original.reveal() : value;
}
