/** Sign-in, registration and links through upstream providers. */
import type { Protection } from './protection.ts';

export const UPSTREAM: readonly Protection[] = [
  {
    name: 'upstream-cookie-size',
    what: 'the cookie of begun sign-ins stays short enough for browsers',
    attack: 95,
    removals: [
      { text: 'while (entries.length > 1 && Buffer.byteLength(JSON.stringify(entries)) > MAX_BYTES) entries.pop();' },
    ],
    test: 'test/attacks/flow-cookies.test.ts',
    testName: '(S-95)',
  },
  {
    name: 'upstream-link-recent',
    what: 'an identity is linked only by somebody who has signed in a short time ago',
    attack: 111,
    removals: [
      { text: "if (session.authenticatedAt <= authenticatedAfter) return 'reauthentication-needed';" },
      {
        text: 'and s.authenticated_at > :authenticatedAfter::timestamptz\n      for no key update of u',
        instead: 'and :authenticatedAfter::timestamptz is not null\n      for no key update of u',
      },
    ],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: '(S-111)',
  },
  {
    name: 'upstream-params-of-browser',
    what: 'a provider is told of a request that was made in this browser only',
    attack: 83,
    removals: [{ text: 'isGrantBound(context, action.id, clock.now()) ?', instead: 'action.id.length > 0 ?' }],
    test: 'src/features/upstream-login/additional-parameters.test.ts',
    testName: 'read no request of another browser',
  },
  {
    name: 'template-own-members',
    what: 'a template reads own members of its data only',
    attack: 112,
    removals: [{ text: 'if (!Object.hasOwn(this.#object, key)) return undefined;' }],
    test: 'src/platform/templates/hostile.test.ts',
    testName: 'is a member only where the data has one',
  },
  {
    name: 'template-steps',
    what: 'the work of a template is bounded',
    attack: 112,
    removals: [{ text: 'if (this.#steps > MAX_STEPS)', instead: 'if (this.#steps > 1e12)' }],
    test: 'src/platform/templates/hostile.test.ts',
    testName: 'S-112: the work of a template is bounded',
  },
  {
    name: 'template-exact-numbers',
    what: 'a number that was rounded has no text, so it cannot be the subject of two people',
    attack: 112,
    removals: [{ text: "if (isRounded) throw new Failure('is a number too large to be exact');" }],
    test: 'src/features/upstream-login/claim-templates.test.ts',
    testName: 'makes no account when it',
  },
  {
    name: 'template-no-null',
    what: 'null and what is not there have no text, so they cannot be the subject of two people',
    attack: 112,
    removals: [
      {
        text: "if (typeof value === 'string') return value;\n  if (typeof value === 'boolean')",
        instead:
          "if (typeof value === 'string' || value === null || value === undefined) return String(value);\n  if (typeof value === 'boolean')",
      },
    ],
    test: 'src/features/upstream-login/claim-templates.test.ts',
    testName: 'makes no account when it',
  },
  {
    name: 'upstream-state',
    what: 'an answer of a provider counts with the state that was sent',
    attack: 106,
    removals: [{ text: 'candidate.state === state &&' }],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: 'a state that was not sent',
  },
  {
    name: 'upstream-cookie',
    what: 'an answer of a provider counts in the browser that asked',
    attack: 59,
    removals: [{ text: "if (entry === undefined) throw refuse('upstream_session_missing');" }],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: 'the answer to another browser',
  },
  {
    name: 'upstream-own-provider',
    what: 'an answer counts at the provider that was asked',
    attack: 107,
    removals: [
      { text: 'candidate.providerId === provider.id &&' },
      {
        text: 'where id = :id::uuid and provider_id = :providerId::uuid and state_hash',
        instead: 'where id = :id::uuid and :providerId::uuid is not null and state_hash',
      },
      {
        text: 'where a.id = :id::uuid and a.provider_id = :providerId::uuid and a.state_hash',
        instead: 'where a.id = :id::uuid and a.state_hash',
      },
    ],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: 'the answer to another browser',
  },
  {
    name: 'upstream-answer-once',
    what: 'an answer of a provider counts once',
    attack: 106,
    removals: [
      {
        text: 'and received_at is null and created_at > :begunAfter::timestamptz',
        instead: 'and created_at > :begunAfter::timestamptz',
      },
    ],
    test: 'test/attacks/upstream-providers.test.ts',
    testName: 'an answer of the provider counts once',
  },
  {
    name: 'upstream-sign-in-once',
    what: 'a sign-in through a provider opens one session',
    attack: 100,
    removals: [
      {
        text: `> \${completedAfter} and \${authorizationIsUnused(authorization)}`,
        instead: `> \${completedAfter}`,
      },
    ],
    test: 'test/attacks/upstream-providers.test.ts',
    testName: 'a sign-in opens one session',
  },
  {
    name: 'upstream-nonce',
    what: 'an ID token has the nonce of the request',
    attack: 108,
    removals: [{ text: '    nonceProblem(claims, nonce) ??\n' }],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: 'another nonce',
  },
  {
    name: 'upstream-audience',
    what: 'an ID token is for this service',
    attack: 108,
    removals: [{ text: "if (!audiences.includes(clientId)) return 'wrong aud';" }],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: 'another audience',
  },
  {
    name: 'upstream-issuer',
    what: 'an ID token is of the configured issuer',
    attack: 107,
    removals: [
      {
        text: "if (typeof iss !== 'string' || (expectedIssuer !== undefined && iss !== expectedIssuer)) return 'wrong iss';",
      },
    ],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: 'another issuer',
  },
  {
    name: 'upstream-algorithm',
    what: 'an ID token is signed with the configured algorithm alone',
    attack: 108,
    removals: [
      { text: 'if (jws.algorithm !== settledName(algorithm)) return', instead: "if (jws.algorithm === '') return" },
    ],
    test: 'test/attacks/upstream-providers.test.ts',
    testName: 'is good for the configured one alone',
  },
  {
    name: 'upstream-response-issuer',
    what: 'an answer names its issuer where the provider always does so',
    attack: 107,
    removals: [
      {
        text: "if (metadata.namesIssuer && issuer !== metadata.issuer) throw refuse('upstream_issuer_mismatch', entry);",
      },
    ],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: 'an answer that names no issuer',
  },
  {
    name: 'upstream-userinfo-subject',
    what: 'userinfo is about the person of the ID token',
    attack: 108,
    removals: [
      {
        text: "if (sub !== undefined && claims['sub'] !== sub) throw new Unusable('userinfo: another sub than in the ID token');",
      },
    ],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: 'has to be about the same person',
  },
  {
    name: 'upstream-metadata-issuer',
    what: 'metadata names the issuer that is configured',
    attack: 109,
    removals: [{ text: "if (isStrict && issuer !== overrides.issuer) return wrong('it names another issuer');" }],
    test: 'test/attacks/upstream-providers.test.ts',
    testName: 'metadata that cannot be used',
  },
  {
    name: 'upstream-key-fetches',
    what: 'an unknown kid has the keys of a provider fetched once a minute',
    attack: 108,
    removals: [{ text: 'if (!isUseful && now - set.askedAt >= RETRY_MS) {', instead: 'if (!isUseful) {' }],
    test: 'test/attacks/upstream-providers.test.ts',
    testName: 'once a minute',
  },
  {
    name: 'upstream-link-viewer',
    what: 'a sign-in as somebody else is not one of who is signed in',
    attack: 110,
    removals: [{ text: 'completed.owner?.id === viewer.user.id', instead: 'completed.owner !== undefined' }],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: 'a link of somebody else is not taken over',
  },
  {
    name: 'upstream-fixed-username',
    what: 'a username that the provider decides is not replaced by one of the own choice',
    attack: 105,
    removals: [
      {
        text: "if (registration.hasFixedUsername) return redirect(deps.urls.registrationStep(registration.id, 'finish'));",
      },
      { text: 'and completed_at is null and not has_fixed_username`', instead: 'and completed_at is null`' },
    ],
    test: 'src/features/upstream-login/claims-import.test.ts',
    testName: 'and that is lost before the end cannot be replaced',
  },
  {
    name: 'upstream-conflict-deactivated',
    what: 'a deactivated account is given to nobody by its name',
    attack: 105,
    removals: [
      { text: "if (onConflict === 'fail' || user.isDeactivated) {", instead: "if (onConflict === 'fail') {" },
      {
        text: `where u.id = :userId::uuid and \${accountIsUsable('u')} for no key update\``,
        instead: 'where u.id = :userId::uuid for no key update`',
      },
    ],
    test: 'src/features/upstream-login/claims-import.test.ts',
    testName: 'and is deactivated is given to nobody',
  },
  {
    name: 'upstream-links-counted',
    what: 'of two identities that are linked at once, the second counts the first',
    attack: 100,
    removals: [
      {
        text: 'and s.authenticated_at > :authenticatedAfter::timestamptz\n      for no key update of u',
        instead: 'and s.authenticated_at > :authenticatedAfter::timestamptz',
      },
    ],
    test: 'test/attacks/upstream-providers.test.ts',
    testName: 'are counted one after the other (R-44)',
  },
  {
    name: 'upstream-link-owner',
    what: 'a link that has an account is never given to another',
    attack: 110,
    removals: [
      {
        text: 'from consumed where l.id = consumed.link_id and l.user_id is null\n    returning :sessionId',
        instead: 'from consumed where l.id = :linkId::uuid\n    returning :sessionId',
      },
    ],
    test: 'src/features/upstream-login/upstream-login.test.ts',
    testName: 'of six people who want one subject',
  },
  {
    name: 'upstream-logout-replay',
    what: 'a logout token counts once',
    attack: 113,
    removals: [{ text: 'const isReplay = !isFirst;', instead: 'const isReplay = false && isFirst;' }],
    test: 'src/features/upstream-login/backchannel-logout.test.ts',
    testName: 'is accepted once, by whichever instance',
  },
  {
    name: 'upstream-logout-nonce',
    what: 'a logout token has no nonce, as ID tokens do',
    attack: 36,
    removals: [{ text: "if (Object.hasOwn(claims, 'nonce')) return wrong('a nonce');" }],
    test: 'src/features/upstream-login/backchannel-logout.test.ts',
    testName: 'with a nonce',
  },
  {
    name: 'upstream-logout-age',
    what: 'a logout token was made within ten minutes',
    attack: 113,
    removals: [{ text: "if (oldAt < now) return wrong('old iat');" }],
    test: 'src/features/upstream-login/backchannel-logout.test.ts',
    testName: 'of eleven minutes ago',
  },
  {
    name: 'upstream-logout-provider',
    what: 'a provider ends sessions that came of itself alone',
    attack: 113,
    removals: [
      {
        text: "'a.provider_id = :providerId::uuid and a.sub = :subject::text',",
        instead: "'a.provider_id is distinct from :providerId::uuid or a.sub = :subject::text',",
      },
    ],
    test: 'src/features/upstream-login/backchannel-logout.test.ts',
    testName: 'ends nothing of another person',
  },
  {
    name: 'upstream-logout-in-flight',
    what: 'a logout token waits for sign-ins that are just being finished',
    attack: 113,
    removals: [{ text: 'await transaction.execute(stopWaiting, { ...parameters, now: new Date(now) });' }],
    test: 'src/features/upstream-login/backchannel-logout.test.ts',
    testName: 'stops a sign-in that waits',
  },
  {
    name: 'upstream-name-conflict',
    what: 'nobody gets an account by its name unless the operator says so',
    attack: 105,
    removals: [{ text: "onConflict === 'fail' || user.isDeactivated", instead: 'user.isDeactivated' }],
    test: 'src/features/upstream-login/claims-import.test.ts',
    testName: '(S-105)',
  },
  {
    name: 'upstream-email-verified',
    what: 'an address that the provider has not verified takes a code',
    attack: 104,
    removals: [{ text: '(isVerified === true || isVerified ===', instead: '(isVerified !== null || isVerified ===' }],
    test: 'src/features/upstream-login/claims-import.test.ts',
    testName: 'whether a provider vouches for an address',
  },
  {
    name: 'upstream-claims-checked',
    what: 'a display name out of a claim is checked like one that was typed',
    attack: 112,
    removals: [{ text: 'return parseDisplayName([...text]', instead: 'return String([...text]' }],
    test: 'src/features/upstream-login/claims-import.test.ts',
    testName: 'that turns the text around',
  },
  {
    name: 'upstream-registration-proof',
    what: 'an identity makes one account',
    attack: 100,
    removals: [
      {
        text: ' and a.answer_sealed is not null and l.user_id is null\n',
        instead: ' and a.answer_sealed is not null\n',
      },
    ],
    test: 'src/features/upstream-login/register-races.test.ts',
    testName: '(S-96, S-100)',
  },
];
