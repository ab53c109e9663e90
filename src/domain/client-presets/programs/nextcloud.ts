import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const nextcloud: Preset = {
  slug: 'nextcloud',
  name: 'Nextcloud',
  category: 'files',
  url: { example: 'https://cloud.example.org' },
  client: {
    client_auth_method: 'client_secret_post',
    redirect_uris: ['{url}/apps/user_oidc/code', '{url}/index.php/apps/user_oidc/code'],
    post_logout_redirect_uris: ['{url}/'],
    backchannel_logout_uri: '{url}/index.php/apps/user_oidc/backchannel-logout/latchkey',
  },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups:
    '`--group-provisioning=1` creates the groups in Nextcloud and updates memberships at each sign-in. ' +
    "`--group-whitelist-regex='/^cloud-/'` limits this to matching groups. Leave out `admin` unless you want to grant " +
    'Nextcloud administration.',
  steps: [
    { kind: 'text', text: 'Install the app *OpenID Connect user backend* (`user_oidc`), then run:' },
    {
      kind: 'command',
      content: `occ user_oidc:provider latchkey \\
  --clientid={client_id} --clientsecret={client_secret} \\
  --discoveryuri={discovery} \\
  --scope="openid profile email groups" --mapping-groups=groups --group-provisioning=1 --send-id-token-hint=1`,
    },
  ],
  signOut: {
    fromProgram: 'Yes. With `--send-id-token-hint=1` users do not have to confirm.',
    fromService: 'Yes. `backchannel_logout_uri` ends with the identifier of the provider, here `latchkey`.',
  },
  notes: [
    { topic: 'Name, address', text: '`name` and `email` need no mapping.' },
    {
      topic: 'Secret',
      text:
        'In newer versions, `--clientsecret-file=FILE` in place of `--clientsecret` keeps the secret out of the process ' +
        'list.',
    },
    {
      topic: 'User ID',
      text:
        'A hash of `sub`. With `--unique-uid=0 --mapping-uid=preferred_username` it is the username, and users sign in to ' +
        'the Nextcloud account with that name, even if it existed before. ' +
        "`'soft_auto_provision' => false` in the section `user_oidc` of Nextcloud's configuration refuses existing " +
        'accounts.',
    },
    {
      topic: '"Could not reach the OpenID Connect provider"',
      text:
        'Nextcloud refuses servers at private addresses. Run ' +
        '`occ config:system:set allow_local_remote_servers --value=true --type=boolean`.',
    },
  ],
  checked: documented('https://github.com/nextcloud/user_oidc'),
};
