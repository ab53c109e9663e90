import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const grafana: Preset = {
  slug: 'grafana',
  name: 'Grafana',
  category: 'monitoring',
  url: { example: 'https://grafana.example.org' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/login/generic_oauth'],
    post_logout_redirect_uris: ['{url}/login'],
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups:
    'Roles are assigned by group, at every sign-in. Team sync in Grafana Enterprise also reads `groups_attribute_path`. ' +
    '`allowed_groups = grafana-users` admits only this group.',
  steps: [
    {
      kind: 'file',
      name: 'grafana.ini',
      language: 'ini',
      content: `[server]
root_url = {url}/

[auth.generic_oauth]
enabled = true
name = Latchkey
client_id = {client_id}
client_secret = {client_secret}
scopes = openid profile email groups
auth_url = {authorize}
token_url = {token}
api_url = {userinfo}
use_pkce = true
use_refresh_token = true
login_attribute_path = preferred_username
name_attribute_path = name
email_attribute_path = email
role_attribute_path = contains(groups[*], 'grafana-admins') && 'Admin' || contains(groups[*], 'grafana-editors') && 'Editor' || 'Viewer'
groups_attribute_path = groups
signout_redirect_url = {logout}?post_logout_redirect_uri={url%}%2Flogin&client_id={client_id}
`,
    },
  ],
  signOut: {
    fromProgram: 'Yes. From version 10.2, Grafana adds the ID token, so users do not have to confirm.',
    fromService: 'No.',
  },
  notes: [
    {
      topic: 'Roles',
      text:
        'Users in neither group become viewers. To refuse them, set `role_attribute_strict = true` and remove `Viewer` ' +
        'from the end. Grafana reads the ID token first, then userinfo. To keep the roles assigned in Grafana, replace ' +
        '`role_attribute_path` with `skip_org_role_sync = true`.',
    },
    {
      topic: 'Server administrators',
      text: 'Set `allow_assign_grafana_admin = true`, and use the role `GrafanaAdmin` in place of `Admin`.',
    },
    { topic: '"required attribute email was not provided"', text: 'The account has no confirmed address.' },
    { topic: '`invalid_redirect_uri` with `http://localhost:3000`', text: '`root_url` is missing.' },
  ],
  checked: tested('library', 'golang.org/x/oauth2', '0.37.0', 'grafana-oauth2'),
};
