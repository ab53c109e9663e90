import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const jupyterhub: Preset = {
  slug: 'jupyterhub',
  name: 'JupyterHub',
  category: 'data',
  url: { example: 'https://hub.example.org' },
  client: { client_auth_method: 'client_secret_basic', redirect_uris: ['{url}/hub/oauth_callback'] },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: '`allowed_groups` admits members of these groups, and members of `admin_groups` are administrators.',
  steps: [
    { kind: 'text', text: 'Install the package `oauthenticator` next to JupyterHub.' },
    {
      kind: 'file',
      name: 'jupyterhub_config.py',
      language: 'python',
      content: `c.JupyterHub.authenticator_class = "generic-oauth"
c.GenericOAuthenticator.client_id = "{client_id}"
c.GenericOAuthenticator.client_secret = "{client_secret}"
c.GenericOAuthenticator.oauth_callback_url = "{url}/hub/oauth_callback"
c.GenericOAuthenticator.authorize_url = "{authorize}"
c.GenericOAuthenticator.token_url = "{token}"
c.GenericOAuthenticator.userdata_url = "{userinfo}"
c.GenericOAuthenticator.login_service = "Latchkey"
c.GenericOAuthenticator.scope = ["openid", "profile", "email", "groups"]
c.GenericOAuthenticator.username_claim = "preferred_username"
c.GenericOAuthenticator.auth_state_groups_key = "oauth_user.groups"
c.GenericOAuthenticator.manage_groups = True
c.GenericOAuthenticator.allowed_groups = {"jupyter-users"}
c.GenericOAuthenticator.admin_groups = {"jupyter-admins"}
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    {
      topic: 'All users',
      text: 'Replace `allowed_groups` with `c.GenericOAuthenticator.allow_all = True`.',
    },
  ],
  checked: tested('program', 'JupyterHub', '6.1.1', 'jupyterhub'),
};
