import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const dex: Preset = {
  slug: 'dex',
  name: 'dex',
  category: 'proxy',
  url: { example: 'https://dex.example.org', note: 'The issuer of dex.' },
  client: { client_auth_method: 'client_secret_basic', redirect_uris: ['{url}/callback'] },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: 'Newer versions forward them with `scopes: [profile, email, groups]` and `insecureEnableGroups: true`.',
  steps: [
    { kind: 'text', text: 'dex signs users in with Latchkey and issues tokens of its own to its clients.' },
    {
      kind: 'file',
      name: 'Configuration of dex',
      language: 'yml',
      content: `connectors:
  - type: oidc
    id: latchkey
    name: Latchkey
    config:
      issuer: {issuer}
      clientID: {client_id}
      clientSecret: {client_secret}
      redirectURI: {url}/callback
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    { topic: 'Start', text: 'dex reads the discovery document when it starts. Start Latchkey first.' },
    {
      topic: 'Claims',
      text: 'dex reads `name`, `email` and `email_verified` from the ID token, so keep `id_token_claims` on.',
    },
    {
      topic: 'Users without a confirmed email address',
      text: 'Newer versions refuse them unless the dex client does not need `email`.',
    },
  ],
  checked: tested('program', 'dex', '2.13', 'dex'),
};
