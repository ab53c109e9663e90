import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const vikunja: Preset = {
  slug: 'vikunja',
  name: 'Vikunja',
  category: 'documents',
  url: { example: 'https://tasks.example.org' },
  client: { client_auth_method: 'client_secret_basic', redirect_uris: ['{url}/auth/openid/latchkey'] },
  scopes: ['openid', 'profile', 'email'],
  groups: undefined,
  steps: [
    {
      kind: 'file',
      name: 'config.yml of Vikunja',
      language: 'yml',
      content: `service:
  publicurl: {url}/
auth:
  local:
    enabled: false
  openid:
    enabled: true
    providers:
      latchkey:
        name: Latchkey
        authurl: {issuer}
        logouturl: {logout}
        clientid: {client_id}
        clientsecret: {client_secret}
        scope: openid profile email
`,
    },
  ],
  signOut: { fromProgram: 'Yes. Users have to confirm.', fromService: 'No.' },
  notes: [
    {
      topic: 'Existing users',
      text: 'Users of Vikunja with a password are other accounts. `emailfallback: true` below the provider links them by email address.',
    },
    { topic: 'Passwords', text: 'Remove `local` to keep the form for passwords.' },
  ],
  checked: documented('https://vikunja.io/docs/openid/'),
};
