import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const portainer: Preset = {
  slug: 'portainer',
  name: 'Portainer',
  category: 'infrastructure',
  url: { example: 'https://portainer.example.org' },
  client: {
    client_auth_method: 'client_secret_post',
    redirect_uris: ['{url}', '{url}/'],
    post_logout_redirect_uris: ['{url}/'],
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: 'In the Business Edition, *Automatic team membership* assigns teams by the claim name `groups`.',
  steps: [
    {
      kind: 'text',
      text: 'Open *Settings*, *Authentication*, choose *OAuth* and the provider *Custom*:',
    },
    {
      kind: 'fields',
      fields: [
        { label: 'Use SSO', value: 'on' },
        { label: 'Automatic user provisioning', value: 'on' },
        { label: 'Client ID', value: '{client_id}' },
        { label: 'Client secret', value: '{client_secret}' },
        { label: 'Authorization URL', value: '{authorize}' },
        { label: 'Access token URL', value: '{token}' },
        { label: 'Resource URL', value: '{userinfo}' },
        { label: 'Redirect URL', value: '{url}' },
        { label: 'Logout URL', value: '{logout}?client_id={client_id}&post_logout_redirect_uri={url%}%2F' },
        { label: 'User identifier', value: 'preferred_username' },
        { label: 'Scopes', value: 'openid profile email groups' },
      ],
    },
  ],
  signOut: { fromProgram: 'Yes. Users have to confirm.', fromService: 'No.' },
  notes: [
    { topic: 'Scopes', text: 'Separated by spaces. The comma of the default is not accepted.' },
    { topic: 'Permissions', text: 'New users see no environment until they are in a team that may use one.' },
  ],
  checked: tested('library', 'golang.org/x/oauth2', '0.37.0', 'grafana-oauth2'),
};
