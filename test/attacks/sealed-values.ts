/**
 * Every value that leaves the service sealed or is stored sealed, and every one-time proof that is remembered. A test
 * compares the list with the source, so that new ones cannot be forgotten.
 */
interface SealedValue {
  readonly what: string;
  /** The file that seals or remembers it. */
  readonly file: string;
  /** The label as written in the source. */
  readonly label: string;
  /** How long it is valid. `row`: as long as its row exists. */
  readonly lifetime: string;
  /** What it is bound to and useless without. */
  readonly bindings: readonly string[];
  /** Entries of `protections/` that remove a binding or the lifetime. */
  readonly protections: readonly string[];
}

const ROW = 'row';

export const SEALED_VALUES: readonly SealedValue[] = [
  {
    what: 'value of a cookie',
    file: 'src/platform/http/cookies.ts',
    label: 'seal(label(cookie)',
    lifetime: 'that of the document in it: `flow-cookies.test.ts`, `csrf.test.ts`',
    bindings: ['name of the cookie'],
    protections: ['sealed-cookie-name'],
  },
  {
    what: 'request of /reauth that goes to a provider',
    file: 'src/browser/upstream-reauth.ts',
    label: 'LABEL',
    lifetime: '1 hour',
    bindings: ['browser session'],
    protections: ['sealed-reauth-session', 'sealed-reauth-age'],
  },
  {
    what: 'notice in the URL of the next page',
    file: 'src/browser/notices.tsx',
    label: 'LABEL',
    lifetime: '1 minute',
    bindings: [],
    protections: ['sealed-notice-age'],
  },
  {
    what: 'sign-out request of a client',
    file: 'src/browser/logout-request.ts',
    label: 'label(use)',
    lifetime: '1 hour in an address; in a form that of the form',
    bindings: ['address or form'],
    protections: ['sealed-logout-use', 'sealed-logout-age'],
  },
  {
    what: 'ticket of a browser that posted an authorization request',
    file: 'src/features/authorization/browser-binding.ts',
    label: 'TICKET_LABEL',
    lifetime: '1 minute',
    bindings: ['authorization request'],
    protections: ['sealed-ticket-grant', 'sealed-ticket-age'],
  },
  {
    what: 'page that asks about a chat client',
    file: 'src/features/chat-compat/complete-sso.tsx',
    label: 'RENDERED_LABEL',
    lifetime: '10 minutes',
    bindings: ['sign-in of the chat client'],
    protections: ['sealed-sso-login', 'sealed-sso-age'],
  },
  {
    what: 'nonce for DPoP proofs',
    file: 'src/oauth-endpoint/dpop-proofs.ts',
    label: 'NONCE_LABEL',
    lifetime: '5 minutes',
    bindings: [],
    protections: ['proof-nonce', 'proof-nonce-age'],
  },
  {
    what: 'secrets of a sign-in through a provider',
    file: 'src/domain/upstream/sealed-columns.ts',
    label: "associatedData('secrets', id)",
    lifetime: ROW,
    bindings: ['column', 'row'],
    protections: ['sealed-upstream-row'],
  },
  {
    what: 'response of a provider',
    file: 'src/domain/upstream/sealed-columns.ts',
    label: "associatedData('answer', id)",
    lifetime: ROW,
    bindings: ['column', 'row'],
    protections: ['sealed-upstream-row'],
  },
  {
    what: 'app and recovery codes during the required setup of a second factor',
    file: 'src/domain/second-factors/factor-setup.ts',
    label: 'associatedData(id)',
    lifetime: ROW,
    bindings: ['pending login'],
    protections: ['sealed-setup-row'],
  },
  {
    what: 'secret of an authenticator app',
    file: 'src/domain/records/totp-secret.ts',
    label: 'sealedFor(table, id)',
    lifetime: ROW,
    bindings: ['table', 'row'],
    protections: ['totp-secret-bound'],
  },
  {
    what: 'client secret',
    file: 'src/domain/clients/client.ts',
    label: "associatedData(uuid, 'client_secret')",
    lifetime: ROW,
    bindings: ['client'],
    protections: ['sealed-client-secret-row'],
  },
  {
    what: 'client secret before a rotation',
    file: 'src/domain/clients/client.ts',
    label: "associatedData(uuid, 'former_secret')",
    lifetime: ROW,
    bindings: ['column', 'client'],
    protections: ['sealed-client-secret-row', 'sealed-former-secret-column'],
  },
  {
    what: 'user code of a device',
    file: 'src/domain/authorizations/device-code-grant.ts',
    label: 'associatedData(id)',
    lifetime: ROW,
    bindings: ['column', 'device grant'],
    protections: ['sealed-user-code-row'],
  },
  {
    what: 'registration token',
    file: 'src/domain/accounts/registrations/issue-registration-token.ts',
    label: 'sealedFor(id)',
    lifetime: ROW,
    bindings: ['column', 'registration token'],
    protections: ['sealed-registration-token-row'],
  },
  {
    what: 'key of the database for HMACs',
    file: 'src/domain/keys/secret-keys.ts',
    label: 'associatedData(purpose)',
    lifetime: ROW,
    bindings: ['column', 'purpose'],
    protections: ['sealed-secret-key-purpose'],
  },
  {
    what: 'DPoP proof',
    file: 'src/oauth-endpoint/dpop-proofs.ts',
    label: "kind: 'dpop-proof'",
    lifetime: '5 minutes, longer than a proof is good for',
    bindings: ['key'],
    protections: ['proof-once', 'proof-memory'],
  },
  {
    what: 'client assertion',
    file: 'src/oauth-endpoint/client-authentication.ts',
    label: "kind: 'client-assertion'",
    lifetime: 'until the assertion expires',
    bindings: ['client'],
    protections: ['assertion-once'],
  },
  {
    what: 'logout token of a provider',
    file: 'src/domain/upstream/provider-logout.ts',
    label: "kind: 'upstream-logout'",
    lifetime: 'until the token expires',
    bindings: ['provider'],
    protections: ['upstream-logout-replay'],
  },
  {
    what: 'one-time code',
    file: 'src/domain/second-factors/consume-totp-code.ts',
    label: "kind: 'totp-code'",
    lifetime: '1 day',
    bindings: ['secret'],
    protections: ['totp-step-once', 'totp-step-remembered'],
  },
];
