import { describe, expect, test } from 'vitest';
import { completeServers, connectionDefaults, parsePostgresUri, readPostgresUri } from './postgres-uri.ts';

const NOTHING = {
  servers: [{ host: undefined, port: undefined }],
  user: undefined,
  password: undefined,
  database: undefined,
  sslMode: undefined,
  sessionAttributes: undefined,
  ...{ session: {}, tls: {}, files: {} },
};

const server = (host?: string, port?: number) => ({ host, port });

test.each([
  ['postgres://', {}],
  ['postgresql://db.example', { servers: [server('db.example')] }],
  ['postgres:///name', { database: 'name' }],
  [
    'postgres://u:p%40ss%3A@db.example:5433/n%61me',
    { servers: [server('db.example', 5433)], user: 'u', password: 'p@ss:', database: 'name' },
  ],
  ['postgres://u:a:b@h/d', { servers: [server('h')], user: 'u', password: 'a:b', database: 'd' }],
  ['postgres://[2001:db8::1]:1/d', { servers: [server('2001:db8::1', 1)], database: 'd' }],
  [
    'postgres:///d?host=/run/postgresql&user=u&sslmode=verify-full',
    { servers: [server('/run/postgresql')], user: 'u', database: 'd', sslMode: 'verify-full' },
  ],
  ['postgres://%2Frun%2Fpostgresql/d', { servers: [server('/run/postgresql')], database: 'd' }],
  [
    'postgres://u@a:5432,[::1]:5433,c/d?target_session_attrs=read-write',
    {
      servers: [server('a', 5432), server('::1', 5433), server('c')],
      ...{ user: 'u', database: 'd', sessionAttributes: 'read-write' },
    },
  ],
  ['postgres:///d?host=a,b&port=1,2', { servers: [server('a', 1), server('b', 2)], database: 'd' }],
  ['postgres:///d?host=a,b&port=1', { servers: [server('a', 1), server('b', 1)], database: 'd' }],
  // Formats used by hosting providers.
  [
    'postgresql://u:p@ep-cool.eu.aws.neon.tech/neondb?sslmode=require&channel_binding=require',
    {
      ...{ servers: [server('ep-cool.eu.aws.neon.tech')], user: 'u', password: 'p', database: 'neondb' },
      ...{ sslMode: 'require', session: { channelBinding: 'require' } },
    },
  ],
  [
    'postgres://h/d?sslrootcert=/etc/ca.pem&sslcert=/etc/c.pem&sslkey=/etc/k.pem&connect_timeout=10&application_name=auth',
    {
      ...{ servers: [server('h')], database: 'd', session: { attemptSeconds: 10, applicationName: 'auth' } },
      files: { ssl_ca: '/etc/ca.pem', ssl_certificate: '/etc/c.pem', ssl_key: '/etc/k.pem' },
    },
  ],
  [
    'postgres://h/d?options=-c%20search_path%3Dauth&sslmode=no-verify&ssl_min_protocol_version=TLSv1.3&sslnegotiation=direct',
    {
      ...{ servers: [server('h')], database: 'd', sslMode: 'require', session: { options: '-c search_path=auth' } },
      tls: { minVersion: 'TLSv1.3', isDirect: true },
    },
  ],
  [
    'postgres://h/d?ssl=true&client_encoding=utf8&keepalives=1&keepalives_idle=30',
    { servers: [server('h')], database: 'd', sslMode: 'require' },
  ],
])('%s', (uri, parts) => {
  expect(parsePostgresUri(uri)).toEqual({ ...NOTHING, ...parts });
});

test.each([
  ['mysql://h/d', 'does not begin with "postgres://"'],
  ['postgres:h', 'does not begin with "postgres://"'],
  ['postgres://h:0/d', 'a port is 1 to 65535'],
  ['postgres://h:65536/d', 'a port is 1 to 65535'],
  ['postgres://a,,b/d', 'hosts and ports in it do not fit together'],
  ['postgres:///d?host=a,b,c&port=1,2', 'hosts and ports in it do not fit together'],
  // Unencoded characters in a password: the position and the encoded form.
  ['postgres://h/%zz', '"%" at position 14 is not followed by two hexadecimal digits: write it as %25'],
  ['postgres://u:50%off@h/d', '"%" at position 16 is not followed by two hexadecimal digits: write it as %25'],
  [
    'postgres://u:se/cret@h/d',
    '"/" at position 16 ends the host, and an "@" follows: within a password write it as %2F',
  ],
  ['postgres://u:12/34@h/d', '"/" at position 16 ends the host, and an "@" follows: within a password write it as %2F'],
  [
    'postgres://u:se#cret@h/d',
    '"#" at position 16 ends the host, and an "@" follows: within a password write it as %23',
  ],
  [
    'postgres://u:se?cret@h/d',
    '"?" at position 16 ends the host, and an "@" follows: within a password write it as %3F',
  ],
  ['postgres://u:se@cret@h/d', '"@" at position 16 ends the password, and another "@" follows: write it as %40'],
  ['postgres://h/d#x', '"#" at position 15 has no meaning there: write it as %23'],
  // The service writes, so read-only targets are rejected.
  ...['standby', 'read-only', 'prefer-standby'].map((one) => [
    `postgres://h/d?target_session_attrs=${one}`,
    'the parameter "target_session_attrs" asks for a standby, and the service writes',
  ]),
  ['postgres://h/d?sslmode=maybe', 'the parameter "sslmode" has to be one of disable, allow, prefer, require'],
  ['postgres://h/d?channel_binding=maybe', 'the parameter "channel_binding" has to be one of disable, prefer, require'],
  ['postgres://h/d?connect_timeout=soon', 'the parameter "connect_timeout" has to be a number of seconds'],
  ['postgres://h/d?sslrootcert=ca.pem', 'the parameter "sslrootcert" has to be an absolute path'],
  [
    'postgres://h/d?pgbouncer=true',
    'the parameter "pgbouncer" belongs to Prisma: take it out and set "database.pooler"',
  ],
  [
    'postgres://h/d?gssencmode=require',
    'the parameter "gssencmode" is supported only with the value that is the default',
  ],
  ['postgres://h/d?require_auth=md5', 'the parameter "require_auth" is not supported'],
  ['postgres://h/d?wal=1', 'the parameter "wal" is not supported'],
])('%s is rejected with the reason', (uri, problem) => {
  const read = readPostgresUri(uri ?? '');
  expect(!read.ok && read.problem).toContain(problem);
  expect(read).not.toMatchObject({ problem: expect.stringMatching(/cret|34|off|maybe/) });
});

describe('a URI without a server', () => {
  const complete = (uri: string, environment: Record<string, string>) =>
    completeServers(parsePostgresUri(uri)?.servers ?? [], connectionDefaults(environment).servers);

  test.each([
    ['postgres:///d', {}, [server('localhost', 5432)]],
    ['postgres:///d', { PGHOST: 'a,b' }, [server('a', 5432), server('b', 5432)]],
    ['postgres:///d', { PGHOST: 'a,b', PGPORT: '1,2' }, [server('a', 1), server('b', 2)]],
    ['postgres:///d', { PGHOST: 'a,b', PGPORT: '1' }, [server('a', 1), server('b', 1)]],
    ['postgres://:7/d', { PGHOST: 'a,b', PGPORT: '1,2' }, [server('a', 7), server('b', 7)]],
    ['postgres://h/d', { PGHOST: 'a,b', PGPORT: '1,2' }, [server('h', 5432)]],
    ['postgres://h/d', { PGPORT: '7' }, [server('h', 7)]],
  ])('%s with %j', (uri, environment, expected) => {
    expect(complete(uri, environment)).toEqual(expected);
  });
});
