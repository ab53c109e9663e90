import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const keycloak: Preset = {
  slug: 'keycloak',
  name: 'Keycloak as a broker',
  category: 'proxy',
  url: { example: 'https://keycloak.example.org/realms/staff', note: 'The URL of the realm.' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/broker/latchkey/endpoint'],
    post_logout_redirect_uris: ['{url}/broker/latchkey/endpoint/logout_response'],
    backchannel_logout_uri: '{url}/protocol/openid-connect/logout/backchannel-logout',
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: 'With a mapper for the claim.',
  steps: [
    { kind: 'text', text: 'Open *Identity providers*, *OpenID Connect v1.0*:' },
    {
      kind: 'fields',
      fields: [
        { label: 'Alias', value: 'latchkey' },
        { label: 'Discovery endpoint', value: '{discovery}' },
        { label: 'Client authentication', value: 'Client secret sent as basic auth' },
        { label: 'Client ID', value: '{client_id}' },
        { label: 'Client Secret', value: '{client_secret}' },
        { label: 'Scopes', value: 'openid profile email groups' },
        { label: 'Use PKCE', value: 'on, with S256' },
        { label: 'Trust email', value: 'on' },
      ],
    },
  ],
  signOut: { fromProgram: 'Yes.', fromService: 'Yes.' },
  notes: [
    { topic: 'Alias', text: 'It is part of the redirect URI.' },
    { topic: '*Trust email*', text: 'Latchkey sends only confirmed addresses.' },
    {
      topic: 'First and last name',
      text:
        'Keycloak requires both and derives them from `name`. Users whose name is a single word have to enter the rest at ' +
        "their first sign-in, unless Keycloak's first login flow skips the profile review.",
    },
  ],
  checked: documented('https://www.keycloak.org/docs/latest/server_admin/index.html'),
};
