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

/** Whether an `Accept-Encoding` names a coding without ruling it out (RFC 9110 12.5.3). */
export function acceptsEncoding(acceptEncoding: string | string[] | undefined, coding: string): boolean {
  return (weightsOf(acceptEncoding?.toString()).get(coding) ?? 0) > 0;
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
