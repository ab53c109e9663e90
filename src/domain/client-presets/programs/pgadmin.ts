import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const pgadmin: Preset = {
  slug: 'pgadmin',
  name: 'pgAdmin',
  category: 'data',
  url: { example: 'https://pgadmin.example.org' },
  client: { client_auth_method: 'client_secret_basic', redirect_uris: ['{url}/oauth2/authorize'] },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups:
    'Users without one of the groups in `OAUTH2_ADDITIONAL_CLAIMS` are refused. Remove the line to admit all users.',
  steps: [
    {
      kind: 'file',
      name: 'config_local.py of pgAdmin',
      language: 'python',
      content: `AUTHENTICATION_SOURCES = ['oauth2', 'internal']
OAUTH2_AUTO_CREATE_USER = True
OAUTH2_CONFIG = [{
    'OAUTH2_NAME': 'latchkey',
    'OAUTH2_DISPLAY_NAME': 'Latchkey',
    'OAUTH2_CLIENT_ID': '{client_id}',
    'OAUTH2_CLIENT_SECRET': '{client_secret}',
    'OAUTH2_SERVER_METADATA_URL': '{discovery}',
    'OAUTH2_AUTHORIZATION_URL': '{authorize}',
    'OAUTH2_TOKEN_URL': '{token}',
    'OAUTH2_API_BASE_URL': '{issuer}',
    'OAUTH2_USERINFO_ENDPOINT': '{userinfo}',
    'OAUTH2_SCOPE': 'openid profile email groups',
    'OAUTH2_USERNAME_CLAIM': 'preferred_username',
    'OAUTH2_ADDITIONAL_CLAIMS': {'groups': ['database-administrators']},
    'OAUTH2_CHALLENGE_METHOD': 'S256',
    'OAUTH2_RESPONSE_TYPE': 'code',
}]
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    {
      topic: 'Users without a confirmed email address',
      text: 'pgAdmin refuses them, because it requires the claim `email`.',
    },
    {
      topic: 'Passwords of databases',
      text: 'Set `MASTER_PASSWORD_REQUIRED = True`, so that pgAdmin can encrypt them.',
    },
  ],
  checked: documented('https://www.pgadmin.org/docs/pgadmin4/latest/oauth2.html'),
};
