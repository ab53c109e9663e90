/** Requirements for clients with `profile: fapi2`. */
import type { Protection } from './protection.ts';

const TEST = 'test/interop/fapi2.test.ts';

export const FAPI2: readonly Protection[] = [
  {
    name: 'fapi2-single-audience',
    what: 'an assertion of a FAPI 2.0 client must have the issuer as aud, not in a list',
    attack: 32,
    removals: [
      {
        text: "if (rules.needsSingleAudience && typeof aud !== 'string') return wrong('must have the issuer as a string in aud');",
      },
    ],
    test: TEST,
    testName: 'with the issuer in a list',
  },
  {
    name: 'fapi2-issuer-audience',
    what: 'an assertion of a FAPI 2.0 client must not have an endpoint as aud',
    attack: 32,
    removals: [
      {
        text: 'const audiences = isFapi2 ? [issuer] : [issuer, ...endpoints];',
        instead: 'const audiences = [issuer, ...endpoints];',
      },
    ],
    test: TEST,
    testName: 'with the token endpoint',
  },
  {
    name: 'fapi2-pkce',
    what: 'confidential FAPI 2.0 clients must use PKCE',
    attack: 18,
    removals: [{ text: 'client.isPublic || client.isFapi2', instead: 'client.isPublic' }],
    test: TEST,
    testName: 'without PKCE',
  },
  {
    name: 'fapi2-old-request-object',
    what: 'a request object of a FAPI 2.0 client must be from the last hour',
    attack: 13,
    removals: [
      { text: "if (exp > nbf + FAPI2_REQUEST_OBJECT_SECONDS) return 'must expire within an hour of its nbf';" },
    ],
    test: TEST,
    testName: 'with an nbf of eight hours ago',
  },
  {
    name: 'fapi2-code-lifetime',
    what: 'a code of a FAPI 2.0 client is valid for at most a minute',
    attack: 18,
    removals: [
      {
        text: 'isFapi2 ? Math.min(authorizationCodeTtlSeconds, FAPI2_CODE_SECONDS) : authorizationCodeTtlSeconds',
        instead: 'authorizationCodeTtlSeconds',
      },
    ],
    test: TEST,
    testName: 'come from a code valid for at most a minute',
  },
];
