import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const bookstack: Preset = {
  slug: 'bookstack',
  name: 'BookStack',
  category: 'documents',
  url: { example: 'https://books.example.org' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/oidc/callback'],
    post_logout_redirect_uris: ['{url}'],
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups:
    'Each sign-in assigns the roles of BookStack whose names, or *External Authentication IDs*, are the names of groups. ' +
    '`OIDC_REMOVE_FROM_GROUPS=true` also removes the others.',
  steps: [
    {
      kind: 'file',
      name: '.env of BookStack',
      language: 'sh',
      content: `APP_URL={url}
AUTH_METHOD=oidc
OIDC_NAME=Latchkey
OIDC_DISPLAY_NAME_CLAIMS=name
OIDC_CLIENT_ID={client_id}
OIDC_CLIENT_SECRET={client_secret}
OIDC_ISSUER={issuer}
OIDC_ISSUER_DISCOVER=true
OIDC_END_SESSION_ENDPOINT=true
OIDC_USER_TO_GROUPS=true
OIDC_GROUPS_CLAIM=groups
OIDC_ADDITIONAL_SCOPES=groups
`,
    },
  ],
  signOut: { fromProgram: 'Yes.', fromService: 'No.' },
  notes: [
    {
      topic: 'Existing users',
      text: 'Set `OIDC_EXTERNAL_ID_CLAIM` only before the first sign-in. An existing user with the same email address cannot sign in until an administrator enters the `sub` as its *External Authentication ID*.',
    },
    { topic: 'Algorithm', text: 'BookStack accepts ID tokens with RS256 only, which is the default of Latchkey.' },
  ],
  checked: documented('https://www.bookstackapp.com/docs/admin/oidc-auth/'),
};
