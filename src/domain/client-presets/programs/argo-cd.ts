import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const argoCd: Preset = {
  slug: 'argo-cd',
  name: 'Argo CD',
  category: 'infrastructure',
  url: { example: 'https://argocd.example.org' },
  client: {
    client_auth_method: 'none',
    redirect_uris: ['{url}/auth/callback', '{url}/pkce/verify', 'http://localhost:8085/auth/callback'],
    post_logout_redirect_uris: ['{url}/'],
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: 'Assign roles by group in `argocd-rbac-cm`.',
  steps: [
    {
      kind: 'file',
      name: 'ConfigMap argocd-cm',
      language: 'yml',
      content: `data:
  url: {url}
  oidc.config: |
    name: Latchkey
    issuer: {issuer}
    clientID: {client_id}
    enablePKCEAuthentication: true
    requestedScopes: ["openid", "profile", "email", "groups"]
    logoutURL: {logout}?id_token_hint={{token}}&post_logout_redirect_uri={{logoutRedirectURL}}
`,
    },
    {
      kind: 'file',
      name: 'ConfigMap argocd-rbac-cm',
      language: 'yml',
      content: `data:
  policy.csv: |
    g, argocd-admins, role:admin
  policy.default: role:readonly
  scopes: '[groups, email]'
`,
    },
  ],
  signOut: { fromProgram: 'Yes.', fromService: 'No.' },
  notes: [
    {
      topic: 'Command line',
      text: '`argocd login HOST --sso` uses the same client. It waits at `http://localhost:8085`, and any port works.',
    },
    {
      topic: 'Client with a secret',
      text:
        'Older versions without `enablePKCEAuthentication` need one: create the client with ' +
        '`--auth-method client_secret_basic`, and set `clientSecret`. The command line then needs a second, public client ' +
        'in `cliClientID`.',
    },
  ],
  checked: documented('https://argo-cd.readthedocs.io/en/stable/operator-manual/user-management/'),
};
