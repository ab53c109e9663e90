import { z } from 'zod';
import { hint } from '#platform/config/shape.ts';
import { type ExtraClaims, extraClaimsProblem, isExtraClaims } from '#protocol/oidc/extra-claims.ts';

/** Claims by name, as a mapping or as JSON text from the environment. */
export function extraClaims() {
  const schema = z.unknown().transform((given, context): ExtraClaims => {
    const value = typeof given === 'string' ? fromJson(given) : given;
    const found = extraClaimsProblem(value);
    if (found === undefined && isExtraClaims(value)) return value;
    const { member, problem } = found ?? { member: undefined, problem: 'expected a mapping of names to values' };
    context.addIssue({ code: 'custom', path: member === undefined ? [] : [member], message: problem });
    return z.NEVER;
  });
  return hint(schema, { type: 'mapping of names to JSON values' });
}

function fromJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
