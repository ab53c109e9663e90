import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const gitlab: Preset = {
  slug: 'gitlab',
  name: 'GitLab',
  category: 'code',
  url: { example: 'https://gitlab.example.org' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/users/auth/openid_connect/callback'],
    post_logout_redirect_uris: ['{url}/'],
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups:
    'In GitLab Premium and Ultimate, `gitlab: { groups_attribute: "groups", required_groups: ["gitlab-users"], ' +
    'admin_groups: ["gitlab-admins"] }` in `client_options` admits members of a group and makes members of another ' +
    'administrators. Also add `groups` to `scope`.',
  steps: [
    {
      kind: 'file',
      name: '/etc/gitlab/gitlab.rb',
      language: 'ruby',
      content: `external_url "{url}"
gitlab_rails['omniauth_allow_single_sign_on'] = ['openid_connect']
gitlab_rails['omniauth_block_auto_created_users'] = false
gitlab_rails['omniauth_providers'] = [
  {
    name: "openid_connect",
    label: "Latchkey",
    args: {
      name: "openid_connect",
      scope: ["openid", "profile", "email"],
      response_type: "code",
      issuer: "{issuer}",
      discovery: true,
      client_auth_method: "basic",
      uid_field: "sub",
      send_scope_to_token_endpoint: "false",
      pkce: true,
      client_options: {
        identifier: "{client_id}",
        secret: "{client_secret}",
        redirect_uri: "{url}/users/auth/openid_connect/callback"
      }
    }
  }
]
`,
    },
    { kind: 'command', content: 'gitlab-ctl reconfigure' },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    { topic: 'Name of the provider', text: '`name` must be `openid_connect`. It is part of the callback.' },
    {
      topic: 'Existing accounts',
      text:
        'Users link them under *Profile*, *Account*. `omniauth_auto_link_user` with `["openid_connect"]` links them by ' +
        'email address. Latchkey sends only confirmed addresses.',
    },
    {
      topic: 'New accounts',
      text: 'With `omniauth_block_auto_created_users = true`, an administrator of GitLab has to approve each one.',
    },
  ],
  checked: tested('library', 'omniauth_openid_connect', '0.10.0', 'ruby-omniauth'),
};
