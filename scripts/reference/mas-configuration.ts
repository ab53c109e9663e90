import { MAS_DEFAULTS } from '../../src/config/mas/defaults.ts';
import { MAS_KEYS } from '../../src/config/mas/keys.ts';
import { pathText } from '../../src/platform/config/tree.ts';
import { code, table } from './markdown.ts';

/** Settings that keep the default of Latchkey although MAS has another one. */
const KEPT = [
  ['`http.trusted_proxies`', 'loopback and the private networks, with 10.0.0.0/8. MAS has 10.0.0.0/10'],
  [
    '`email.from`, `email.reply_to`',
    'the service name and `noreply@` the host of `http.public_base`. MAS: `root@localhost`',
  ],
  ['`passwords.minimum_length`', '8 characters for new passwords. MAS has no minimum'],
  ['`database.acquire_timeout`', '5 seconds, then the response is 503'],
  ['`rate_limiting`', 'limits that MAS does not have, for example for GraphQL and client registration'],
  [
    'ID tokens',
    'each key has one algorithm: RS256 for RSA keys. MAS signs with all six algorithms of an RSA key. For another one, list ' +
      'the key again with `alg` and its own `kid`',
  ],
  [
    '`X-Forwarded-For`',
    'only from `http.trusted_proxies`. MAS reads it from every peer. A warning (`http.proxy.untrusted`) names a peer that ' +
      'sends it and is not in the list',
  ],
  ['`secrets.encryption_file`', 'surrounding white space is removed. MAS refuses a file with a final line break'],
  [
    '`PGPASSFILE`, `~/.pgpass`',
    'not read: set `database.password_file`. The other variables of libpq that MAS reads complete the connection here too',
  ],
  ['`database.password_file`', 'one final line break is removed. MAS removes all surrounding white space'],
  ['passwords of keys and certificates', 'one final line break of the file is removed. MAS keeps it'],
];

/** Describes what Latchkey makes of each key of a configuration of Matrix Authentication Service. */
export function masConfigurationPage(): string {
  const changed = MAS_KEYS.flatMap(({ key, says }) => (says === undefined ? [] : [[code(key), says]]));
  const defaults = MAS_DEFAULTS.map(({ list, path, value, says }) => [
    code(list === undefined ? pathText(path) : `${pathText(list)}[].${pathText(path)}`),
    shown(value),
    says,
  ]);
  return `# Configuration of Matrix Authentication Service

Latchkey reads the configuration files of Matrix Authentication Service (MAS) as they are. This page is generated from the
source; edit \`src/config/mas/\`, then run \`node scripts/generate-reference.js\`.

## Which files are read as files of MAS

- Files named in \`MAS_CONFIG\`, and all files of the program \`mas-cli\`.
- Other files, if they have the sections \`matrix\` and \`secrets\` with \`encryption\` or \`encryption_file\`, and no key or
  value that only Latchkey has. A warning at start names them.

A file with \`protocol_name\` or \`homeserver\` is always a file of Latchkey. \`latchkey config convert --mas-config FILE\`
writes such a file and explains each change.

## What is different from files of Latchkey

- Lists of several files are concatenated. Mappings are merged, and other values of later files replace earlier ones.
- Variables set what the files do not: \`MAS_DATABASE_URI\` sets \`database.uri\`. Each underscore separates two keys, so
  they cannot set a key with an underscore. They also apply to files of Latchkey with \`protocol_name: matrix\`.
- Variables of Latchkey (\`LATCHKEY__…\`) and its command-line options override the files.
- \`RUST_LOG\` sets the log level. Parts for single modules (\`mas_cli=debug\`) are ignored.
- Relative paths start at the working directory. Files named in \`MAS_CONFIG\` are also looked up in the directories above
  it, and a missing file counts as empty.
- Keys that neither MAS nor Latchkey has are warnings instead of errors.

If \`MAS_CONFIG\` is set but other files are read, and they are not for Matrix, Latchkey does not start.

## Keys that change

All other keys of MAS have the same meaning in Latchkey.

${table(['Key', 'What Latchkey does'], changed)}

## Defaults of MAS

For keys that the files do not set:

${table(['Setting of Latchkey', 'Value', 'Why'], defaults)}

## Defaults of Latchkey

These differ from MAS:

${table(['Setting', 'Latchkey'], KEPT)}
`;
}

function shown(value: unknown): string {
  return code(JSON.stringify(value));
}
