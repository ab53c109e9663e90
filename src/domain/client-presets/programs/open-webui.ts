import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const openWebui: Preset = {
  slug: 'open-webui',
  name: 'Open WebUI',
  category: 'ai',
  url: { example: 'https://chat.example.org' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/oauth/oidc/callback'],
    post_logout_redirect_uris: ['{url}/', '{url}/auth'],
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups:
    'With `ENABLE_OAUTH_GROUP_MANAGEMENT=true`, users join groups of the same names at each sign-in. With ' +
    '`ENABLE_OAUTH_ROLE_MANAGEMENT=true` and `OAUTH_ROLES_CLAIM=groups`, the groups in `OAUTH_ALLOWED_ROLES` are ' +
    'admitted, and those in `OAUTH_ADMIN_ROLES` are administrators.',
  steps: [
    {
      kind: 'file',
      name: 'Environment',
      language: 'sh',
      content: `WEBUI_URL={url}
ENABLE_OAUTH_SIGNUP=true
OAUTH_PROVIDER_NAME=Latchkey
OPENID_PROVIDER_URL={discovery}
OPENID_REDIRECT_URI={url}/oauth/oidc/callback
OAUTH_CLIENT_ID={client_id}
OAUTH_CLIENT_SECRET={client_secret}
OAUTH_SCOPES="openid email profile groups"
OAUTH_CODE_CHALLENGE_METHOD=S256
ENABLE_OAUTH_GROUP_MANAGEMENT=true
OAUTH_GROUPS_CLAIM=groups
`,
    },
  ],
  signOut: { fromProgram: 'Yes.', fromService: 'No.' },
  notes: [
    {
      topic: 'Existing accounts',
      text:
        '`OAUTH_MERGE_ACCOUNTS_BY_EMAIL=true` links the account with the same email address. Latchkey sends only confirmed ' +
        'addresses.',
    },
    {
      topic: 'Changed variables have no effect',
      text: 'Open WebUI stores these settings at the first start. Set `ENABLE_OAUTH_PERSISTENT_CONFIG=false`.',
    },
    { topic: 'Users without a confirmed email address', text: 'Open WebUI refuses them.' },
  ],
  checked: tested('library', 'Authlib', '1.9.9', 'flask-authlib'),
};
