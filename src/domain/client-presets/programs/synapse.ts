import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const synapse: Preset = {
  slug: 'synapse',
  name: 'Synapse as an application',
  category: 'chat',
  url: { example: 'https://matrix.example.org', note: '`public_baseurl` of Synapse.' },
  client: {
    client_auth_method: 'client_secret_basic',
    redirect_uris: ['{url}/_synapse/client/oidc/callback'],
    backchannel_logout_uri: '{url}/_synapse/client/oidc/backchannel_logout',
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: '`attribute_requirements` with the attribute `groups` admits only members of a group.',
  steps: [
    {
      kind: 'text',
      text: 'For a Synapse that keeps its own accounts and offers Latchkey as single sign-on:',
    },
    {
      kind: 'file',
      name: 'homeserver.yaml',
      language: 'yml',
      content: `oidc_providers:
  - idp_id: latchkey
    idp_name: Latchkey
    issuer: {issuer}
    client_id: {client_id}
    client_secret: {client_secret}
    scopes: [openid, profile, email]
    backchannel_logout_enabled: true
    user_mapping_provider:
      config:
        localpart_template: "{{ user.preferred_username }}"
        display_name_template: "{{ user.name }}"
        email_template: "{{ user.email }}"
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'Yes.' },
  notes: [
    {
      topic: 'Existing accounts',
      text: '`allow_existing_users: true` signs users in to the account with their username, even if it existed before.',
    },
  ],
  checked: tested('program', 'Synapse', '1.163.2', 'synapse'),
};
