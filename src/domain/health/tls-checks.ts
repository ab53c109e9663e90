/** Checks that browsers accept the listeners' certificates (operations 3.8). */
import type { Config } from '#config/config.ts';
import { leafOf } from '#platform/http/tls-pair.ts';
import { type Finding, fail, ok, warn } from './finding.ts';

const MS_PER_DAY = 86_400_000;
const SOON_DAYS = 14;
const RENEW = 'Replace the certificate file. The new certificate is used within a minute, without a restart';

export interface TlsCheckDeps {
  readonly config: { readonly http: Pick<Config['http'], 'publicBase' | 'listeners'> };
  readonly now: number;
}

/** Returns one finding for each listener with TLS. */
export function checkCertificates({ config, now }: TlsCheckDeps): readonly Finding[] {
  const { hostname } = new URL(config.http.publicBase);
  return config.http.listeners.flatMap(({ name: listener, resources, tls }) => {
    if (tls === undefined) return [];
    const isForUsers = resources.some(({ name }) => name === 'human');
    return [checkCertificate(`tls.${listener}`, leafOf(tls.certificate), isForUsers ? hostname : undefined, now)];
  });
}

/** @param hostname public hostname of the listener; undefined if it is not public */
function checkCertificate(
  name: `tls.${string}`,
  certificate: ReturnType<typeof leafOf>,
  hostname: string | undefined,
  now: number,
): Finding {
  const { validFrom, validTo } = certificate;
  const leftDays = Math.floor((Date.parse(validTo) - now) / MS_PER_DAY);
  if (now > Date.parse(validTo)) return fail(name, `the certificate expired on ${validTo}`, RENEW);
  if (now < Date.parse(validFrom)) {
    return fail(name, `the certificate is not valid before ${validFrom}`, 'Check the clock of this machine');
  }
  if (leftDays < SOON_DAYS) return warn(name, `the certificate expires in ${leftDays} days, on ${validTo}`, RENEW);
  if (hostname !== undefined && !isFor(certificate, hostname)) {
    return warn(
      name,
      `the certificate is not valid for ${hostname}, the host of http.public_base`,
      'Browsers reject it, unless a proxy in front has its own certificate. Get a certificate for that name',
    );
  }
  return ok(name, `valid until ${validTo}`);
}

/** @param hostname as in a URL: IPv6 in brackets */
function isFor(certificate: ReturnType<typeof leafOf>, hostname: string): boolean {
  const address = hostname.replace(/^\[|\]$/g, '');
  return certificate.checkHost(hostname) !== undefined || certificate.checkIP(address) !== undefined;
}
