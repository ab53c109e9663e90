import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const paperlessNgx: Preset = {
  slug: 'paperless-ngx',
  name: 'Paperless-ngx',
  category: 'documents',
  url: { example: 'https://paperless.example.org' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/accounts/oidc/latchkey/login/callback/'],
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups:
    '`PAPERLESS_SOCIAL_ACCOUNT_SYNC_GROUPS=true` assigns groups of Paperless with the same names at each sign-in. Also ' +
    'add `"SCOPE": ["openid", "profile", "email", "groups"]` next to `OAUTH_PKCE_ENABLED`.',
  steps: [
    {
      kind: 'file',
      name: 'Environment',
      language: 'sh',
      content: `PAPERLESS_URL={url}
PAPERLESS_APPS=allauth.socialaccount.providers.openid_connect
PAPERLESS_SOCIALACCOUNT_PROVIDERS='{"openid_connect": {"OAUTH_PKCE_ENABLED": true, "APPS": [{"provider_id": "latchkey", "name": "Latchkey", "client_id": "{client_id}", "secret": "{client_secret}", "settings": {"server_url": "{issuer}"}}]}}'
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    {
      topic: 'New accounts',
      text:
        'Users who sign in for the first time choose a username. `PAPERLESS_SOCIAL_AUTO_SIGNUP=true` skips this page. ' +
        'They have no permissions until an administrator or a group grants some.',
    },
    {
      topic: 'Existing accounts',
      text: 'Users connect them under *My Profile*, *Connected third-party accounts*.',
    },
    {
      topic: 'Only Latchkey',
      text: '`PAPERLESS_DISABLE_REGULAR_LOGIN=true` hides the form for passwords, and `PAPERLESS_REDIRECT_LOGIN_TO_SSO=true` skips the page.',
    },
    {
      topic: '`invalid_redirect_uri` with http',
      text: 'Paperless does not know that a reverse proxy serves https. Set `PAPERLESS_PROXY_SSL_HEADER`.',
    },
  ],
  checked: tested('library', 'django-allauth', '65.21.1', 'django-allauth'),
};
