import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const miniflux: Preset = {
  slug: 'miniflux',
  name: 'Miniflux',
  category: 'media',
  url: { example: 'https://reader.example.org' },
  client: { client_auth_method: 'client_secret_basic', redirect_uris: ['{url}/oauth2/oidc/callback'] },
  scopes: ['openid', 'profile', 'email'],
  groups: undefined,
  steps: [
    {
      kind: 'file',
      name: 'Environment',
      language: 'sh',
      content: `BASE_URL={url}
OAUTH2_PROVIDER=oidc
OAUTH2_CLIENT_ID={client_id}
OAUTH2_CLIENT_SECRET={client_secret}
OAUTH2_REDIRECT_URL={url}/oauth2/oidc/callback
OAUTH2_OIDC_DISCOVERY_ENDPOINT={issuer}
OAUTH2_OIDC_PROVIDER_NAME=Latchkey
OAUTH2_USER_CREATION=1
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    {
      topic: '`OAUTH2_OIDC_DISCOVERY_ENDPOINT`',
      text: 'The issuer exactly as Latchkey prints it, without `/.well-known/openid-configuration`.',
    },
    { topic: 'Only Latchkey', text: '`DISABLE_LOCAL_AUTH=1` hides the form for passwords.' },
  ],
  checked: tested('program', 'Miniflux', '2.3.5', 'miniflux'),
};
