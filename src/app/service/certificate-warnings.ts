import type { ListenerOptions } from '#platform/http/http-options.ts';
import { leafOf } from '#platform/http/tls-pair.ts';

/** Returns one sentence for each listener certificate that clients currently reject. */
export function certificateWarnings(
  listeners: readonly Pick<ListenerOptions, 'name' | 'tls'>[],
  now: number,
): readonly string[] {
  return listeners.flatMap(({ name, tls }) => {
    if (tls === undefined) return [];
    const { validFrom, validTo } = leafOf(tls.certificate);
    if (now > Date.parse(validTo)) return [`the certificate of listener ${name} expired on ${validTo}`];
    return now < Date.parse(validFrom) ? [`the certificate of listener ${name} is not valid before ${validFrom}`] : [];
  });
}
