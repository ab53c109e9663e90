import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const apache: Preset = {
  slug: 'apache',
  name: 'Apache with mod_auth_openidc',
  category: 'proxy',
  url: { example: 'https://www.example.org/private', note: 'The URL of the protected directory.' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/callback'],
    post_logout_redirect_uris: ['{url}/'],
    backchannel_logout_uri: '{url}/callback?logout=backchannel',
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups:
    '`Require claim groups:NAME` in place of `Require valid-user` admits members of a group. A user removed from a group ' +
    "keeps access until the module's session ends.",
  steps: [
    {
      kind: 'file',
      name: 'Configuration of Apache',
      language: 'apache',
      content: `OIDCProviderMetadataURL {discovery}
OIDCClientID {client_id}
OIDCClientSecret {client_secret}
OIDCRedirectURI {url}/callback
OIDCCryptoPassphrase another-secret-of-your-own
OIDCScope "openid profile email groups"
OIDCPKCEMethod S256
OIDCRemoteUserClaim preferred_username
<Location /private>
  AuthType openid-connect
  Require valid-user
</Location>
`,
    },
  ],
  signOut: {
    fromProgram:
      'With a link to `{url}/callback?logout={url%}%2F`. The module revokes its tokens first, so users have to confirm. ' +
      '`OIDCProviderRevocationEndpoint ""` prevents that, but Debian 12 does not accept the empty value.',
    fromService: "Yes, with sessions in the server's cache, which is the default.",
  },
  notes: [
    {
      topic: 'Variables for the application',
      text:
        '`REMOTE_USER`, set by `OIDCRemoteUserClaim`; without that line it is `sub` and the issuer. `OIDC_CLAIM_name`, ' +
        '`OIDC_CLAIM_email` and so on, as variables and headers.',
    },
    { topic: 'Access for one user', text: '`Require claim preferred_username:anna`' },
    {
      topic: '404 at the callback URL',
      text: 'The URL must be below a protected path and must not match an existing file.',
    },
  ],
  checked: tested('program', 'mod_auth_openidc', '2.4.12', 'mod-auth-openidc'),
};
