import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const discourse: Preset = {
  slug: 'discourse',
  name: 'Discourse',
  category: 'community',
  url: { example: 'https://forum.example.org' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/auth/oidc/callback'],
    post_logout_redirect_uris: ['{url}'],
  },
  scopes: ['openid', 'profile', 'email'],
  groups: undefined,
  steps: [
    {
      kind: 'text',
      text: 'The plugin *OpenID Connect* is part of Discourse. Enter its settings under *Admin*, *Plugins*:',
    },
    {
      kind: 'fields',
      fields: [
        { label: 'openid connect enabled', value: 'on' },
        { label: 'openid connect discovery document', value: '{discovery}' },
        { label: 'openid connect client id', value: '{client_id}' },
        { label: 'openid connect client secret', value: '{client_secret}' },
        { label: 'openid connect authorize scope', value: 'openid profile email' },
        { label: 'openid connect use pkce', value: 'on' },
        { label: 'openid connect rp initiated logout', value: 'on' },
        { label: 'openid connect rp initiated logout redirect', value: '{url}' },
      ],
    },
  ],
  signOut: { fromProgram: 'Yes, with the last two settings.', fromService: 'No.' },
  notes: [
    {
      topic: 'Existing accounts',
      text:
        '*openid connect match by email* links the account with the same email address. Latchkey sends only confirmed ' +
        'addresses.',
    },
    {
      topic: 'Username',
      text: 'Discourse proposes `preferred_username`. *auth overrides username* keeps it equal.',
    },
  ],
  checked: documented('https://meta.discourse.org/t/discourse-openid-connect/103632'),
};
