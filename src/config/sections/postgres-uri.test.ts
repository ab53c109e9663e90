import { expect, test } from 'vitest';
import { parsePostgresUri } from './postgres-uri.ts';

const NOTHING = {
  host: undefined,
  port: undefined,
  user: undefined,
  password: undefined,
  database: undefined,
  sslMode: undefined,
};

test.each([
  ['postgres://', {}],
  ['postgresql://db.example', { host: 'db.example' }],
  ['postgres:///name', { database: 'name' }],
  [
    'postgres://u:p%40ss%3A@db.example:5433/n%61me',
    { host: 'db.example', port: 5433, user: 'u', password: 'p@ss:', database: 'name' },
  ],
  ['postgres://u:a:b@h/d', { host: 'h', user: 'u', password: 'a:b', database: 'd' }],
  ['postgres://[2001:db8::1]:1/d', { host: '2001:db8::1', port: 1, database: 'd' }],
  [
    'postgres:///d?host=/run/postgresql&user=u&sslmode=verify-full',
    { host: '/run/postgresql', user: 'u', database: 'd', sslMode: 'verify-full' },
  ],
  ['postgres://%2Frun%2Fpostgresql/d', { host: '/run/postgresql', database: 'd' }],
])('%s', (uri, parts) => {
  expect(parsePostgresUri(uri)).toEqual({ ...NOTHING, ...parts });
});

test.each([
  ...['mysql://h/d', 'postgres:h', 'postgres://h:0/d', 'postgres://h:65536/d', 'postgres://a,b/d', 'postgres://h/%zz'],
  ...['postgres://h/d?sslmode=maybe', 'postgres://h/d?channel_binding=require', 'postgres://h/d#x'],
])('%s is refused', (uri) => {
  expect(parsePostgresUri(uri)).toBeUndefined();
});
