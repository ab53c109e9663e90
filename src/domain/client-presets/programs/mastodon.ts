import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const mastodon: Preset = {
  slug: 'mastodon',
  name: 'Mastodon',
  category: 'community',
  url: { example: 'https://social.example.org', note: 'The URL of the web interface (`WEB_DOMAIN`).' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/auth/auth/openid_connect/callback'],
    post_logout_redirect_uris: ['{url}/'],
  },
  scopes: ['openid', 'profile', 'email'],
  groups: undefined,
  steps: [
    {
      kind: 'file',
      name: '.env.production',
      language: 'sh',
      content: `OIDC_ENABLED=true
OIDC_DISPLAY_NAME=Latchkey
OIDC_ISSUER={issuer}
OIDC_DISCOVERY=true
OIDC_SCOPE=openid,profile,email
OIDC_UID_FIELD=preferred_username
OIDC_CLIENT_ID={client_id}
OIDC_CLIENT_SECRET={client_secret}
OIDC_REDIRECT_URI={url}/auth/auth/openid_connect/callback
OIDC_USE_PKCE=true
OIDC_SECURITY_ASSUME_EMAIL_IS_VERIFIED=true
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    { topic: 'Scopes', text: '`OIDC_SCOPE` is separated by commas.' },
    {
      topic: 'Username',
      text:
        '`preferred_username` becomes the account name, which cannot change afterwards. Mastodon allows letters, digits ' +
        'and `_`.',
    },
    {
      topic: '`OIDC_SECURITY_ASSUME_EMAIL_IS_VERIFIED`',
      text: 'Links existing accounts by email address. This is safe, because Latchkey sends only confirmed addresses.',
    },
    { topic: 'Only Latchkey', text: '`OMNIAUTH_ONLY=true` hides the form for passwords.' },
  ],
  checked: tested('library', 'omniauth_openid_connect', '0.10.0', 'ruby-omniauth'),
};
