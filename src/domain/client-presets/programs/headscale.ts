import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const headscale: Preset = {
  slug: 'headscale',
  name: 'Headscale',
  category: 'infrastructure',
  url: { example: 'https://headscale.example.org' },
  client: { client_auth_method: 'client_secret_basic', redirect_uris: ['{url}/oidc/callback'] },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: '`allowed_groups` admits only members of one of these groups.',
  steps: [
    {
      kind: 'file',
      name: 'config.yaml of Headscale',
      language: 'yml',
      content: `server_url: {url}
oidc:
  only_start_if_oidc_is_available: true
  issuer: {issuer}
  client_id: {client_id}
  client_secret: {client_secret}
  scope: [openid, profile, email, groups]
  allowed_groups: [vpn]
  pkce:
    enabled: true
    method: S256
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No. A node stays connected until its key expires.' },
  notes: [{ topic: 'All users', text: 'Remove `allowed_groups`.' }],
  checked: documented('https://headscale.net/stable/ref/oidc/'),
};
