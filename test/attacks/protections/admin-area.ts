import type { Protection } from './protection.ts';

const TEST = 'test/attacks/admin-area.test.ts';
const FEATURE_TEST = 'src/features/admin-area/admin-area.test.ts';

const CLIENT_TEST = 'src/features/admin-api/client-connections.test.ts';
const PROVIDER_CHECK = 'src/features/admin-api/upstream-providers.test.ts';

export const ADMIN_AREA: readonly Protection[] = [
  {
    name: 'admin-area-own-page',
    what: 'the client of the admin area gets codes for silent requests of its own page only',
    attack: 191,
    removals: [{ text: '  if (isOwn) return;', instead: "  if (isOwn || client.kind === 'builtin') return;" }],
    test: TEST,
    testName: 'is not from its own page gets no code (S-191)',
  },
  {
    name: 'admin-area-right',
    what: 'the page does not exist for users without the right',
    attack: 192,
    removals: [{ text: "if (!mayAdminister) throw new LatchkeyError('not_found');" }],
    test: FEATURE_TEST,
    testName: 'does not exist for other users',
  },
  {
    name: 'admin-area-session',
    what: 'tokens of the admin area end with the browser session',
    attack: 192,
    removals: [{ text: "${signInOfBuiltinIsLive('s', 'c')} and " }],
    test: TEST,
    testName: 'when the browser session is deleted',
  },
  {
    name: 'admin-area-age',
    what: 'the sign-in must not be older than admin_area.max_age',
    attack: 192,
    removals: [
      {
        text: "client.kind === 'builtin' ? rules.adminArea.maxAgeSeconds : rules.reauthMaxAgeSeconds",
        instead: "client.kind === 'builtin' ? undefined : rules.reauthMaxAgeSeconds",
      },
    ],
    test: FEATURE_TEST,
    testName: 'needs a sign-in that is not older than admin_area.max_age',
  },
  {
    name: 'admin-area-factor',
    what: 'an account with a second factor must have used it',
    attack: 192,
    removals: [{ text: "if (facts.client.kind === 'builtin') return factorOfAdministrator(facts, rules);" }],
    test: FEATURE_TEST,
    testName: 'needs the second factor of an account that has one',
  },
  {
    name: 'admin-area-lifetime',
    what: 'tokens of the admin area expire after five minutes, whatever the settings say',
    attack: 193,
    removals: [{ text: 'Math.min(now + ADMIN_AREA_TOKEN_SECONDS * 1000, ', instead: 'Math.max(0, ' }],
    test: TEST,
    testName: 'expires after five minutes',
  },
  {
    name: 'admin-area-graphql',
    what: 'the account API rejects tokens of the admin area',
    attack: 193,
    removals: [{ text: 'if (token.clientId === ADMIN_AREA_CLIENT_ID) throw unknownToken(isBound);' }],
    test: TEST,
    testName: 'not the account API, which could open permanent sessions',
  },
  {
    name: 'client-test-guard',
    what: 'the test of a managed client requests only what the guard permits',
    attack: 195,
    removals: [
      { text: "isConfigured: kind === 'static', ignoresFailures", instead: 'isConfigured: true, ignoresFailures' },
    ],
    test: CLIENT_TEST,
    testName: 'requests no internal address for a managed client (S-195)',
  },
  {
    name: 'client-test-logout-guard',
    what: 'the test of a managed client posts only where the guard permits it',
    attack: 195,
    removals: [
      { text: "'test' }, { isConfigured: client.kind === 'static' }", instead: "'test' }, { isConfigured: true }" },
    ],
    test: CLIENT_TEST,
    testName: 'requests no internal address for a managed client (S-195)',
  },
  {
    name: 'client-logo-guard',
    what: 'the logo of a managed client is fetched only where the guard permits it',
    attack: 195,
    removals: [
      { text: "accept: ACCEPT, isConfigured: kind === 'static' }", instead: 'accept: ACCEPT, isConfigured: true }' },
    ],
    test: CLIENT_TEST,
    testName: 'is not fetched from the internal network',
  },
  {
    name: 'client-test-limit',
    what: 'an administrator runs ten tests of clients a minute',
    attack: 195,
    removals: [{ text: 'await takeTest(call);' }],
    test: CLIENT_TEST,
    testName: 'is limited to ten a minute for each administrator (S-195)',
  },
  {
    name: 'provider-check-limit',
    what: 'an administrator and a provider have ten checks a minute',
    attack: 195,
    removals: [{ text: 'await takeCheck(call, provider);' }],
    test: PROVIDER_CHECK,
    testName: 'is limited to ten a minute for each administrator and each provider (S-195)',
  },
  {
    name: 'provider-check-limit-of-provider',
    what: 'several administrators together check a provider ten times a minute',
    attack: 195,
    removals: [
      {
        text: '`admin:${administrator(call.caller)}`, `provider:${id}`',
        instead: '`admin:${administrator(call.caller)}`',
      },
    ],
    test: PROVIDER_CHECK,
    testName: 'is limited to ten a minute for each administrator and each provider (S-195)',
  },
  {
    name: 'provider-check-redirects',
    what: 'requests for keys of a provider follow no redirect to another server',
    attack: 195,
    removals: [
      {
        text: 'needsKeys(provider) ? await fetchProviderKeys(deps, provider, metadata) : undefined',
        instead: 'metadata.jwksUri !== undefined ? void (await fetch(metadata.jwksUri)) : undefined',
      },
    ],
    test: PROVIDER_CHECK,
    testName: 'follows no redirect of the provider (S-195)',
  },
  {
    name: 'provider-check-enabled',
    what: 'only enabled providers are requested',
    attack: 195,
    removals: [
      {
        text: 'const provider = core.upstream.providers.find(fromUuid(id));\n      if (provider === undefined) throw',
        instead:
          'const provider = core.config.upstreamOauth2.providers.find((one) => one.id === fromUuid(id));\n      if (provider === undefined) throw',
      },
    ],
    test: PROVIDER_CHECK,
    testName: 'requests nothing of a provider that is disabled, absent or without documents (S-195)',
  },
  {
    name: 'health-kept',
    what: 'administrators who reload the start page do not multiply the requests to other servers',
    attack: 195,
    removals: [
      {
        text: 'if (known !== undefined && Math.abs(at - known.at) < forMs)',
        instead: 'if (known !== undefined && at < 0)',
      },
    ],
    test: 'src/features/admin-api/health-findings.test.ts',
    testName: 'checks again only after a minute (S-195)',
  },
  {
    name: 'builtin-name',
    what: 'no registered client has the name of the admin area',
    attack: 196,
    removals: [{ text: "if (problem !== undefined) throw invalidMetadata('client_name', problem);" }],
    test: 'src/features/client-registration/members.test.ts',
    testName: 'refuses clients that pass for the admin area (S-196)',
  },
  {
    name: 'builtin-lookalikes',
    what: 'names that look like that of the admin area are refused',
    attack: 196,
    removals: [{ text: 'LOOKALIKES.get(letter) ?? letter', instead: 'letter' }],
    test: 'src/features/admin-api/client-changes.test.ts',
    testName: 'and creation refuse clients that pass for the admin area (S-196)',
  },
  {
    name: 'builtin-redirect-uri',
    what: 'no managed client has a redirect URI of the admin area',
    attack: 196,
    removals: [{ text: 'if (found !== undefined) return { ok: false, ...found };' }],
    test: 'src/features/admin-api/client-changes.test.ts',
    testName: 'and creation refuse clients that pass for the admin area (S-196)',
  },
];
