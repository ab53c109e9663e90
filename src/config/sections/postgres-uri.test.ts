import { describe, expect, test } from 'vitest';
import { completeServers, connectionDefaults, parsePostgresUri } from './postgres-uri.ts';

const NOTHING = {
  servers: [{ host: undefined, port: undefined }],
  user: undefined,
  password: undefined,
  database: undefined,
  sslMode: undefined,
  sessionAttributes: undefined,
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
])('%s', (uri, parts) => {
  expect(parsePostgresUri(uri)).toEqual({ ...NOTHING, ...parts });
});

test.each([
  ...[
    'mysql://h/d',
    'postgres:h',
    'postgres://h:0/d',
    'postgres://h:65536/d',
    'postgres://a,,b/d',
    'postgres:///d?host=a,b,c&port=1,2',
    'postgres://h/%zz',
  ],
  ...['postgres://h/d?sslmode=maybe', 'postgres://h/d?channel_binding=require', 'postgres://h/d#x'],
  // The service writes.
  ...['postgres://h/d?target_session_attrs=standby', 'postgres://h/d?target_session_attrs=read-only'],
])('%s is refused', (uri) => {
  expect(parsePostgresUri(uri)).toBeUndefined();
});

describe('where an address names no server', () => {
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
