import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const harbor: Preset = {
  slug: 'harbor',
  name: 'Harbor',
  category: 'infrastructure',
  url: { example: 'https://registry.example.org' },
  client: { client_auth_method: 'client_secret_basic', redirect_uris: ['{url}/c/oidc/callback'] },
  scopes: ['openid', 'profile', 'email', 'groups', 'offline_access'],
  groups:
    'Harbor imports the groups of users who sign in. Give them roles in projects; members of *OIDC Admin Group* ' +
    'administer Harbor.',
  steps: [
    {
      kind: 'text',
      text: 'Under *Administration*, *Configuration*, *Authentication*, choose the auth mode *OIDC*. This is possible only while there are no users besides `admin`.',
    },
    {
      kind: 'fields',
      fields: [
        { label: 'OIDC Provider Name', value: 'Latchkey' },
        { label: 'OIDC Endpoint', value: '{issuer}' },
        { label: 'OIDC Client ID', value: '{client_id}' },
        { label: 'OIDC Client Secret', value: '{client_secret}' },
        { label: 'Group Claim Name', value: 'groups' },
        { label: 'OIDC Scope', value: 'openid,profile,email,groups,offline_access' },
        { label: 'Verify Certificate', value: 'on' },
        { label: 'Automatic onboarding', value: 'on' },
        { label: 'Username Claim', value: 'preferred_username' },
      ],
    },
    { kind: 'text', text: 'Choose *Test OIDC Server*, then *Save*.' },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    {
      topic: 'Docker and Helm',
      text: 'They sign in with the *CLI secret* of the user profile. Harbor checks it with the refresh token, so it works only with `offline_access` and while the session in Latchkey lasts.',
    },
  ],
  checked: documented('https://goharbor.io/docs/latest/administration/configure-authentication/oidc-auth/'),
};
