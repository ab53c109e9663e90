/** Applications that take minutes to download and build; `.ci/nightly` runs them. */
import { join } from 'node:path';
import { configurationFile } from './configuration-file.js';
import { dexChecks } from './dex/checks.js';
import { goModuleFolder, goProgram, javaProgram, releasedGoProgram } from './install.js';
import { groupChecks } from './oauth2-proxy/checks.js';
import { springChecks } from './spring/checks.js';

export const slowApplications = [
  {
    name: 'oauth2-proxy',
    folder: 'oauth2-proxy',
    callback: '/oauth2/callback',
    preset: { slug: 'oauth2-proxy' },
    command: async (settings) => {
      const program = await releasedGoProgram('oauth2-proxy', 'github.com/oauth2-proxy/oauth2-proxy/v7@v7.15.6');
      return [program, '--config', configurationFile('oauth2-proxy/oauth2-proxy.cfg', settings)];
    },
    checks: groupChecks,
  },
  {
    name: 'dex',
    folder: 'dex',
    callback: '/dex/callback',
    preset: { slug: 'dex', path: '/dex' },
    command: async (settings) => {
      const program = await goProgram('dex');
      const web = join(await goModuleFolder('dex', 'github.com/dexidp/dex'), 'web');
      return [program, configurationFile('dex/config.yaml', { ...settings, WEB: web })];
    },
    providers: ({ PORT }) => ({
      id: '01JD3Q5Z8W2N4K6M7P9R0S1T10',
      human_name: 'Company dex',
      issuer: `http://localhost:${PORT}/dex`,
      client_id: 'latchkey',
      client_secret: 'a-secret-of-at-least-16-characters',
      token_endpoint_auth_method: 'client_secret_basic',
      scope: 'openid profile email',
      claims_imports: {
        skip_confirmation: true,
        localpart: { action: 'require', template: '{{ user.name }}' },
        displayname: { action: 'force' },
        email: { action: 'force' },
      },
    }),
    checks: dexChecks,
  },
  {
    name: 'Spring Boot',
    folder: 'spring',
    callback: '/login/oauth2/code/latchkey',
    preset: {
      slug: 'spring-boot',
      options: [
        ...['--scope', 'openid profile email opaque.read jwt.read'],
        ...['--set', 'grant_types=["authorization_code","client_credentials"]'],
      ],
    },
    resources: () => [
      { identifier: 'https://opaque.example.org/', scopes: ['opaque.read'] },
      { identifier: 'https://jwt.example.org/', scopes: ['jwt.read'], token_format: 'jwt' },
    ],
    command: async () => ['java', '-jar', await javaProgram('spring')],
    checks: springChecks,
  },
];
