import { Readable } from 'node:stream';
import type { PageService } from '#test/support/page-service.ts';
import type { ManageDeps } from './accounts.ts';

/** Output of a command. */
export interface Printed {
  out: string;
  err: string;
}

/** Dependencies of `manage` commands, with the service of a test and without a terminal. */
export function manageDeps({ core }: Pick<PageService, 'core'>, printed: Printed): ManageDeps {
  return {
    ...core,
    rules: core.passwordRules,
    serverName: core.config.homeserver.homeserver,
    serviceName: 'Latchkey',
    listedAdmins: core.config.policy.data.adminUsers,
    defaultLanguage: 'en',
    adminArea: undefined,
    publicBase: 'https://login.example/',
    issuer: 'https://login.example/',
    io: {
      stdin: Readable.from([]),
      prompts: undefined,
      stdout: (text) => {
        printed.out += text;
      },
      stderr: (text) => {
        printed.err += text;
      },
    },
  };
}
