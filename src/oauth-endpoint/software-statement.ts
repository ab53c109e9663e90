/**
 * Software statements (RFC 7591 2.3): signed statements about an application by an issuer that the operator trusts.
 * They take precedence over what the application says about itself.
 */
import { verifyByKeys } from '#domain/keys/published-keys.ts';
import { LatchkeyError } from '#platform/base/errors.ts';
import { parseCompactJws } from '#protocol/jose/compact-jws.ts';
import { usableKeys, type VerificationKey } from '#protocol/jose/json-web-keys.ts';
import { invalidMetadata } from '#protocol/oauth/metadata-members.ts';

/** Tolerance for the issuer's clock. */
const SKEW_SECONDS = 60;
const MEMBER = 'software_statement';
const JWT = /^[\w-]+\.[\w-]+\.[\w-]*$/;

export interface StatementIssuer {
  readonly issuer: string;
  readonly jwks: { readonly keys: readonly unknown[] };
}

export class SoftwareStatements {
  readonly #keys: ReadonlyMap<string, readonly VerificationKey[]>;

  constructor(issuers: readonly StatementIssuer[]) {
    this.#keys = new Map(issuers.map(({ issuer, jwks }) => [issuer, usableKeys(jwks)]));
  }

  /**
   * Replaces members of a registration with those of its statement, in every language. Otherwise an application could
   * show some users a different name from the vouched one.
   * @param now milliseconds since the epoch
   * @throws LatchkeyError `invalid_software_statement`, `unapproved_software_statement`
   */
  async apply(body: object, now: number): Promise<object> {
    const members = new Map<string, unknown>(Object.entries(body));
    const statement = members.get(MEMBER) ?? undefined;
    if (statement === undefined) return body;
    if (typeof statement !== 'string') throw invalidMetadata(MEMBER, 'must be a string');
    const claims = await this.#verify(statement, now);
    claims.delete(MEMBER);
    const vouched = new Set([...claims.keys()].map(withoutLanguage));
    const own = [...members].filter(([name]) => !vouched.has(withoutLanguage(name)));
    return Object.fromEntries([...own, ...claims]);
  }

  async #verify(statement: string, now: number): Promise<Map<string, unknown>> {
    if (!JWT.test(statement)) throw invalid('must be a JWT');
    const jws = parseCompactJws(statement);
    const claims = new Map<string, unknown>(Object.entries(jws?.claims ?? {}));
    const issuer = claims.get('iss');
    const keys = typeof issuer === 'string' ? this.#keys.get(issuer) : undefined;
    if (jws === undefined || keys === undefined) {
      throw new LatchkeyError('unapproved_software_statement', {
        description: 'The issuer of the software statement is not trusted.',
      });
    }
    if (!(await verifyByKeys(keys, jws)).ok) throw invalid('is not signed with a key of its issuer');
    const seconds = now / 1000;
    if (!isAbsentOr(claims.get('exp'), (exp) => exp + SKEW_SECONDS > seconds)) throw invalid('has expired');
    if (!isAbsentOr(claims.get('nbf'), (nbf) => nbf - SKEW_SECONDS <= seconds)) throw invalid('is not valid yet');
    return claims;
  }
}

function isAbsentOr(claim: unknown, isGood: (value: number) => boolean): boolean {
  return claim === undefined || (typeof claim === 'number' && isGood(claim));
}

/** `client_name#de` is `client_name` in another language (RFC 7591 2.2). */
function withoutLanguage(name: string): string {
  return name.split('#', 1)[0] ?? name;
}

function invalid(problem: string): LatchkeyError {
  return new LatchkeyError('invalid_software_statement', { description: `${MEMBER} ${problem}.` });
}
