import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const immich: Preset = {
  slug: 'immich',
  name: 'Immich',
  category: 'media',
  url: { example: 'https://photos.example.org' },
  client: {
    client_auth_method: 'client_secret_post',
    redirect_uris: ['{url}/auth/login', '{url}/user-settings', 'app.immich:///oauth-callback'],
    post_logout_redirect_uris: ['{url}/auth/login'],
  },
  scopes: ['openid', 'profile', 'email'],
  groups: undefined,
  steps: [
    { kind: 'text', text: 'Open *Administration*, *Settings*, *Authentication Settings*, *OAuth*:' },
    {
      kind: 'fields',
      fields: [
        { label: 'Issuer URL', value: '{issuer}' },
        { label: 'Client ID', value: '{client_id}' },
        { label: 'Client Secret', value: '{client_secret}' },
        { label: 'Scope', value: 'openid email profile' },
        { label: 'Token Endpoint Auth Method', value: 'client_secret_post' },
        { label: 'ID Token Signed Response Algorithm', value: 'RS256' },
        { label: 'Storage Label Claim', value: 'preferred_username' },
        { label: 'Auto Register', value: 'on' },
      ],
    },
  ],
  signOut: { fromProgram: 'Yes. Users have to confirm.', fromService: 'No.' },
  notes: [
    {
      topic: 'Mobile apps',
      text:
        'They return to `app.immich:///oauth-callback`. If you use *Mobile Redirect URI Override*, add ' +
        '`{url}/api/oauth/mobile-redirect` to the redirect URIs instead.',
    },
    { topic: 'Several addresses', text: 'Add both redirect URIs for every URL under which Immich is opened.' },
    {
      topic: 'Existing accounts',
      text: 'Immich links an account with the same email address. Latchkey sends only confirmed addresses.',
    },
    {
      topic: 'Administrators',
      text:
        'The claim in *Role Claim* (default `immich_role`) with the value `admin` makes an account an administrator when ' +
        'it is created. Set it as a custom claim of the account in Latchkey.',
    },
  ],
  checked: tested('library', 'openid-client', '6.8.9', 'immich-openid-client'),
};
