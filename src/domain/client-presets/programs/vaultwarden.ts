import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const vaultwarden: Preset = {
  slug: 'vaultwarden',
  name: 'Vaultwarden',
  category: 'passwords',
  url: { example: 'https://vault.example.org' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/identity/connect/oidc-signin'],
  },
  scopes: ['openid', 'profile', 'email'],
  groups: undefined,
  steps: [
    {
      kind: 'file',
      name: 'Environment',
      language: 'sh',
      content: `DOMAIN={url}
SSO_ENABLED=true
SSO_AUTHORITY={issuer}
SSO_CLIENT_ID={client_id}
SSO_CLIENT_SECRET={client_secret}
SSO_SCOPES="email profile"
SSO_PKCE=true
SSO_AUTH_ONLY_NOT_SESSION=true
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    {
      topic: 'Master password',
      text: 'Users still enter it, because it decrypts the vault. `SSO_ONLY=true` refuses sign-in with it alone.',
    },
    {
      topic: '`SSO_AUTH_ONLY_NOT_SESSION`',
      text:
        "Vaultwarden's own session tokens are used after sign-in. Without it, sessions last as long as Latchkey's, and " +
        'clients refresh every few minutes, because an access token is valid for five minutes.',
    },
    {
      topic: 'Existing accounts',
      text:
        '`SSO_SIGNUPS_MATCH_EMAIL`, on by default, links the account with the same email address. Latchkey sends only ' +
        'confirmed addresses.',
    },
    {
      topic: 'Trailing slash',
      text: '`SSO_AUTHORITY` has to equal the issuer of Latchkey, which must not end with a slash for Vaultwarden.',
    },
  ],
  checked: documented('https://github.com/dani-garcia/vaultwarden/wiki/Enabling-SSO-support-using-OpenId-Connect'),
};
