/** Lifetimes and bindings of sealed values and remembered proofs, listed in `../sealed-values.ts`. */
import type { Protection } from './protection.ts';

const test = 'test/attacks/sealed-values.test.ts';

export const SEALED: readonly Protection[] = [
  {
    name: 'sealed-cookie-name',
    what: 'the value of one cookie is invalid in another',
    attack: 63,
    removals: [
      {
        text: 'const opened = this.#keys.open(label(cookie), Buffer',
        instead: "const opened = this.#keys.open(label({ name: 'login' }), Buffer",
      },
    ],
    test,
    testName: 'a sealed cookie is invalid under another name',
  },
  {
    name: 'sealed-reauth-session',
    what: 'the request of /reauth that is sent to a provider is bound to one session',
    attack: 123,
    removals: [
      { text: 'return keys.seal(LABEL, String(now), session)', instead: 'return keys.seal(LABEL, String(now))' },
      {
        text: "keys.open(LABEL, Buffer.from(text, 'base64url'), session)",
        instead: "keys.open(LABEL, Buffer.from(text, 'base64url'))",
      },
    ],
    test,
    testName: 'is invalid in another session',
  },
  {
    name: 'sealed-reauth-age',
    what: 'it is valid for an hour',
    attack: 123,
    removals: [
      {
        text: 'opened !== undefined && now - Number(opened.toString()) < LIFETIME_MS',
        instead: 'opened !== undefined',
      },
    ],
    test,
    testName: 'is valid for an hour',
  },
  {
    name: 'sealed-notice-age',
    what: 'a notice is shown for a minute',
    attack: 57,
    removals: [{ text: 'this.#clock.now() - at < LIFETIME_MS', instead: 'at > 0' }],
    test,
    testName: 'a notice is shown for a minute',
  },
  {
    name: 'sealed-logout-use',
    what: 'a posted sign-out request is not treated as confirmed by the user',
    attack: 67,
    removals: [
      {
        text: 'return `logout-request-${use}`;',
        instead: "return use === 'posted' ? 'logout-request' : 'logout-request';",
      },
    ],
    test,
    testName: 'a sign-out request sealed for a URL is invalid in a form',
  },
  {
    name: 'sealed-logout-age',
    what: 'the URL that a posted sign-out request redirects to is valid for an hour',
    attack: 67,
    removals: [
      { text: "if (deps.clock.now() - opened.sealedAt >= POSTED_LIFETIME_MS) throw new LatchkeyError('expired');" },
    ],
    test: 'src/features/end-session/end-session.test.ts',
    testName: 'rejects a continuation URL of it',
  },
  {
    name: 'sealed-ticket-grant',
    what: 'the ticket of a posted authorization request is bound to that request',
    attack: 12,
    removals: [
      { text: 'String(now + TICKET_LIFETIME_MS), id)', instead: 'String(now + TICKET_LIFETIME_MS))' },
      { text: "Buffer.from(ticket, 'base64url'), id)", instead: "Buffer.from(ticket, 'base64url'))" },
    ],
    test,
    testName: 'the ticket of a posted request is valid for a minute and for that request only',
  },
  {
    name: 'sealed-ticket-age',
    what: 'it is valid for a minute',
    attack: 12,
    removals: [{ text: 'opened !== undefined && now < Number(opened.toString())', instead: 'opened !== undefined' }],
    test,
    testName: 'the ticket of a posted request is valid for a minute and for that request only',
  },
  {
    name: 'sealed-sso-login',
    what: 'the render time of a chat consent page is bound to one sign-on',
    attack: 57,
    removals: [
      { text: 'String(deps.clock.now()), login.id)', instead: 'String(deps.clock.now()))' },
      { text: 'open(RENDERED_LABEL, sealed, login.id)', instead: 'open(RENDERED_LABEL, sealed)' },
    ],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: 'ignores the page time of another sign-on',
  },
  {
    name: 'sealed-sso-age',
    what: 'the page is valid for ten minutes',
    attack: 57,
    removals: [
      {
        text: 'opened !== undefined && now - Number(opened.toString()) <= FORM_LIFETIME_MS',
        instead: 'opened !== undefined',
      },
    ],
    test: 'src/features/chat-compat/sso.test.ts',
    testName: 'shows the page again after ten minutes, and then works',
  },
  {
    name: 'proof-nonce-age',
    what: 'a nonce for proofs is valid for five minutes',
    attack: 48,
    removals: [
      { text: 'return age <= NONCE_LIFETIME_MS && age >= -NONCE_AHEAD_MS;', instead: 'return age >= -NONCE_AHEAD_MS;' },
    ],
    test: 'test/attacks/dpop.test.ts',
    testName: 'are required, issued, and valid for five minutes on every instance with the setting',
  },
  {
    name: 'proof-memory',
    what: 'a used proof is remembered for longer than it is valid',
    attack: 48,
    removals: [{ text: 'const REMEMBERED_MS = 300_000;', instead: 'const REMEMBERED_MS = 2_000;' }],
    test: 'test/attacks/dpop.test.ts',
    testName: 'remembers a proof for as long as it is valid',
  },
  {
    name: 'sealed-upstream-row',
    what: 'data of a sign-in with a provider can only be opened in its own row',
    attack: 110,
    removals: [
      {
        text: 'return `upstream_authorizations|${column}|${id}`;',
        instead: 'return `upstream_authorizations|${column}|${id === undefined}`;',
      },
    ],
    test,
    testName: 'of a sign-in through a provider',
  },
  {
    name: 'sealed-setup-row',
    what: 'the setup of a second factor can only be opened in its own row',
    attack: 90,
    removals: [
      {
        text: 'return `user_pending_logins|setup_sealed|${id}`;',
        instead: 'return `user_pending_logins|setup_sealed|${id === undefined}`;',
      },
    ],
    test,
    testName: 'of the setup of a second factor',
  },
  {
    name: 'sealed-former-secret-column',
    what: 'a former client secret cannot be restored as the current one by a change of the database',
    attack: 168,
    removals: [
      {
        text: "return keys.seal('column', secret, associatedData(uuid, 'former_secret'));",
        instead: "return keys.seal('column', secret, associatedData(uuid, 'client_secret'));",
      },
    ],
    test,
    testName: 'of a former client secret, which is not the current one',
  },
  {
    name: 'sealed-client-secret-row',
    what: 'a client secret can only be opened in the row of its client',
    attack: 168,
    removals: [
      {
        text: "return keys.seal('column', secret, associatedData(uuid, 'client_secret'));",
        instead: "return keys.seal('column', secret, associatedData('', 'client_secret'));",
      },
      {
        text: "const secret = keys.open('column', sealed, associatedData(uuid, name));",
        instead: "const secret = keys.open('column', sealed, associatedData('', name));",
      },
    ],
    test,
    testName: 'of a client secret',
  },
  {
    name: 'sealed-user-code-row',
    what: 'the user code of a device can only be opened in the row of its grant',
    attack: 168,
    removals: [
      {
        text: 'return `oauth2_device_code_grants|user_code|${id}`;',
        instead: 'return `oauth2_device_code_grants|user_code|${id === undefined}`;',
      },
    ],
    test,
    testName: 'of the user code of a device',
  },
  {
    name: 'sealed-registration-token-row',
    what: 'a registration token can only be opened in its own row',
    attack: 168,
    removals: [
      {
        text: 'return `user_registration_tokens|token_sealed|${id}`;',
        instead: 'return `user_registration_tokens|token_sealed|${id === undefined}`;',
      },
    ],
    test,
    testName: 'of a registration token',
  },
  {
    name: 'sealed-secret-key-purpose',
    what: 'a key in the table secret_keys can only be opened in the row of its purpose',
    attack: 168,
    removals: [
      {
        text: 'return `secret_keys|key_sealed|${purpose}`;',
        instead: 'return `secret_keys|key_sealed|${purpose === undefined}`;',
      },
    ],
    test,
    testName: 'of a key that survives a root key change',
  },
  {
    name: 'exchange-scope-of-now',
    what: 'a scope removed from token exchange is rejected, even if the client was allowed to use it before',
    attack: 42,
    removals: [
      {
        text: ' && isExchangeable(scopeRules, scope);',
        instead: " && (isExchangeable(scopeRules, scope) || scope !== '');",
      },
    ],
    test: 'test/attacks/token-exchange.test.ts',
    testName: 'leave out a scope that no client may exchange',
  },
  {
    name: 'csrf-after-last-factor',
    what: 'the form token is rotated with the last factor',
    attack: 61,
    removals: [
      {
        text: 'deps.csrf.rotate(context);\n  return redirect(target);\n}\n\n/** Returns the response if the last',
        instead: 'return redirect(target);\n}\n\n/** Returns the response if the last',
      },
    ],
    test: 'src/features/second-factor/second-factor.test.ts',
    testName: 'then the code rotates the form token',
  },
];
