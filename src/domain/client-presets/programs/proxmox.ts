import { documented } from './checks.ts';
import type { Preset } from './preset.ts';

export const proxmox: Preset = {
  slug: 'proxmox',
  name: 'Proxmox VE',
  category: 'infrastructure',
  url: { example: 'https://pve.example.org:8006', note: 'As users enter it in the browser, with the port.' },
  client: { client_auth_method: 'client_secret_basic', redirect_uris: ['{url}', '{url}/'] },
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups:
    'From Proxmox VE 9, `--groups-claim groups` assigns groups named `GROUP-latchkey`; `--groups-autocreate 1` creates ' +
    'them, and `--groups-overwrite 1` also removes memberships.',
  steps: [
    {
      kind: 'text',
      text: 'Add a realm under *Datacenter*, *Permissions*, *Realms*, *OpenID Connect Server*, or with this command:',
    },
    {
      kind: 'command',
      content: `pveum realm add latchkey --type openid --issuer-url {issuer} \\
  --client-id {client_id} --client-key {client_secret} \\
  --username-claim username --scopes "openid profile email groups" --autocreate 1`,
    },
    {
      kind: 'text',
      text: 'Users are named `USERNAME@latchkey`. Grant permissions to them or to a group, because new users have none:',
    },
    { kind: 'command', content: 'pveum acl modify / --users anna@latchkey --roles PVEAuditor' },
  ],
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: [
    {
      topic: 'Several nodes',
      text: 'The redirect URI is the address in the browser. Add one for every node and name that users open.',
    },
    {
      topic: 'Username',
      text: '`--username-claim username` uses `preferred_username`. It cannot be changed after the realm is created.',
    },
    {
      topic: 'Private certificate authority',
      text: 'Add it to the certificates of each node with `update-ca-certificates`.',
    },
  ],
  checked: documented('https://pve.proxmox.com/pve-docs/chapter-pveum.html'),
};
