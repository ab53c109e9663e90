import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const outline: Preset = {
  slug: 'outline',
  name: 'Outline',
  category: 'documents',
  url: { example: 'https://wiki.example.org' },
  client: {
    client_auth_method: 'client_secret_post',
    redirect_uris: ['{url}/auth/oidc.callback'],
    post_logout_redirect_uris: ['{url}/'],
  },
  scopes: ['openid', 'profile', 'email', 'offline_access'],
  groups: undefined,
  steps: [
    {
      kind: 'file',
      name: 'Environment',
      language: 'sh',
      content: `URL={url}
OIDC_CLIENT_ID={client_id}
OIDC_CLIENT_SECRET={client_secret}
OIDC_AUTH_URI={authorize}
OIDC_TOKEN_URI={token}
OIDC_USERINFO_URI={userinfo}
OIDC_LOGOUT_URI="{logout}?client_id={client_id}&post_logout_redirect_uri={url%}%2F"
OIDC_USERNAME_CLAIM=preferred_username
OIDC_DISPLAY_NAME=Latchkey
OIDC_SCOPES="openid profile email"
`,
    },
  ],
  signOut: { fromProgram: 'Yes. Users have to confirm.', fromService: 'No.' },
  notes: [
    {
      topic: 'Users without a confirmed email address',
      text: 'Outline refuses them, because it identifies accounts by address.',
    },
    { topic: 'Access', text: 'Under *Settings*, *Security*, limit the email domains that may join.' },
  ],
  checked: documented('https://docs.getoutline.com/s/hosting/doc/oidc-8CPBm6uC0I'),
};
