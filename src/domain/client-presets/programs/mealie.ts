import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const mealie: Preset = {
  slug: 'mealie',
  name: 'Mealie',
  category: 'home',
  url: { example: 'https://recipes.example.org' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/login'],
    post_logout_redirect_uris: ['{url}/login?direct=1'],
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: '`OIDC_USER_GROUP` admits only members of a group, and members of `OIDC_ADMIN_GROUP` are administrators.',
  steps: [
    {
      kind: 'file',
      name: 'Environment',
      language: 'sh',
      content: `BASE_URL={url}
OIDC_AUTH_ENABLED=true
OIDC_PROVIDER_NAME=Latchkey
OIDC_CONFIGURATION_URL={discovery}
OIDC_CLIENT_ID={client_id}
OIDC_CLIENT_SECRET={client_secret}
OIDC_SIGNUP_ENABLED=true
OIDC_USER_GROUP=mealie-users
OIDC_ADMIN_GROUP=mealie-admins
`,
    },
  ],
  signOut: { fromProgram: 'Yes.', fromService: 'No.' },
  notes: [{ topic: 'All users', text: 'Remove `OIDC_USER_GROUP`.' }],
  checked: tested('library', 'Authlib', '1.9.9', 'mealie-authlib'),
};
