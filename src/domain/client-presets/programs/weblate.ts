import { tested } from './checks.ts';
import type { Preset } from './preset.ts';

export const weblate: Preset = {
  slug: 'weblate',
  name: 'Weblate',
  category: 'code',
  url: { example: 'https://translate.example.org' },
  client: { client_auth_method: 'client_secret_basic', redirect_uris: ['{url}/accounts/complete/oidc/'] },
  scopes: ['openid', 'profile', 'email'],
  groups: undefined,
  steps: [
    {
      kind: 'file',
      name: 'settings.py',
      language: 'python',
      content: `AUTHENTICATION_BACKENDS = (
    "social_core.backends.open_id_connect.OpenIdConnectAuth",
    "social_core.backends.email.EmailAuth",
    "weblate.accounts.auth.WeblateUserBackend",
)
SOCIAL_AUTH_OIDC_OIDC_ENDPOINT = "{issuer}"
SOCIAL_AUTH_OIDC_KEY = "{client_id}"
SOCIAL_AUTH_OIDC_SECRET = "{client_secret}"
SOCIAL_AUTH_OIDC_USE_PKCE = True
SOCIAL_AUTH_OIDC_TITLE = "Latchkey"
`,
    },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    {
      topic: 'Container',
      text: 'Set `WEBLATE_SOCIAL_AUTH_OIDC_OIDC_ENDPOINT`, `WEBLATE_SOCIAL_AUTH_OIDC_KEY` and `WEBLATE_SOCIAL_AUTH_OIDC_SECRET`.',
    },
    { topic: 'Access', text: 'Assign teams in Weblate by email address. It does not use groups.' },
  ],
  checked: tested('library', 'social-auth-core', '7.0.0', 'social-auth'),
};
