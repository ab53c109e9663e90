import { z } from 'zod';
import { hint } from '#platform/config/shape.ts';
import { parseKeySet } from '#protocol/jose/json-web-keys.ts';

/** A JWK set as a mapping or JSON text. Problems never show the value because it may contain a private key. */
export const keySet = hint(
  z.unknown().transform((value, context) => {
    const outcome = parseKeySet(typeof value === 'string' ? fromJson(value) : value);
    if (outcome.ok) return { keys: outcome.given };
    context.addIssue(`not a JSON Web Key Set of public keys: it ${outcome.problem}`);
    return z.NEVER;
  }),
  { type: 'JSON Web Key Set' },
);

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
