import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const wordpress: Preset = {
  slug: 'wordpress',
  name: 'WordPress',
  category: 'community',
  url: { example: 'https://www.example.org' },
  client: {
    client_auth_method: 'client_secret_post',
    redirect_uris: ['{url}/wp-admin/admin-ajax.php?action=openid-connect-authorize'],
    post_logout_redirect_uris: ['{url}', '{url}/'],
  },
  scopes: ['openid', 'profile', 'email'],
  groups: undefined,
  steps: [
    {
      kind: 'text',
      text: 'Install the plugin *OpenID Connect Generic Client*, and open *Settings*, *OpenID Connect Client*:',
    },
    {
      kind: 'fields',
      fields: [
        { label: 'Client ID', value: '{client_id}' },
        { label: 'Client Secret Key', value: '{client_secret}' },
        { label: 'OpenID Scope', value: 'openid profile email' },
        { label: 'Login Endpoint URL', value: '{authorize}' },
        { label: 'Userinfo Endpoint URL', value: '{userinfo}' },
        { label: 'Token Validation Endpoint URL', value: '{token}' },
        { label: 'End Session Endpoint URL', value: '{logout}' },
        { label: 'Identity Key', value: 'preferred_username' },
        { label: 'Nickname Key', value: 'preferred_username' },
      ],
    },
  ],
  signOut: { fromProgram: 'Yes.', fromService: 'No.' },
  notes: [
    {
      topic: 'Existing accounts',
      text: '*Link Existing Users* links the account with the same username or email address.',
    },
    { topic: 'Roles', text: 'New users get the default role of WordPress. The plugin does not use groups.' },
    {
      topic: '*Alternate Redirect URI*',
      text: 'If it is on, the redirect URI is `{url}/openid-connect-authorize`.',
    },
  ],
  checked: documented('https://wordpress.org/plugins/daggerhart-openid-connect-generic/'),
};
