import type { IncomingHttpHeaders } from 'node:http';

const MAX_RANGES = 50;
const QUALITY = /^\s*q=([01](?:\.\d{0,3})?)\s*$/i;

/** Returns whether `Accept` ranks JSON above HTML, or names JSON but neither HTML nor all types (browser-flows 10). */
export function prefersJson(accept: IncomingHttpHeaders['accept']): boolean {
  const weights = weightsOf(accept);
  return (weights.get('application/json') ?? 0) > (weights.get('text/html') ?? weights.get('*/*') ?? 0);
}

/** Returns whether an `Accept` header names a media type explicitly with a weight above 0. */
export function acceptsMediaType(accept: IncomingHttpHeaders['accept'], mediaType: string): boolean {
  if (accept === undefined || !accept.toLowerCase().includes(mediaType)) return false;
  return (weightsOf(accept).get(mediaType) ?? 0) > 0;
}

/** Returns whether an `Accept` header names a media type and ranks it no lower than the other. */
export function prefersMediaType(accept: IncomingHttpHeaders['accept'], mediaType: string, other: string): boolean {
  const weights = weightsOf(accept);
  const weight = weights.get(mediaType) ?? 0;
  return weight > 0 && weight >= (weights.get(other) ?? 0);
}

/**
 * Returns the coding that an `Accept-Encoding` header prefers (RFC 9110 12.5.3). Returns undefined for the uncompressed
 * content, which has the lowest rank if the header does not name it.
 * @param offered in order of preference among equal weights
 */
export function preferredEncoding<Coding extends string>(
  acceptEncoding: string | string[] | undefined,
  offered: readonly Coding[],
): Coding | undefined {
  const weights = weightsOf(acceptEncoding?.toString());
  let best: { readonly coding: Coding; readonly weight: number } | undefined;
  for (const coding of offered) {
    const weight = weights.get(coding) ?? weights.get('*') ?? 0;
    if (weight > (best?.weight ?? 0)) best = { coding, weight };
  }
  return best !== undefined && best.weight >= (weights.get('identity') ?? 0) ? best.coding : undefined;
}

/** Parses the header into lowercase members with their weights. */
function weightsOf(header: string | undefined): Map<string, number> {
  const weights = new Map<string, number>();
  for (const range of header?.split(',', MAX_RANGES) ?? []) {
    const [name = '', ...parameters] = range.split(';');
    const quality = parameters.map((parameter) => QUALITY.exec(parameter)?.[1]).find((text) => text !== undefined);
    weights.set(name.trim().toLowerCase(), quality === undefined ? 1 : Number(quality));
  }
  return weights;
}
