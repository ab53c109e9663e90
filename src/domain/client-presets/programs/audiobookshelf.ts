import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const audiobookshelf: Preset = {
  slug: 'audiobookshelf',
  name: 'Audiobookshelf',
  category: 'media',
  url: { example: 'https://books.example.org' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: [
      '{url}/auth/openid/callback',
      '{url}/auth/openid/mobile-redirect',
      '{url}/audiobookshelf/auth/openid/callback',
      '{url}/audiobookshelf/auth/openid/mobile-redirect',
    ],
    post_logout_redirect_uris: ['{url}/login', '{url}/audiobookshelf/login'],
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: 'With *Group Claim*, members of `admin`, `user` and `guest` get this role, and other users are refused.',
  steps: [
    {
      kind: 'text',
      text: 'Open *Settings*, *Authentication*, *OpenID Connect Authentication*. Enter the issuer and press *Auto-populate*:',
    },
    {
      kind: 'fields',
      fields: [
        { label: 'Issuer URL', value: '{issuer}' },
        { label: 'Client ID', value: '{client_id}' },
        { label: 'Client Secret', value: '{client_secret}' },
        { label: 'Signing Algorithm', value: 'RS256' },
        { label: 'Allowed Mobile Redirect URIs', value: 'audiobookshelf://oauth' },
        { label: 'Match existing users by', value: 'username' },
        { label: 'Auto Register', value: 'on' },
      ],
    },
  ],
  signOut: { fromProgram: 'Yes, with *Logout URL*.', fromService: 'No.' },
  notes: [
    {
      topic: 'No way in after a mistake',
      text: '`{url}/login/?autoLaunch=0` shows the form for passwords.',
    },
  ],
  checked: documented('https://www.audiobookshelf.org/guides/oidc_authentication/'),
};
