import { chatNames } from '#protocol/chat/names.ts';
import { documented } from './checks.ts';
import type { Preset, PresetStep } from './preset.ts';

const MATRIX = chatNames('matrix');
const SCOPES = [
  'openid',
  `${MATRIX.stableScopePrefix}api:*`,
  `${MATRIX.unstableScopePrefix}api:*`,
  'urn:mas:admin',
  'urn:synapse:admin:*',
];

const PREPARATION: readonly PresetStep[] = [
  {
    kind: 'text',
    text: 'The console registers itself at each sign-in. Grant your account the right to administer, and open the console:',
  },
  { kind: 'command', content: 'latchkey manage promote-admin USER' },
];

const ADMIN_API = {
  topic: 'Admin API',
  text:
    'The console calls it from the browser: a public listener needs the resource `adminapi`. Every user can reach it, but ' +
    'only tokens of administrators are accepted.',
};

const REFUSED = {
  topic: '"The requested scope is invalid" or a page without the button to allow access',
  text: 'The account has no right to administer.',
};

export const elementAdmin: Preset = {
  slug: 'element-admin',
  name: 'Element Admin',
  category: 'chat',
  url: { example: 'https://admin.example.org', note: 'The origin that serves the console.' },
  client: {
    client_auth_method: 'none',
    application_type: 'web',
    redirect_uris: ['{url}/callback'],
  },
  registersItself: true,
  scopes: SCOPES,
  groups: undefined,
  steps: [
    ...PREPARATION,
    { kind: 'fields', fields: [{ label: 'Server name', value: 'SERVER_NAME' }] },
    { kind: 'text', text: 'The container reads the server name from `SERVER_NAME`.' },
  ],
  signOut: { fromProgram: 'No. The console revokes its tokens.', fromService: 'Yes, at the next request.' },
  notes: [
    ADMIN_API,
    {
      topic: 'Homeserver',
      text:
        'The console finds Latchkey through `/.well-known/matrix/client` and the metadata of the homeserver, and calls the ' +
        'admin API of Synapse as well.',
    },
    REFUSED,
  ],
  checked: documented('https://github.com/element-hq/element-admin'),
};

export const ketesa: Preset = {
  slug: 'ketesa',
  name: 'Ketesa',
  category: 'chat',
  url: { example: 'https://ketesa.example.org', note: 'The URL that serves the console.' },
  client: {
    client_auth_method: 'none',
    application_type: 'web',
    redirect_uris: ['{url}/auth-callback'],
  },
  registersItself: true,
  scopes: SCOPES,
  groups: undefined,
  steps: [
    ...PREPARATION,
    { kind: 'fields', fields: [{ label: 'Homeserver URL', value: 'HOMESERVER_URL' }] },
    { kind: 'text', text: 'Ketesa then shows a button for sign-in with OpenID Connect.' },
  ],
  signOut: { fromProgram: 'No. The console revokes its tokens.', fromService: 'Yes, at the next request.' },
  notes: [
    ADMIN_API,
    {
      topic: '404 after sign-in',
      text: 'The web server has to serve `auth-callback/index.html` of the build at `/auth-callback`.',
    },
    REFUSED,
  ],
  checked: documented('https://github.com/etkecc/ketesa/blob/main/docs/external-auth-provider.md'),
};
