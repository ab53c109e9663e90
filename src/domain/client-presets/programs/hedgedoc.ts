import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const hedgedoc: Preset = {
  slug: 'hedgedoc',
  name: 'HedgeDoc',
  category: 'documents',
  url: { example: 'https://notes.example.org' },
  client: { client_auth_method: 'client_secret_post', redirect_uris: ['{url}/auth/oauth2/callback'] },
  scopes: ['openid', 'profile', 'email'],
  groups: undefined,
  steps: [
    {
      kind: 'file',
      name: 'Environment',
      language: 'sh',
      content: `CMD_OAUTH2_PROVIDERNAME=Latchkey
CMD_OAUTH2_CLIENT_ID={client_id}
CMD_OAUTH2_CLIENT_SECRET={client_secret}
CMD_OAUTH2_SCOPE="openid profile email"
CMD_OAUTH2_AUTHORIZATION_URL={authorize}
CMD_OAUTH2_TOKEN_URL={token}
CMD_OAUTH2_USER_PROFILE_URL={userinfo}
CMD_OAUTH2_USER_PROFILE_ID_ATTR=sub
CMD_OAUTH2_USER_PROFILE_USERNAME_ATTR=preferred_username
CMD_OAUTH2_USER_PROFILE_DISPLAY_NAME_ATTR=name
CMD_OAUTH2_USER_PROFILE_EMAIL_ATTR=email
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    { topic: 'Only Latchkey', text: '`CMD_EMAIL=false` hides the form for passwords.' },
    {
      topic: 'Redirect URI',
      text: 'HedgeDoc derives it from `CMD_DOMAIN`, `CMD_PROTOCOL_USESSL` and `CMD_URL_ADDPORT`, which must describe the public address.',
    },
  ],
  checked: documented('https://docs.hedgedoc.org/configuration/#oauth2-login'),
};
