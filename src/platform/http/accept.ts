import type { IncomingHttpHeaders } from 'node:http';

const MAX_RANGES = 50;
const QUALITY = /^\s*q=([01](?:\.\d{0,3})?)\s*$/i;

/** `Accept` ranks JSON above HTML, or names it and neither HTML nor everything (browser-flows 10). */
export function prefersJson(accept: IncomingHttpHeaders['accept']): boolean {
  const weights = weightsOf(accept);
  return (weights.get('application/json') ?? 0) > (weights.get('text/html') ?? weights.get('*/*') ?? 0);
}

/** Whether an `Accept` names a media type itself, without ruling it out. */
export function acceptsMediaType(accept: IncomingHttpHeaders['accept'], mediaType: string): boolean {
  if (accept === undefined || !accept.toLowerCase().includes(mediaType)) return false;
  return (weightsOf(accept).get(mediaType) ?? 0) > 0;
}

/** Whether an `Accept` names a media type and ranks it no lower than the other. */
export function prefersMediaType(accept: IncomingHttpHeaders['accept'], mediaType: string, other: string): boolean {
  const weights = weightsOf(accept);
  const weight = weights.get(mediaType) ?? 0;
  return weight > 0 && weight >= (weights.get(other) ?? 0);
}

/**
 * The coding that an `Accept-Encoding` ranks highest (RFC 9110 12.5.3); undefined for the plain content, which a header
 * that does not name it ranks last.
 * @param offered in the order that decides between equals
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

/** The members of such a header in lower case with their weights. */
function weightsOf(header: string | undefined): Map<string, number> {
  const weights = new Map<string, number>();
  for (const range of header?.split(',', MAX_RANGES) ?? []) {
    const [name = '', ...parameters] = range.split(';');
    const quality = parameters.map((parameter) => QUALITY.exec(parameter)?.[1]).find((text) => text !== undefined);
    weights.set(name.trim().toLowerCase(), quality === undefined ? 1 : Number(quality));
  }
  return weights;
}
