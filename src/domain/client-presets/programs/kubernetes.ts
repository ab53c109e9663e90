import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const kubernetes: Preset = {
  slug: 'kubernetes',
  name: 'Kubernetes with kubelogin',
  category: 'infrastructure',
  url: undefined,
  client: {
    client_auth_method: 'none',
    application_type: 'native',
    redirect_uris: ['http://localhost:8000'],
    grant_types: ['authorization_code', 'refresh_token', 'urn:ietf:params:oauth:grant-type:device_code'],
  },
  scopes: ['openid', 'profile', 'email', 'groups', 'offline_access'],
  groups:
    'Grant permissions by group: ' +
    '`kubectl create clusterrolebinding ops --clusterrole=cluster-admin --group=latchkey:ops`. A user removed from a ' +
    'group keeps its permissions until the ID token expires.',
  steps: [
    { kind: 'text', text: 'Add these flags to the API server:' },
    {
      kind: 'file',
      name: 'Flags of kube-apiserver',
      language: 'text',
      content: `--oidc-issuer-url={issuer}
--oidc-client-id={client_id}
--oidc-username-claim=preferred_username
--oidc-username-prefix=latchkey:
--oidc-groups-claim=groups
--oidc-groups-prefix=latchkey:
`,
    },
    { kind: 'text', text: 'Add this to the kubeconfig of your users:' },
    {
      kind: 'file',
      name: 'kubeconfig',
      language: 'yml',
      content: `users:
  - name: latchkey
    user:
      exec:
        apiVersion: client.authentication.k8s.io/v1
        interactiveMode: IfAvailable
        command: kubectl
        args:
          - oidc-login
          - get-token
          - --oidc-issuer-url={issuer}
          - --oidc-client-id={client_id}
          - --oidc-extra-scope=profile
          - --oidc-extra-scope=groups
`,
    },
  ],
  signOut: {
    fromProgram: 'No. `kubectl oidc-login clean` deletes the tokens on the computer.',
    fromService: 'No. An ID token stays valid until it expires, after an hour (`oauth.id_token_ttl`).',
  },
  notes: [
    { topic: 'Redirect URI', text: 'Any port works, because the client has no secret.' },
    { topic: 'Issuer', text: 'https only. Use `--oidc-ca-file` for a private certificate authority.' },
    { topic: 'Claims', text: 'Kubernetes reads only the ID token, so keep `id_token_claims` on.' },
    {
      topic: 'Permissions of one user',
      text: '`kubectl create clusterrolebinding anna --clusterrole=view --user=latchkey:anna`',
    },
    {
      topic: 'Very many groups',
      text: 'They are left out of an ID token that would exceed about 8 KiB. Group permissions then do not apply.',
    },
    { topic: 'Machine without a browser', text: '`--grant-type=device-code`' },
    {
      topic: '`oidc: parse username claims "preferred_username": claim not present` in the log of the API server',
      text: '`--oidc-extra-scope=profile` is missing.',
    },
  ],
  checked: documented('https://github.com/int128/kubelogin'),
};
