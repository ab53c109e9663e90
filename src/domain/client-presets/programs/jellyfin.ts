import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const jellyfin: Preset = {
  slug: 'jellyfin',
  name: 'Jellyfin',
  category: 'media',
  url: { example: 'https://media.example.org' },
  client: {
    client_auth_method: 'client_secret_post',
    redirect_uris: ['{url}/sso/OID/redirect/latchkey'],
  },
  scopes: ['openid', 'profile', 'groups'],
  groups: '*Roles* are the groups that are admitted, and *Admin Roles* those whose members administer Jellyfin.',
  steps: [
    {
      kind: 'text',
      text:
        'Install the plugin *SSO Authentication* from the repository ' +
        '`https://raw.githubusercontent.com/9p4/jellyfin-plugin-sso/manifest-release/manifest.json`, and add a provider in ' +
        'its settings:',
    },
    {
      kind: 'fields',
      fields: [
        { label: 'Name of OpenID Provider', value: 'latchkey' },
        { label: 'OpenID Endpoint', value: '{issuer}' },
        { label: 'OpenID Client ID', value: '{client_id}' },
        { label: 'OpenID Secret', value: '{client_secret}' },
        { label: 'Enabled', value: 'on' },
        { label: 'Enable Authorization by Plugin', value: 'on' },
        { label: 'Enable All Folders', value: 'on' },
        { label: 'Roles', value: 'jellyfin-users' },
        { label: 'Admin Roles', value: 'jellyfin-admins' },
        { label: 'Role Claim', value: 'groups' },
        { label: 'Request Additional Scopes', value: 'groups' },
      ],
    },
    {
      kind: 'text',
      text: 'Users sign in at `{url}/sso/OID/start/latchkey`. To link to it, add this under *General*, *Branding*, *Login disclaimer*:',
    },
    {
      kind: 'file',
      name: 'Login disclaimer',
      language: 'html',
      content: `<form action="{url}/sso/OID/start/latchkey">
  <button class="raised block emby-button button-submit">Sign in with Latchkey</button>
</form>
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    { topic: 'Apps and televisions', text: 'They sign in with Quick Connect, from a browser that is signed in.' },
    { topic: 'Username', text: '`preferred_username`. Existing users link their account at `{url}/SSOViews/linking`.' },
    {
      topic: '`invalid_redirect_uri` with http',
      text: 'Jellyfin does not know that a reverse proxy serves https. Set *Scheme Override* to `https`.',
    },
  ],
  checked: documented('https://github.com/9p4/jellyfin-plugin-sso'),
};
