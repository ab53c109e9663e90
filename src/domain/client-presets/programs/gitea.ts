import { tested } from './checks.ts';
import type { Preset, PresetNote, PresetStep } from './preset.ts';

const CLIENT = {
  client_auth_method: 'client_secret_basic',
  redirect_uris: ['{url}/user/oauth2/latchkey/callback'],
  post_logout_redirect_uris: ['{url}/'],
} as const;

const GROUPS =
  '`--group-claim-name groups --admin-group gitea-admins` makes members of a group administrators, and ' +
  '`--required-claim-name groups --required-claim-value gitea-users` admits only members of a group. ' +
  '`--group-team-map` assigns groups to teams.';

function stepsOf(program: string): readonly PresetStep[] {
  return [
    { kind: 'text', text: 'Add an authentication source in the site administration or with this command:' },
    {
      kind: 'command',
      content: `${program} admin auth add-oauth --name latchkey --provider openidConnect \\
  --key {client_id} --secret {client_secret} \\
  --auto-discover-url {discovery} \\
  --scopes profile --scopes email --scopes groups --group-claim-name groups`,
    },
    {
      kind: 'file',
      name: 'app.ini',
      language: 'ini',
      content: `[server]
ROOT_URL = {url}/

[oauth2_client]
ENABLE_AUTO_REGISTRATION = true
ACCOUNT_LINKING = login
`,
    },
  ];
}

const NOTES: readonly PresetNote[] = [
  {
    topic: 'Username',
    text: 'The default `USERNAME = nickname` uses `preferred_username`, because Latchkey sends no claim `nickname`.',
  },
  {
    topic: 'Existing accounts',
    text:
      'With `ACCOUNT_LINKING = login` users link them with their existing password. `auto` links without a password. Use ' +
      "it only if users cannot choose another user's name or address in Latchkey.",
  },
  {
    topic: '403 when linking an account',
    text:
      '`[oauth2] ENABLED = false` with `[openid] ENABLE_OPENID_SIGNIN` and `ENABLE_OPENID_SIGNUP` off. One of the three ' +
      'must be on for `ACCOUNT_LINKING = login`.',
  },
  { topic: 'Scopes', text: '`OPENID_CONNECT_SCOPES` in the same section overrides `--scopes`.' },
  {
    topic: 'Users without a confirmed email address',
    text: 'An address is required to create an account.',
  },
  {
    topic: '`invalid_redirect_uri`',
    text: 'The callback must contain `ROOT_URL` and the exact name of the source.',
  },
];

export const gitea: Preset = {
  slug: 'gitea',
  name: 'Gitea',
  category: 'code',
  url: { example: 'https://git.example.org' },
  client: CLIENT,
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: GROUPS,
  steps: stepsOf('gitea'),
  signOut: {
    fromProgram: 'From 1.26, without an ID token, so users have to confirm. Older versions end only their own session.',
    fromService: 'No.',
  },
  notes: NOTES,
  checked: tested('library', 'goth', '1.82.0', 'gitea-goth'),
};

export const forgejo: Preset = {
  slug: 'forgejo',
  name: 'Forgejo',
  category: 'code',
  url: { example: 'https://git.example.org' },
  client: CLIENT,
  scopes: ['openid', 'profile', 'email', 'groups'],
  groups: GROUPS,
  steps: stepsOf('forgejo'),
  signOut: { fromProgram: 'No.', fromService: 'No.' },
  notes: NOTES,
  checked: tested('library', 'goth', '1.82.0', 'gitea-goth'),
};
