import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const minio: Preset = {
  slug: 'minio',
  name: 'MinIO',
  category: 'files',
  url: { example: 'https://minio.example.org', note: 'The URL of the MinIO Console.' },
  client: { client_auth_method: 'client_secret_basic', redirect_uris: ['{url}/oauth_callback'] },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: 'The user gets the MinIO policies that have the names of the groups.',
  steps: [
    {
      kind: 'file',
      name: 'Environment of the MinIO server',
      language: 'sh',
      content: `MINIO_BROWSER_REDIRECT_URL={url}
MINIO_IDENTITY_OPENID_CONFIG_URL={discovery}
MINIO_IDENTITY_OPENID_CLIENT_ID={client_id}
MINIO_IDENTITY_OPENID_CLIENT_SECRET={client_secret}
MINIO_IDENTITY_OPENID_CLAIM_NAME=groups
MINIO_IDENTITY_OPENID_SCOPES=openid,profile,email,groups
MINIO_IDENTITY_OPENID_REDIRECT_URI={url}/oauth_callback
MINIO_IDENTITY_OPENID_DISPLAY_NAME=Latchkey
`,
    },
    { kind: 'text', text: 'Create a policy for each group, with the name of the group:' },
    { kind: 'command', content: 'mc admin policy create ALIAS minio-admins policy.json' },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    {
      topic: 'No button for sign-in',
      text:
        'The console of community releases after `RELEASE.2025-04-22T22-12-26Z` has no OpenID Connect sign-in. The API of ' +
        'the security token service still accepts ID tokens.',
    },
    {
      topic: 'One policy for everyone',
      text: 'Replace `CLAIM_NAME` with `MINIO_IDENTITY_OPENID_ROLE_POLICY=readwrite`.',
    },
    {
      topic: 'Access denied after sign-in',
      text: 'The user is in no group that has a policy.',
    },
  ],
  checked: documented(
    'https://docs.min.io/community/minio-object-store/reference/minio-server/settings/iam/openid.html',
  ),
};
